// JSON values: their canonical form, and all texts of one of them.
//
// The canonical form of a value is a text that is the same for equal values and for no others:
//   string    s, then the decoded text               number   n-12e3: sign, digits without zeros at the ends, exponent
//   literal   as it is                               array    [a,b]   object   {"name":a,…}, sorted by name
// where strings inside containers are in quotes, canonically escaped. A number's zero is n0, whatever its sign.
#include <algorithm>
#include <map>

#include "grammar.hpp"

namespace constrain {

namespace {

constexpr u32 kDeepest = 400;  // nesting of one value
constexpr std::string_view kBlanks = " \t\n\r";

std::string number_of(std::string_view s) {
  const bool negative = s[0] == '-';
  if (negative) s.remove_prefix(1);
  std::string digits;
  long exponent = 0;
  bool fraction = false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '.') {
      fraction = true;
    } else if (s[i] == 'e' || s[i] == 'E') {
      exponent += std::strtol(std::string(s.substr(i + 1)).c_str(), nullptr, 10);
      break;
    } else {
      digits += s[i];
      exponent -= fraction;
    }
  }
  const size_t lead = digits.find_first_not_of('0');
  if (lead == std::string::npos) return "n0";
  digits.erase(0, lead);
  while (digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  return std::string("n") + (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

size_t string_end(std::string_view s, size_t from) {  // just behind the quote that ends the string that begins at `from`
  size_t i = from + 1;
  while (i < s.size() && s[i] != '"') i += s[i] == '\\' ? 2 : 1;
  return std::min(i + 1, s.size());
}

// Reads JSON text, or a canonical form, value by value.
struct Reader {
  std::string_view text;
  size_t at = 0;
  void blanks() { at = std::min(text.find_first_not_of(kBlanks, at), text.size()); }
  bool take(char c) {
    blanks();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  std::string_view string() {  // without quotes
    blanks();
    const size_t from = at;
    at = string_end(text, from);
    return text.substr(from + 1, at - from - 2);
  }
  std::string_view scalar() {
    const size_t from = at;
    at = std::min(text.find_first_of(" \t\n\r,]}", at), text.size());
    return text.substr(from, at - from);
  }
  std::string_view value() {  // whatever comes next, as written
    blanks();
    const size_t from = at;
    u32 open = 0;
    while (at < text.size()) {
      const char c = text[at];
      if (c == '"') at = string_end(text, at);
      else if (c == '[' || c == '{') ++open, ++at;
      else if (c == ']' || c == '}') {
        if (open == 0) break;
        --open, ++at;
      } else if (open > 0) ++at;
      else if (c == ',') break;
      else scalar();
      if (open == 0) break;
    }
    return text.substr(from, at - from);
  }
};

std::string canonical(Reader& r, u32 depth) {
  if (depth > kDeepest) throw LimitError("depth", "an item that must differ from others is nested too deeply");
  r.blanks();
  if (r.at >= r.text.size()) return {};
  const char c = r.text[r.at];
  if (c == '"') return '"' + encode_json_string(decode_json_string(r.string())) + '"';
  if (c == '-' || (c >= '0' && c <= '9')) return number_of(r.scalar());
  std::string out;
  if (c == '[') {
    r.take('[');
    out = "[";
    while (!r.take(']') && r.at < r.text.size()) {
      if (out.size() > 1) out += ',';
      out += canonical(r, depth + 1);
      r.take(',');
    }
    return out + ']';
  }
  if (c == '{') {
    r.take('{');
    std::map<std::string, std::string> members;
    while (!r.take('}') && r.at < r.text.size()) {
      std::string name = encode_json_string(decode_json_string(r.string()));
      r.take(':');
      members[std::move(name)] = canonical(r, depth + 1);
      r.take(',');
    }
    out = "{";
    for (auto& [name, value] : members) {
      if (out.size() > 1) out += ',';
      out += '"' + name + "\":" + value;
    }
    return out + '}';
  }
  return std::string(r.scalar());
}

}  // namespace

std::string value_of(std::string_view text) {
  Reader r{text};
  r.blanks();
  if (r.at < text.size() && text[r.at] == '"') return "s" + decode_json_string(r.string());
  return canonical(r, 0);
}

// Every text of a scalar in canonical form; numbers without exponent.
Term Automaton::value_spellings(Encoding encoding, std::string_view value) {
  if (value[0] == 's' || value[0] == '"') {
    const Term q = terms.literal("\"");
    const std::string text = value[0] == 's' ? std::string(value.substr(1))
                                             : decode_json_string(value.substr(1, value.size() - 2));
    return terms.cat(q, terms.cat(terms.spelled(text, encoding), q));
  }
  if (value[0] != 'n' || value == "null") return terms.literal(value);
  ByteSet zero;
  zero.add('0');
  const Term zeros = terms.repeat(terms.bytes(zero), 0, kUnbounded);
  auto with_fraction = [&](const std::string& whole, const std::string& fraction) {
    const Term more = fraction.empty() ? terms.repeat(terms.bytes(zero), 1, kUnbounded) : zeros;
    Term tail = terms.cat(terms.literal("." + fraction), more);
    if (fraction.empty()) tail = terms.alt(kEpsilon, tail);
    return terms.cat(terms.literal(whole), tail);
  };
  if (value == "n0") return terms.cat(terms.alt(kEpsilon, terms.literal("-")), with_fraction("0", ""));
  const size_t e = value.find('e');
  const bool negative = value[1] == '-';
  std::string digits(value.substr(negative ? 2 : 1, e - (negative ? 2 : 1)));
  const long exponent = std::strtol(std::string(value.substr(e + 1)).c_str(), nullptr, 10);
  if (exponent > 100'000 || exponent < -100'000)
    throw LimitError("unique_bytes", "a number that must differ from others is too long");
  std::string whole, fraction;
  if (exponent >= 0) {
    whole = digits + std::string(static_cast<size_t>(exponent), '0');
  } else {
    const size_t places = static_cast<size_t>(-exponent);
    if (digits.size() <= places) digits.insert(0, places - digits.size() + 1, '0');
    whole = digits.substr(0, digits.size() - places);
    fraction = digits.substr(digits.size() - places);
  }
  Term t = with_fraction(whole, fraction);
  return negative ? terms.cat(terms.literal("-"), t) : t;
}

// A grammar of every text of a value in canonical form, with any blanks between its tokens.
Gram Automaton::value_gram(Encoding encoding, std::string value, u32 depth) {
  const u32 id = text_id(value);
  if (u32 known = value_grams_.get(id, static_cast<u32>(encoding)); known != kNone) return known;
  ByteSet blank;
  for (char c : kBlanks) blank.add(static_cast<u8>(c));
  const Term blanks = terms.repeat(terms.bytes(blank), 0, kUnbounded);
  auto mark = [&](const char* text) { return terms.cat(blanks, terms.literal(text)); };
  Gram made;
  if (value[0] == '[') {
    ItemsDef def{};
    Reader r{std::string_view(value).substr(1)};
    while (!r.take(']')) {
      def.prefix.push_back(value_gram(encoding, std::string(r.value()), depth + 1));
      r.take(',');
    }
    def.rest = kNone;
    def.mark = {mark("["), mark("]"), mark(","), kEpsilon, kEpsilon};
    def.min_count = def.max_count = static_cast<u32>(def.prefix.size());
    def.encoding = encoding;
    made = items(std::move(def));
  } else if (value[0] == '{') {
    MembersDef def{};
    Reader r{std::string_view(value).substr(1)};
    while (!r.take('}')) {
      std::string name = decode_json_string(r.string());
      r.take(':');
      def.members.push_back({std::move(name), value_gram(encoding, std::string(r.value()), depth + 1), true, {}});
      r.take(',');
    }
    def.mark = {mark("{"), mark("}"), mark(","), mark(":"), blanks};
    def.any_order = true;
    def.min_count = 0;
    def.max_count = kUnbounded;
    def.encoding = encoding;
    made = members(std::move(def));
  } else {
    made = lexeme(terms.cat(blanks, value_spellings(encoding, value)));
  }
  costs_.resize(grams_.size(), kUnbounded);
  costs_[made] = gram_cost(made);
  value_grams_.put(id, static_cast<u32>(encoding), made);
  return made;
}

}  // namespace constrain
