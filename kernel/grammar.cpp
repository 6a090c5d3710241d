#include "grammar.hpp"

#include <algorithm>

namespace constrain {

namespace {

constexpr u64 kManyNames = 1'000'000;

u32 plus(u32 a, u32 b) { return a > kUnbounded - b ? kUnbounded : a + b; }

u64 hash_frame(const Frame& f) { return hash_bytes(&f, sizeof f, 31); }

struct DepthGuard {
  u32& depth;
  explicit DepthGuard(u32& d) : depth(d) { ++depth; }
  ~DepthGuard() { --depth; }
};

void append_utf8(std::string& out, u32 c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 63));
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

u32 hex4(std::string_view s) {
  u32 v = 0;
  for (char c : s) v = v * 16 + static_cast<u32>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  return v;
}

}  // namespace

std::string decode_json_string(std::string_view raw) {
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    char c = raw[++i];
    switch (c) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        u32 v = hex4(raw.substr(i + 1, 4));
        i += 4;
        if (v >= 0xD800 && v < 0xDC00 && i + 6 < raw.size() + 1) {
          v = 0x10000 + ((v - 0xD800) << 10) + (hex4(raw.substr(i + 3, 4)) - 0xDC00);
          i += 6;
        }
        append_utf8(out, v);
        break;
      }
      default: out += c;
    }
  }
  return out;
}

std::string encode_json_string(std::string_view utf8) {
  std::string out;
  for (char c : utf8) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<u8>(c) < 0x20) {
          constexpr char digits[] = "0123456789abcdef";
          out += "\\u00";
          out += digits[c >> 4];
          out += digits[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out;
}

Automaton::Automaton(const ByteSet& alphabet, const Limits& l) : terms(alphabet, l), limits(l) {
  std::vector<Entry> none;
  intern_state(none, false);
  intern_state(none, true);
}

size_t Automaton::memory() const {
  return terms.memory() + frames_.size() * sizeof(Frame) + states_.size() * sizeof(Shape) +
         entries_.size() * sizeof(Entry) + progresses_.size() * sizeof(Progress) +
         (captures_.size() + seen_.size()) * sizeof(Link) + frame_table_.bytes() + state_table_.bytes() +
         capture_table_.bytes() + seen_table_.bytes() + steps_.bytes() + unions_.bytes();
}

// ---------------------------------------------------------------- building

Gram Automaton::gram(GramKind kind, u32 a, u32 b, u32 c, u32 d) {
  if (grams_.size() >= limits.terms) throw LimitError("terms", "the grammar has too many parts");
  grams_.push_back({kind, a, b, c, d});
  return static_cast<Gram>(grams_.size() - 1);
}

Gram Automaton::lexeme(Term t) { return gram(GramKind::Lexeme, t, 0, 0, 0); }

Gram Automaton::sequence(std::vector<Gram> items) {
  if (items.empty()) return lexeme(kEpsilon);
  if (items.size() == 1) return items[0];
  u32 at = static_cast<u32>(lists_.size());
  lists_.insert(lists_.end(), items.begin(), items.end());
  return gram(GramKind::Sequence, at, static_cast<u32>(items.size()), 0, 0);
}

Gram Automaton::choice(std::vector<Gram> items) {
  if (items.size() == 1) return items[0];
  u32 at = static_cast<u32>(lists_.size());
  lists_.insert(lists_.end(), items.begin(), items.end());
  return gram(GramKind::Choice, at, static_cast<u32>(items.size()), 0, 0);
}

Gram Automaton::rule() { return gram(GramKind::Rule, kNone, 0, 0, 0); }
void Automaton::define(Gram rule, Gram body) { grams_[rule].a = body; }

Gram Automaton::repetition(Gram item, Gram separator, u32 min, u32 max) {
  return gram(GramKind::Repetition, item, separator, min, max);
}

Gram Automaton::members(MembersDef def) {
  for (auto& c : def.classes) c.id = class_count_++;
  for (auto& m : def.members) {
    ByteSet quote;
    quote.add('"');
    Term q = terms.bytes(quote);
    m.key = terms.cat(q, terms.cat(terms.spelled(m.name, def.encoding), q));
  }
  if (def.encoding == Encoding::Json) build_keys(def);
  members_.push_back(std::move(def));
  return gram(GramKind::Members, static_cast<u32>(members_.size() - 1), 0, 0, 0);
}

void Automaton::build_keys(MembersDef& def) {
  def.keys.emplace_back();
  for (u32 i = 0; i < def.members.size(); ++i) {
    if (!terms.alive(def.members[i].key)) continue;
    std::string text = "\"" + encode_json_string(def.members[i].name) + "\"";
    u32 node = 0;
    for (char c : text) {
      def.keys[node].below.push_back(i);
      auto& children = def.keys[node].children;
      auto it = std::lower_bound(children.begin(), children.end(), std::pair<u8, u32>{static_cast<u8>(c), 0});
      if (it != children.end() && it->first == static_cast<u8>(c)) {
        node = it->second;
      } else {
        u32 fresh = static_cast<u32>(def.keys.size());
        children.insert(it, {static_cast<u8>(c), fresh});
        def.keys.emplace_back();
        node = fresh;
      }
    }
    def.keys[node].below.push_back(i);
    def.keys[node].member = i;
  }
}

Gram Automaton::items(ItemsDef def) {
  if (def.unique && def.numbers_any) {
    // Among values that must differ, numbers are written without exponent: then one value has few spellings.
    ByteSet digit, figures, e, blank, minus;
    digit.add_range('0', '9');
    figures = digit;
    figures.add('.');
    e.add('e');
    e.add('E');
    for (char c : {' ', '\t', '\n', '\r'}) blank.add(static_cast<u8>(c));
    minus.add('-');
    Term any = terms.complement(kEmpty);
    Term t = terms.cat(terms.bytes(e), any);
    t = terms.cat(terms.repeat(terms.bytes(figures), 0, kUnbounded), t);
    t = terms.cat(terms.bytes(digit), t);
    t = terms.cat(terms.repeat(terms.bytes(minus), 0, 1), t);
    t = terms.cat(terms.repeat(terms.bytes(blank), 0, kUnbounded), t);
    def.item = terms.conj(def.item, terms.complement(t));
  }
  items_.push_back(std::move(def));
  return gram(GramKind::Items, static_cast<u32>(items_.size() - 1), 0, 0, 0);
}

void Automaton::finish(Gram start) {
  costs_.assign(grams_.size(), kUnbounded);
  // Least fixed point of "bytes of a shortest text"; what stays unbounded has none.
  for (bool changed = true; changed;) {
    changed = false;
    for (Gram g = 0; g < grams_.size(); ++g) {
      terms.deadline.check();
      u32 cost = gram_cost(g);
      if (cost < costs_[g]) {
        costs_[g] = cost;
        changed = true;
      }
    }
  }
  for (auto& def : members_) refresh(def);
  for (auto& def : items_) refresh(def);
  start_ = kDead;
  if (costs_[start] == kUnbounded) return;
  Gather g;
  open_gram(g, start, kDone);
  start_ = close(g);
}

void Automaton::refresh(MembersDef& def) {
  const u32 n = static_cast<u32>(def.members.size());
  def.extras = 0;
  for (auto& m : def.members) m.alive = costs_[m.value] != kUnbounded && terms.alive(m.key);
  for (auto& c : def.classes) {
    c.alive = costs_[c.value] != kUnbounded && terms.alive(c.body);
    if (c.alive && c.count == 0) {
      const bool many = terms.node(c.body).max_bytes == kUnbounded && terms.node(c.body).plain;
      // Of the spellings of a name exactly one is canonical: count those.
      const Term names = many || def.encoding != Encoding::JsonAny
                             ? c.body
                             : terms.conj(c.body, terms.any_text(Encoding::Json));
      c.count = many ? kManyNames : terms.cardinality(names, std::min<u64>(kManyNames, 4096));
    }
    if (c.alive) def.extras += c.count > 4096 ? kManyNames : c.count;
  }
  def.next_required.assign(n + 1, n);
  def.required_from.assign(n + 1, 0);
  def.alive_from.assign(n + 1, 0);
  for (u32 i = n; i-- > 0;) {
    def.next_required[i] = def.members[i].required ? i : def.next_required[i + 1];
    def.required_from[i] = def.required_from[i + 1] + def.members[i].required;
    def.alive_from[i] = def.alive_from[i + 1] + def.members[i].alive;
  }
}

void Automaton::refresh(ItemsDef& def) {
  def.reachable = def.max_count;
  if (def.unique) {
    if (!terms.alive(def.item)) def.reachable = 0;
    return;
  }
  for (u32 i = 0; i < def.prefix.size(); ++i)
    if (costs_[def.prefix[i]] == kUnbounded) {
      def.reachable = std::min(def.reachable, i);
      return;
    }
  if (def.rest == kNone || costs_[def.rest] == kUnbounded)
    def.reachable = std::min(def.reachable, static_cast<u32>(def.prefix.size()));
}

// ---------------------------------------------------------------- interning

u32 Automaton::intern_frame(const Frame& f) {
  u64 h = hash_frame(f);
  u32 found = frame_table_.find(h, [&](u32 i) { return frames_[i] == f; });
  if (found != kNone) return found;
  frames_.push_back(f);
  frame_table_.insert(h, static_cast<u32>(frames_.size() - 1));
  return static_cast<u32>(frames_.size() - 1);
}

State Automaton::intern_state(std::vector<Entry>& list, bool accept) {
  if (list.size() > 1) {
    std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
      return a.frame != b.frame ? a.frame < b.frame : a.below < b.below;
    });
    size_t kept = 0;
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].frame == list[kept].frame) {
        list[kept].below = unite(list[kept].below, list[i].below);
      } else {
        list[++kept] = list[i];
      }
    }
    list.resize(kept + 1);
  }
  u64 h = hash_bytes(list.data(), list.size() * sizeof(Entry), accept ? 41 : 43);
  State found = state_table_.find(h, [&](u32 i) {
    const Shape& s = states_[i];
    return s.accept == accept && s.count == list.size() &&
           (list.empty() || std::memcmp(entries_.data() + s.at, list.data(), list.size() * sizeof(Entry)) == 0);
  });
  if (found != kNone) return found;
  if (states_.size() >= limits.states) throw LimitError("states", "the grammar needs too many parser states");
  bool captures = std::any_of(list.begin(), list.end(), [&](const Entry& e) {
    FrameKind k = frames_[e.frame].kind;
    return k == FrameKind::ClassKey || k == FrameKind::Unique;
  });
  Shape s{static_cast<u32>(entries_.size()), static_cast<u32>(list.size()), accept, captures, kNone, kNone};
  entries_.insert(entries_.end(), list.begin(), list.end());
  states_.push_back(s);
  state_table_.insert(h, static_cast<State>(states_.size() - 1));
  return static_cast<State>(states_.size() - 1);
}

State Automaton::single(const Frame& f, State below) {
  std::vector<Entry> one{{intern_frame(f), below}};
  return intern_state(one, false);
}

State Automaton::unite(State a, State b) {
  if (a == b || b == kDead) return a;
  if (a == kDead) return b;
  if (a > b) std::swap(a, b);
  if (u32 known = unions_.get(a, b); known != kNone) return known;
  DepthGuard guard(depth_);
  check_depth(depth_);
  std::vector<Entry> both;
  for (State s : {a, b}) {
    auto e = entries(s);
    both.insert(both.end(), e.begin(), e.end());
  }
  State u = intern_state(both, states_[a].accept || states_[b].accept);
  unions_.put(a, b, u);
  return u;
}

u32 Automaton::progress(const Progress& p) {
  u64 h = hash_bytes(&p, sizeof p, 47);
  u32 found = progress_table_.find(h, [&](u32 i) { return progresses_[i] == p; });
  if (found != kNone) return found;
  progresses_.push_back(p);
  progress_table_.insert(h, static_cast<u32>(progresses_.size() - 1));
  return static_cast<u32>(progresses_.size() - 1);
}

u32 Automaton::link(IdTable& table, std::vector<Link>& links, u32 parent, u32 item) {
  u64 h = mix(mix(53, parent), item);
  u32 found = table.find(h, [&](u32 i) { return links[i].parent == parent && links[i].item == item; });
  if (found != kNone) return found;
  links.push_back({parent, item, links[parent].unknown || item == kUnknownText});
  table.insert(h, static_cast<u32>(links.size() - 1));
  return static_cast<u32>(links.size() - 1);
}

std::string Automaton::captured(u32 capture) const {
  std::string text;
  for (u32 i = capture; i != 0; i = captures_[i].parent) text += static_cast<char>(captures_[i].item);
  std::reverse(text.begin(), text.end());
  return text;
}

u32 Automaton::text_id(const std::string& s) {
  u64 h = hash_bytes(s.data(), s.size(), 59);
  u32 found = text_table_.find(h, [&](u32 i) { return texts_[i] == s; });
  if (found != kNone) return found;
  texts_.push_back(s);
  text_table_.insert(h, static_cast<u32>(texts_.size() - 1));
  return static_cast<u32>(texts_.size() - 1);
}

bool Automaton::has_bit(u32 set, u32 bit) const {
  const auto& words = bitsets_[set];
  return bit / 64 < words.size() && (words[bit / 64] >> (bit % 64) & 1);
}

u32 Automaton::with_bit(u32 set, u32 bit) {
  std::vector<u64> words = bitsets_[set];
  if (words.size() <= bit / 64) words.resize(bit / 64 + 1);
  words[bit / 64] |= u64{1} << (bit % 64);
  u64 h = hash_bytes(words.data(), words.size() * 8, 61);
  u32 found = bitset_table_.find(h, [&](u32 i) { return bitsets_[i] == words; });
  if (found != kNone) return found;
  bitsets_.push_back(std::move(words));
  bitset_table_.insert(h, static_cast<u32>(bitsets_.size() - 1));
  return static_cast<u32>(bitsets_.size() - 1);
}

// ---------------------------------------------------------------- members: what may come next

u64 Automaton::extras_left(const MembersDef& def, u32 extras) const {
  u64 used = 0;
  for (u32 i = extras; i != 0; i = seen_[i].parent) ++used;
  return def.extras > used ? def.extras - used : 0;
}

bool Automaton::closable(const MembersDef& def, const Progress& p) const {
  if (p.count < def.min_count || p.count > def.max_count) return false;
  if (!def.any_order) return def.next_required[p.pos] == def.members.size();
  for (u32 i = 0; i < def.members.size(); ++i)
    if (def.members[i].required && !has_bit(p.seen, i)) return false;
  return true;
}

bool Automaton::eligible(const MembersDef& def, u32 progress, u32 i) const {
  const Progress& p = progresses_[progress];
  if (!def.members[i].alive || p.count >= def.max_count) return false;
  if (!def.any_order) {
    if (i < p.pos || i > def.next_required[p.pos]) return false;
    if (def.max_count != kUnbounded && p.count + 1 + def.required_from[i + 1] > def.max_count) return false;
    return def.min_count <= p.count + 1 ||
           def.alive_from[i + 1] + extras_left(def, p.extras) >= def.min_count - p.count - 1;
  }
  if (has_bit(p.seen, i)) return false;
  if (def.max_count == kUnbounded) return true;  // nothing that is left can be used up by this choice
  u32 missing = 0;
  for (u32 k = 0; k < def.members.size(); ++k)
    missing += k != i && def.members[k].required && !has_bit(p.seen, k);
  return p.count + 1 + missing <= def.max_count;
}

bool Automaton::any_eligible(const MembersDef& def, u32 progress, const KeyNode& node) const {
  const auto& below = node.below;
  size_t first = def.any_order ? 0
                               : static_cast<size_t>(std::lower_bound(below.begin(), below.end(),
                                                                      progresses_[progress].pos) - below.begin());
  for (size_t k = first; k < below.size(); ++k) {
    if (eligible(def, progress, below[k])) return true;
    if (!def.any_order && below[k] > def.next_required[progresses_[progress].pos]) return false;
  }
  return false;
}

bool Automaton::extras_allowed(const MembersDef& def, const Progress& p) const {
  if (p.count >= def.max_count) return false;
  if (!def.any_order)  // declared names are over then: what is missing must be made up by other names
    return def.next_required[p.pos] == def.members.size() && extras_left(def, p.extras) + p.count >= def.min_count;
  if (def.max_count == kUnbounded) return true;
  u32 missing = 0;
  for (u32 k = 0; k < def.members.size(); ++k) missing += def.members[k].required && !has_bit(p.seen, k);
  return p.count + 1 + missing <= def.max_count;
}

bool Automaton::has_next(const MembersDef& def, u32 m, u32 id) {
  for (u32 i = def.any_order ? 0 : progresses_[id].pos; i < def.members.size(); ++i) {
    if (eligible(def, id, i)) return true;
    if (!def.any_order && i > def.next_required[progresses_[id].pos]) break;
  }
  if (!extras_allowed(def, progresses_[id])) return false;
  for (u32 c = 0; c < def.classes.size(); ++c)
    if (def.classes[c].alive && terms.alive(class_key(m, c, progresses_[id].extras))) return true;
  return false;
}

Automaton::Progress Automaton::next_progress(const MembersDef& def, const Progress& p, u32 member) const {
  Progress q = p;
  q.count = next_count(p.count, def.min_count, def.max_count);
  if (member == kNone) {
    if (!def.any_order) q.pos = static_cast<u32>(def.members.size());
  } else if (!def.any_order) {
    q.pos = member + 1;
  }
  return q;
}

Term Automaton::class_key(u32 m, u32 c, u32 extras) {
  const u32 id = members_[m].classes[c].id;
  if (u32 known = class_keys_.get(id, extras); known != kNone) return known;
  ByteSet quote;
  quote.add('"');
  Term body = members_[m].classes[c].body;
  const Encoding encoding = members_[m].encoding;
  std::vector<std::string> plain;
  std::vector<Term> other;
  for (u32 i = extras; i != 0; i = seen_[i].parent) {
    if (seen_[i].item == kUnknownText) continue;
    const std::string name = texts_[seen_[i].item];
    if (encoding == Encoding::Json) plain.push_back(encode_json_string(name));
    else other.push_back(terms.spelled(name, encoding));
  }
  if (!plain.empty()) other.push_back(terms.literals(std::move(plain)));
  if (!other.empty()) body = terms.conj(body, terms.complement(terms.alt(std::move(other))));
  Term q = terms.bytes(quote);
  Term key = terms.cat(q, terms.cat(body, q));
  class_keys_.put(id, extras, key);
  return key;
}

bool Automaton::name_unknown(const Frame& f) const {
  if (f.kind == FrameKind::ClassKey) return seen_[progresses_[f.b].extras].unknown;
  if (f.kind == FrameKind::Unique) return seen_[f.c].unknown;
  return false;
}

State Automaton::after_key(const Frame& key, u32 member, State below) {
  Frame f{FrameKind::AfterKey, key.a, key.b, member};
  return expand(single(f, below));
}

State Automaton::after_class_unknown(const Frame& key, State below) {
  Progress p = next_progress(members_[key.a], progresses_[key.b], kNone);
  p.extras = link(seen_table_, seen_, p.extras, kUnknownText);
  return single({FrameKind::AfterClass, key.a, progress(p), key.c}, below);
}

State Automaton::after_unique_unknown(const Frame& item, State below) {
  const ItemsDef& def = items_[item.a];
  u32 seen = link(seen_table_, seen_, item.c, kUnknownText);
  return single({FrameKind::Items, item.a, next_count(item.b, def.min_count, def.max_count), seen}, below);
}

// ---------------------------------------------------------------- unique values

std::string Automaton::value_of(const std::string& text) const {
  size_t i = text.find_first_not_of(" \t\n\r");
  if (i == std::string::npos) return text;
  std::string_view s(text.data() + i, text.size() - i);
  if (s[0] == '"') return "s" + decode_json_string(s.substr(1, s.size() - 2));
  if (s[0] != '-' && (s[0] < '0' || s[0] > '9')) return std::string(s);
  const bool negative = s[0] == '-';
  if (negative) s.remove_prefix(1);
  std::string digits;
  int exponent = 0;
  bool fraction = false;
  for (char c : s) {
    if (c == '.') {
      fraction = true;
    } else {
      digits += c;
      exponent -= fraction;
    }
  }
  size_t lead = digits.find_first_not_of('0');
  if (lead == std::string::npos) return "n0";
  digits.erase(0, lead);
  while (digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  return std::string("n") + (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

Term Automaton::value_spellings(const ItemsDef& def, const std::string& value) {
  if (value[0] == 's' || value[0] != 'n' || value == "null") {
    if (value[0] != 's') return terms.literal(value);
    Term q = terms.literal("\"");
    return terms.cat(q, terms.cat(terms.spelled(std::string_view(value).substr(1), def.encoding), q));
  }
  ByteSet zero;
  zero.add('0');
  const Term zeros = terms.repeat(terms.bytes(zero), 0, kUnbounded);
  auto with_fraction = [&](const std::string& whole, const std::string& fraction) {
    Term tail = terms.cat(terms.literal("." + fraction), fraction.empty() ? terms.repeat(terms.bytes(zero), 1, kUnbounded) : zeros);
    if (fraction.empty()) tail = terms.alt(kEpsilon, tail);
    return terms.cat(terms.literal(whole), tail);
  };
  if (value == "n0") return terms.cat(terms.alt(kEpsilon, terms.literal("-")), with_fraction("0", ""));
  const size_t e = value.find('e');
  const bool negative = value[1] == '-';
  std::string digits = value.substr(negative ? 2 : 1, e - (negative ? 2 : 1));
  const int exponent = std::stoi(value.substr(e + 1));
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

Term Automaton::unique_item(u32 i, u32 seen) {
  if (seen == 0) return items_[i].item;
  if (u32 known = unique_items_.get(i, seen); known != kNone) return known;
  std::vector<Term> spellings;
  for (u32 k = seen; k != 0; k = seen_[k].parent)
    if (seen_[k].item != kUnknownText) spellings.push_back(value_spellings(items_[i], texts_[seen_[k].item]));
  Term t = items_[i].item;
  if (!spellings.empty()) {
    ByteSet blank;
    for (char c : {' ', '\t', '\n', '\r'}) blank.add(static_cast<u8>(c));
    Term any = terms.alt(std::move(spellings));
    if (terms.live_bytes(t).has(' ')) any = terms.cat(terms.repeat(terms.bytes(blank), 0, kUnbounded), any);
    t = terms.conj(t, terms.complement(any));
  }
  unique_items_.put(i, seen, t);
  return t;
}

// ---------------------------------------------------------------- expansion

State Automaton::expand(State s) {
  if (states_[s].expanded != kNone) return states_[s].expanded;
  // Something that may be empty, repeated: the state contains itself, which adds nothing (a least fixed point). What was
  // expanded meanwhile has not seen all of it and is not remembered.
  if (auto it = opening_.find(s); it != opening_.end()) {
    lowest_met_ = std::min(lowest_met_, it->second);
    return kDead;
  }
  DepthGuard guard(depth_);
  check_depth(depth_);
  const u32 here = static_cast<u32>(opening_.size()), met_before = lowest_met_;
  lowest_met_ = kNone;
  opening_[s] = here;
  struct Closer {
    std::unordered_map<State, u32>& map;
    State s;
    ~Closer() { map.erase(s); }
  } closer{opening_, s};
  Gather g;
  g.accept = states_[s].accept;
  const u32 at = states_[s].at, count = states_[s].count;
  for (u32 i = 0; i < count; ++i) {
    const Entry e = entries_[at + i];
    const Frame f = frames_[e.frame];
    open_frame(g, f, e.below);
  }
  State expanded = close(g);
  const bool whole = lowest_met_ == kNone || lowest_met_ >= here;
  lowest_met_ = whole ? met_before : std::min(met_before, lowest_met_);
  if (whole) states_[s].expanded = expanded;
  states_[expanded].expanded = expanded;
  return expanded;
}

State Automaton::close(Gather& g) {
  // Terms over the same rest are one term: a choice between lexemes is then a choice inside one.
  size_t terms_seen = 0;
  for (auto& e : g.entries) terms_seen += frames_[e.frame].kind == FrameKind::Term;
  if (terms_seen > 1) {
    std::vector<std::pair<State, std::vector<Term>>> by_below;
    std::vector<Entry> rest;
    for (auto& e : g.entries) {
      if (frames_[e.frame].kind != FrameKind::Term) {
        rest.push_back(e);
        continue;
      }
      auto it = std::find_if(by_below.begin(), by_below.end(), [&](auto& p) { return p.first == e.below; });
      if (it == by_below.end()) it = by_below.insert(by_below.end(), {e.below, {}});
      it->second.push_back(frames_[e.frame].a);
    }
    for (auto& [below, list] : by_below) {
      Term t = list.size() == 1 ? list[0] : terms.alt(list);
      rest.push_back({intern_frame({FrameKind::Term, t}), below});
    }
    g.entries = std::move(rest);
  }
  State s = intern_state(g.entries, g.accept);
  if (states_[s].expanded == kNone) states_[s].expanded = s;
  return s;
}

void Automaton::add_state(Gather& g, State s) {
  State e = expand(s);
  const u32 at = states_[e].at, count = states_[e].count;
  for (u32 i = 0; i < count; ++i) g.entries.push_back(entries_[at + i]);
  g.accept = g.accept || states_[e].accept;
}

void Automaton::open_term(Gather& g, Term t, State below) {
  if (t == kEmpty || !terms.alive(t)) return;
  if (t != kEpsilon) add(g, {FrameKind::Term, t}, below);
  if (terms.nullable(t)) add_state(g, below);
}

void Automaton::open_gram(Gather& g, Gram x, State below) {
  if (costs_[x] == kUnbounded) return;
  DepthGuard guard(depth_);
  check_depth(depth_);
  const GramNode n = grams_[x];
  switch (n.kind) {
    case GramKind::Lexeme:
      open_term(g, n.a, below);
      break;
    case GramKind::Sequence:
      open_frame(g, {FrameKind::Sequence, x, 0}, below);
      break;
    case GramKind::Choice:
      for (u32 i = 0; i < n.b; ++i) open_gram(g, lists_[n.a + i], below);
      break;
    case GramKind::Rule:
      open_gram(g, n.a, below);
      break;
    case GramKind::Repetition:
      if (n.c == 0) add_state(g, below);
      if (n.d > 0) open_gram(g, n.a, single({FrameKind::Repetition, x, next_count(0, n.c, n.d)}, below));
      break;
    case GramKind::Members: {
      Progress start{0, 0, 0, 0};
      open_term(g, members_[n.a].mark.open, single({FrameKind::Members, n.a, progress(start)}, below));
      break;
    }
    case GramKind::Items:
      open_term(g, items_[n.a].mark.open, single({FrameKind::Items, n.a, 0, 0}, below));
      break;
  }
}

void Automaton::open_frame(Gather& g, const Frame& f, State below) {
  switch (f.kind) {
    case FrameKind::Term:
      open_term(g, f.a, below);
      break;
    case FrameKind::Gram:
      open_gram(g, f.a, below);
      break;
    case FrameKind::Sequence: {
      const GramNode n = grams_[f.a];
      State rest = f.b + 1 == n.b ? below : single({FrameKind::Sequence, f.a, f.b + 1}, below);
      open_gram(g, lists_[n.a + f.b], rest);
      break;
    }
    case FrameKind::Repetition: {
      const GramNode n = grams_[f.a];
      if (f.b >= n.c) add_state(g, below);
      if (f.b < n.d || n.d == kUnbounded) {
        State rest = single({FrameKind::Repetition, f.a, next_count(f.b, n.c, n.d)}, below);
        if (n.b == kNone) open_gram(g, n.a, rest);
        else if (costs_[n.a] != kUnbounded) open_gram(g, n.b, single({FrameKind::Gram, n.a}, rest));
      }
      break;
    }
    case FrameKind::Members:
      open_members(g, f, below);
      break;
    case FrameKind::AnyKey:
      open_any_key(g, f, below);
      break;
    case FrameKind::AfterKey: {
      Progress p = next_progress(members_[f.a], progresses_[f.b], f.c);
      if (members_[f.a].any_order) p.seen = with_bit(p.seen, f.c);
      State rest = single({FrameKind::Members, f.a, progress(p)}, below);
      open_term(g, members_[f.a].mark.colon, single({FrameKind::Gram, members_[f.a].members[f.c].value}, rest));
      break;
    }
    case FrameKind::AfterClass: {
      State rest = single({FrameKind::Members, f.a, f.b}, below);
      open_term(g, members_[f.a].mark.colon, single({FrameKind::Gram, members_[f.a].classes[f.c].value}, rest));
      break;
    }
    case FrameKind::Items:
      open_items(g, f, below);
      break;
    case FrameKind::Key:
    case FrameKind::ClassKey:
    case FrameKind::Unique:
      add(g, f, below);
      break;
  }
}

void Automaton::open_members(Gather& g, const Frame& f, State below) {
  const Progress p = progresses_[f.b];
  const Punctuation mark = members_[f.a].mark;
  if (closable(members_[f.a], p)) open_term(g, mark.close, below);
  if (!has_next(members_[f.a], f.a, f.b)) return;
  Term before = p.count == 0 ? mark.before_key : terms.cat(mark.separator, mark.before_key);
  open_term(g, before, single({FrameKind::AnyKey, f.a, f.b}, below));
}

void Automaton::open_any_key(Gather& g, const Frame& f, State below) {
  const u32 n = static_cast<u32>(members_[f.a].members.size());
  if (!members_[f.a].keys.empty()) {
    if (any_eligible(members_[f.a], f.b, members_[f.a].keys[0])) add(g, {FrameKind::Key, f.a, f.b, 0}, below);
  } else {
    for (u32 i = 0; i < n; ++i)
      if (eligible(members_[f.a], f.b, i))
        open_term(g, members_[f.a].members[i].key, single({FrameKind::AfterKey, f.a, f.b, i}, below));
  }
  const Progress p = progresses_[f.b];
  if (!extras_allowed(members_[f.a], p)) return;
  for (u32 c = 0; c < members_[f.a].classes.size(); ++c) {
    if (!members_[f.a].classes[c].alive) continue;
    Term key = class_key(f.a, c, p.extras);
    if (terms.alive(key)) add(g, {FrameKind::ClassKey, f.a, f.b, c, key, 0}, below);
  }
}

void Automaton::open_items(Gather& g, const Frame& f, State below) {
  const u32 count = f.b;
  const u32 min = items_[f.a].min_count, max = items_[f.a].max_count;
  const Punctuation mark = items_[f.a].mark;
  if (count >= min) open_term(g, mark.close, below);
  if (count >= items_[f.a].reachable) return;
  State next;
  if (items_[f.a].unique) {
    Term item = unique_item(f.a, f.c);
    if (!terms.alive(item)) return;
    next = single({FrameKind::Unique, f.a, count, f.c, item, 0}, below);
  } else {
    const auto& prefix = items_[f.a].prefix;
    const Gram item = count < prefix.size() ? prefix[count] : items_[f.a].rest;
    u32 after = max == kUnbounded && items_[f.a].reachable == kUnbounded
                    ? std::min(count + 1, std::max({min, 1u, static_cast<u32>(prefix.size())}))
                    : count + 1;
    next = single({FrameKind::Gram, item}, single({FrameKind::Items, f.a, after, 0}, below));
  }
  if (count == 0) add_state(g, next);
  else open_term(g, mark.separator, next);
}

// ---------------------------------------------------------------- transitions

State Automaton::step(State s, u8 byte) {
  const bool memo = !states_[s].captures;
  const u32 key = byte;
  if (memo)
    if (u32 known = steps_.get(s, key); known != kNone) return known;
  terms.deadline.check();
  Gather g;
  const u32 at = states_[s].at, count = states_[s].count;
  for (u32 i = 0; i < count; ++i) {
    const Entry e = entries_[at + i];
    const Frame f = frames_[e.frame];
    step_frame(g, f, e.below, byte);
  }
  State r = close(g);
  if (memo) steps_.put(s, key, r);
  return r;
}

void Automaton::step_frame(Gather& g, const Frame& f, State below, u8 byte) {
  switch (f.kind) {
    case FrameKind::Term: {
      Term d = terms.live_derive(f.a, byte);
      if (d != kEmpty) open_term(g, d, below);
      break;
    }
    case FrameKind::Key: {
      const MembersDef& def = members_[f.a];
      const auto& children = def.keys[f.c].children;
      auto it = std::lower_bound(children.begin(), children.end(), std::pair<u8, u32>{byte, 0});
      if (it == children.end() || it->first != byte) break;
      const u32 child = it->second;
      if (!any_eligible(def, f.b, def.keys[child])) break;
      const u32 member = def.keys[child].member;
      if (member != kNone) add_state(g, single({FrameKind::AfterKey, f.a, f.b, member}, below));
      else add(g, {FrameKind::Key, f.a, f.b, child}, below);
      break;
    }
    case FrameKind::ClassKey: {
      Term d = terms.live_derive(f.d, byte);
      if (d == kEmpty) break;
      u32 capture = link(capture_table_, captures_, f.e, byte);
      if (d != kEpsilon) {
        add(g, {FrameKind::ClassKey, f.a, f.b, f.c, d, capture}, below);
        break;
      }
      std::string raw = captured(capture);
      Progress p = next_progress(members_[f.a], progresses_[f.b], kNone);
      p.extras = link(seen_table_, seen_, p.extras,
                      text_id(decode_json_string(std::string_view(raw).substr(1, raw.size() - 2))));
      add_state(g, single({FrameKind::AfterClass, f.a, progress(p), f.c}, below));
      break;
    }
    case FrameKind::Unique: {
      Term d = terms.live_derive(f.d, byte);
      if (d == kEmpty) break;
      u32 capture = link(capture_table_, captures_, f.e, byte);
      if (d != kEpsilon) add(g, {FrameKind::Unique, f.a, f.b, f.c, d, capture}, below);
      if (terms.nullable(d)) {
        u32 seen = link(seen_table_, seen_, f.c, text_id(value_of(captured(capture))));
        const ItemsDef& def = items_[f.a];
        add_state(g, single({FrameKind::Items, f.a, next_count(f.b, def.min_count, def.max_count), seen}, below));
      }
      break;
    }
    default:
      break;  // not on top of an expanded state
  }
}

ByteSet Automaton::legal_bytes(State s) {
  ByteSet set;
  const u32 at = states_[s].at, count = states_[s].count;
  for (u32 i = 0; i < count; ++i) {
    const Frame f = frames_[entries_[at + i].frame];
    if (f.kind == FrameKind::Term) {
      set = set | terms.live_bytes(f.a);
    } else if (f.kind == FrameKind::Key) {
      const MembersDef& def = members_[f.a];
      for (auto [byte, child] : def.keys[f.c].children)
        if (any_eligible(def, f.b, def.keys[child])) set.add(byte);
    } else {
      set = set | terms.live_bytes(f.d);
    }
  }
  return set;
}

// ---------------------------------------------------------------- shortest completions

u32 Automaton::term_text(Term t, std::string* out) {
  if (t == kEmpty || !terms.alive(t)) return kUnbounded;
  if (!out) return terms.shortest_length(t);
  std::string s = terms.shortest(t);
  *out += s;
  return static_cast<u32>(s.size());
}

u32 Automaton::gram_cost(Gram g) {
  const GramNode n = grams_[g];
  switch (n.kind) {
    case GramKind::Lexeme:
      return costs_[g] != kUnbounded ? costs_[g] : term_text(n.a, nullptr);
    case GramKind::Sequence: {
      u32 total = 0;
      for (u32 i = 0; i < n.b; ++i) total = plus(total, costs_[lists_[n.a + i]]);
      return total;
    }
    case GramKind::Choice: {
      u32 least = kUnbounded;
      for (u32 i = 0; i < n.b; ++i) least = std::min(least, costs_[lists_[n.a + i]]);
      return least;
    }
    case GramKind::Rule:
      return n.a == kNone ? kUnbounded : costs_[n.a];
    case GramKind::Repetition: {
      if (n.c > n.d) return kUnbounded;
      u32 total = 0, separator = n.b == kNone ? 0 : costs_[n.b];
      if (n.c == 0) return 0;
      if (costs_[n.a] == kUnbounded || (n.c > 1 && separator == kUnbounded)) return kUnbounded;
      u64 sum = u64{n.c} * costs_[n.a] + u64{n.c - 1} * (n.c > 1 ? separator : 0);
      total = sum >= kUnbounded ? kUnbounded - 1 : static_cast<u32>(sum);
      return total;
    }
    case GramKind::Members: {
      refresh(members_[n.a]);
      u32 open = term_text(members_[n.a].mark.open, nullptr);
      return plus(open, members_rest(n.a, {0, 0, 0, 0}, false, nullptr));
    }
    case GramKind::Items: {
      refresh(items_[n.a]);
      u32 open = term_text(items_[n.a].mark.open, nullptr);
      return plus(open, items_rest(n.a, 0, 0, nullptr));
    }
  }
  return kUnbounded;
}

u32 Automaton::gram_text(Gram g, std::string* out) {
  if (!out || costs_[g] == kUnbounded) return costs_[g];
  DepthGuard guard(depth_);
  check_depth(depth_);
  const GramNode n = grams_[g];
  switch (n.kind) {
    case GramKind::Lexeme:
      return term_text(n.a, out);
    case GramKind::Sequence: {
      u32 total = 0;
      for (u32 i = 0; i < n.b; ++i) total = plus(total, gram_text(lists_[n.a + i], out));
      return total;
    }
    case GramKind::Choice: {
      Gram best = lists_[n.a];
      for (u32 i = 1; i < n.b; ++i)
        if (costs_[lists_[n.a + i]] < costs_[best]) best = lists_[n.a + i];
      return gram_text(best, out);
    }
    case GramKind::Rule:
      return gram_text(n.a, out);
    case GramKind::Repetition: {
      u32 total = 0;
      for (u32 i = 0; i < n.c; ++i) {
        if (i && n.b != kNone) total = plus(total, gram_text(n.b, out));
        total = plus(total, gram_text(n.a, out));
      }
      return total;
    }
    case GramKind::Members: {
      u32 open = term_text(members_[n.a].mark.open, out);
      return plus(open, members_rest(n.a, {0, 0, 0, 0}, false, out));
    }
    case GramKind::Items: {
      u32 open = term_text(items_[n.a].mark.open, out);
      return plus(open, items_rest(n.a, 0, 0, out));
    }
  }
  return kUnbounded;
}

u32 Automaton::members_rest(u32 m, Progress p, bool at_key, std::string* out) {
  const Punctuation mark = members_[m].mark;
  const u32 n = static_cast<u32>(members_[m].members.size());
  std::vector<u32> chosen, spare;
  for (u32 i = members_[m].any_order ? 0 : p.pos; i < n; ++i) {
    const MemberDef& def = members_[m].members[i];
    if (members_[m].any_order && has_bit(p.seen, i)) continue;
    if (def.required && !def.alive) return kUnbounded;
    if (def.required) chosen.push_back(i);
    else if (def.alive) spare.push_back(i);
  }
  if (p.count + u64{chosen.size()} > members_[m].max_count) return kUnbounded;
  u64 have = p.count + u64{chosen.size()};
  u64 need = members_[m].min_count > have ? members_[m].min_count - have : 0;
  if (at_key && chosen.empty() && need == 0) need = 1;
  if (need > 0 && have + need > members_[m].max_count) return kUnbounded;
  std::stable_sort(spare.begin(), spare.end(), [&](u32 a, u32 b) {
    return costs_[members_[m].members[a].value] < costs_[members_[m].members[b].value];
  });
  for (u32 i = 0; i < spare.size() && need > 0; ++i, --need) chosen.push_back(spare[i]);
  std::sort(chosen.begin(), chosen.end());
  u32 total = 0;
  bool first = p.count == 0, skip = at_key;
  auto begin = [&] {
    if (!skip) {
      if (!first) total = plus(total, term_text(mark.separator, out));
      total = plus(total, term_text(mark.before_key, out));
    }
    skip = first = false;
  };
  for (u32 i : chosen) {
    begin();
    total = plus(total, term_text(members_[m].members[i].key, out));
    total = plus(total, term_text(mark.colon, out));
    total = plus(total, gram_text(members_[m].members[i].value, out));
  }
  for (u32 c = 0; c < members_[m].classes.size() && need > 0; ++c) {
    while (need > 0 && members_[m].classes[c].alive) {
      Term key = class_key(m, c, p.extras);
      if (!terms.alive(key)) break;
      begin();
      std::string raw = terms.shortest(key);
      total = plus(total, static_cast<u32>(raw.size()));
      if (out) *out += raw;
      total = plus(total, term_text(mark.colon, out));
      total = plus(total, gram_text(members_[m].classes[c].value, out));
      p.extras = link(seen_table_, seen_, p.extras,
                      text_id(decode_json_string(std::string_view(raw).substr(1, raw.size() - 2))));
      --need;
    }
  }
  if (need > 0) return kUnbounded;
  return plus(total, term_text(mark.close, out));
}

u32 Automaton::items_rest(u32 i, u32 count, u32 seen, std::string* out) {
  const ItemsDef& def = items_[i];
  const Punctuation mark = def.mark;
  const u32 min = def.min_count;
  if (min > def.reachable) return kUnbounded;
  u32 total = 0;
  for (u32 k = count; k < min; ++k) {
    if (k > 0) total = plus(total, term_text(mark.separator, out));
    if (items_[i].unique) {
      Term item = unique_item(i, seen);
      if (!terms.alive(item)) return kUnbounded;
      std::string text = terms.shortest(item);
      total = plus(total, static_cast<u32>(text.size()));
      if (out) *out += text;
      seen = link(seen_table_, seen_, seen, text_id(value_of(text)));
    } else {
      const auto& prefix = items_[i].prefix;
      total = plus(total, gram_text(k < prefix.size() ? prefix[k] : items_[i].rest, out));
      if (!out && k >= prefix.size()) {  // the rest all cost the same
        u64 each = u64{costs_[items_[i].rest]} + term_text(mark.separator, nullptr);
        u64 more = each * (min - k - 1);
        total = more > kUnbounded - total ? kUnbounded - 1 : total + static_cast<u32>(more);
        break;
      }
    }
  }
  return plus(total, term_text(mark.close, out));
}

u32 Automaton::frame_rest(const Frame& f, std::string* out) {
  switch (f.kind) {
    case FrameKind::Term:
      return term_text(f.a, out);
    case FrameKind::Gram:
      return gram_text(f.a, out);
    case FrameKind::Sequence: {
      const GramNode n = grams_[f.a];
      u32 total = 0;
      for (u32 i = f.b; i < n.b; ++i) total = plus(total, gram_text(lists_[n.a + i], out));
      return total;
    }
    case FrameKind::Repetition: {
      const GramNode n = grams_[f.a];
      u32 total = 0;
      for (u32 i = f.b; i < n.c; ++i) {
        if (n.b != kNone) total = plus(total, gram_text(n.b, out));
        total = plus(total, gram_text(n.a, out));
      }
      return total;
    }
    case FrameKind::Members:
      return members_rest(f.a, progresses_[f.b], false, out);
    case FrameKind::AnyKey:
      return members_rest(f.a, progresses_[f.b], true, out);
    case FrameKind::Key: {
      u32 best = kUnbounded, pick = kNone;
      auto rest_of = [&](u32 member, std::string* text) {
        u32 total = 0, node = f.c;
        while (members_[f.a].keys[node].member != member) {
          for (auto [byte, child] : members_[f.a].keys[node].children)
            if (std::binary_search(members_[f.a].keys[child].below.begin(), members_[f.a].keys[child].below.end(), member)) {
              if (text) *text += static_cast<char>(byte);
              ++total;
              node = child;
              break;
            }
        }
        return plus(total, frame_rest({FrameKind::AfterKey, f.a, f.b, member}, text));
      };
      const std::vector<u32> below = members_[f.a].keys[f.c].below;
      for (u32 member : below)
        if (eligible(members_[f.a], f.b, member))
          if (u32 cost = rest_of(member, nullptr); cost < best) {
            best = cost;
            pick = member;
          }
      return pick == kNone || !out ? best : rest_of(pick, out);
    }
    case FrameKind::AfterKey: {
      Progress p = next_progress(members_[f.a], progresses_[f.b], f.c);
      if (members_[f.a].any_order) p.seen = with_bit(p.seen, f.c);
      u32 total = term_text(members_[f.a].mark.colon, out);
      total = plus(total, gram_text(members_[f.a].members[f.c].value, out));
      return plus(total, members_rest(f.a, p, false, out));
    }
    case FrameKind::ClassKey: {
      std::string rest = terms.shortest(f.d);
      if (out) *out += rest;
      std::string raw = captured(f.e) + rest;
      Progress p = next_progress(members_[f.a], progresses_[f.b], kNone);
      p.extras = link(seen_table_, seen_, p.extras,
                      text_id(decode_json_string(std::string_view(raw).substr(1, raw.size() - 2))));
      return plus(static_cast<u32>(rest.size()), frame_rest({FrameKind::AfterClass, f.a, progress(p), f.c}, out));
    }
    case FrameKind::AfterClass: {
      u32 total = term_text(members_[f.a].mark.colon, out);
      total = plus(total, gram_text(members_[f.a].classes[f.c].value, out));
      return plus(total, members_rest(f.a, progresses_[f.b], false, out));
    }
    case FrameKind::Items:
      return items_rest(f.a, f.b, f.c, out);
    case FrameKind::Unique: {
      std::string rest = terms.shortest(f.d);
      if (out) *out += rest;
      u32 seen = link(seen_table_, seen_, f.c, text_id(value_of(captured(f.e) + rest)));
      return plus(static_cast<u32>(rest.size()),
                  items_rest(f.a, next_count(f.b, items_[f.a].min_count, items_[f.a].max_count), seen, out));
    }
  }
  return kUnbounded;
}

u32 Automaton::cost(State s) {
  if (states_[s].cost != kNone) return states_[s].cost;
  DepthGuard guard(depth_);
  check_depth(depth_);
  u32 best = states_[s].accept ? 0 : kUnbounded;
  const u32 at = states_[s].at, count = states_[s].count;
  for (u32 i = 0; i < count && best > 0; ++i) {
    const Entry e = entries_[at + i];
    const Frame f = frames_[e.frame];
    u32 below = cost(e.below);
    if (below < best) best = std::min(best, plus(below, frame_rest(f, nullptr)));
  }
  states_[s].cost = best;
  return best;
}

std::string Automaton::completion(State s) {
  std::string text;
  while (!states_[s].accept) {
    const u32 goal = cost(s);
    if (goal == kUnbounded) throw LimitError("states", "no completion was found");
    const u32 at = states_[s].at, count = states_[s].count;
    State next = kNone;
    for (u32 i = 0; i < count; ++i) {
      const Entry e = entries_[at + i];
      const Frame f = frames_[e.frame];
      if (plus(cost(e.below), frame_rest(f, nullptr)) == goal) {
        frame_rest(f, &text);
        next = e.below;
        break;
      }
    }
    if (next == kNone) throw LimitError("states", "no completion was found");
    s = next;
  }
  return text;
}

}  // namespace constrain
