// Characters as bytes: UTF-8, and how JSON strings spell them.
//
// Source: Cox, "UTF-8 range splitting" in RE2; RFC 3629; RFC 8259 section 7.
#include <algorithm>

#include "terms.hpp"

namespace constrain {

namespace {

using Range = std::pair<u32, u32>;
using ByteRanges = std::vector<std::pair<u8, u8>>;

void encode(u32 c, u8* out, int n) {
  if (n == 1) {
    out[0] = static_cast<u8>(c);
    return;
  }
  for (int i = n - 1; i > 0; --i, c >>= 6) out[i] = static_cast<u8>(0x80 | (c & 0x3F));
  constexpr u8 lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  out[0] = static_cast<u8>(lead[n] | c);
}

// Splits [lo, hi], both of `n` bytes, so that in each part every position ranges independently.
void split_utf8(u32 lo, u32 hi, int n, std::vector<ByteRanges>& out) {
  for (int i = 1; i < n; ++i) {
    const u32 m = (u32{1} << (6 * i)) - 1;
    if ((lo & ~m) == (hi & ~m)) continue;
    if ((lo & m) != 0) {
      split_utf8(lo, lo | m, n, out);
      split_utf8((lo | m) + 1, hi, n, out);
      return;
    }
    if ((hi & m) != m) {
      split_utf8(lo, (hi & ~m) - 1, n, out);
      split_utf8(hi & ~m, hi, n, out);
      return;
    }
  }
  u8 a[4], b[4];
  encode(lo, a, n);
  encode(hi, b, n);
  ByteRanges r;
  for (int i = 0; i < n; ++i) r.push_back({a[i], b[i]});
  out.push_back(std::move(r));
}

std::vector<Range> clip(std::span<const Range> ranges, u32 lo, u32 hi) {
  std::vector<Range> out;
  for (auto [a, b] : ranges)
    if (a <= hi && b >= lo) out.push_back({std::max(a, lo), std::min(b, hi)});
  return out;
}

bool has(std::span<const Range> ranges, u32 c) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return r.first <= c && c <= r.second; });
}

ByteSet hex_digits(u32 lo, u32 hi) {
  ByteSet set;
  for (u32 d = lo; d <= hi; ++d) {
    if (d < 10) {
      set.add(static_cast<u8>('0' + d));
    } else {
      set.add(static_cast<u8>('a' + d - 10));
      set.add(static_cast<u8>('A' + d - 10));
    }
  }
  return set;
}

void hex_parts(u32 lo, u32 hi, int digits, std::vector<ByteSet>& prefix, std::vector<std::vector<ByteSet>>& out) {
  if (digits == 0) {
    out.push_back(prefix);
    return;
  }
  const u32 unit = u32{1} << (4 * (digits - 1));
  auto with = [&](u32 from, u32 to, u32 rest_lo, u32 rest_hi) {
    prefix.push_back(hex_digits(from, to));
    hex_parts(rest_lo, rest_hi, digits - 1, prefix, out);
    prefix.pop_back();
  };
  u32 first = lo / unit, last = hi / unit, a = lo % unit, b = hi % unit;
  if (first == last) {
    with(first, first, a, b);
    return;
  }
  if (a != 0) with(first++, lo / unit, a, unit - 1);
  bool tail = b != unit - 1;
  if (tail && last == 0) return;
  u32 full_last = tail ? last - 1 : last;
  if (first <= full_last) with(first, full_last, 0, unit - 1);
  if (tail) with(last, last, 0, b);
}

constexpr std::pair<u32, u8> kShortEscapes[] = {{'"', '"'}, {'\\', '\\'}, {8, 'b'}, {12, 'f'}, {10, 'n'}, {13, 'r'}, {9, 't'}};

}  // namespace

Term Terms::from_sequences(std::vector<ByteRanges>& sequences) {
  std::vector<Term> alternatives;
  for (size_t i = 0; i < sequences.size();) {
    auto first = sequences[i][0];
    std::vector<ByteRanges> tails;
    bool ends = false;
    for (; i < sequences.size() && sequences[i][0] == first; ++i) {
      if (sequences[i].size() == 1) ends = true;
      else tails.emplace_back(sequences[i].begin() + 1, sequences[i].end());
    }
    ByteSet set;
    set.add_range(first.first, first.second);
    Term head = bytes(set);
    if (ends) alternatives.push_back(head);
    if (!tails.empty()) alternatives.push_back(cat(head, from_sequences(tails)));
  }
  return alt(std::move(alternatives));
}

Term Terms::from_sets(const std::vector<std::vector<ByteSet>>& sequences) {
  std::vector<Term> alternatives;
  for (auto& sequence : sequences) {
    Term t = kEpsilon;
    for (auto it = sequence.rbegin(); it != sequence.rend(); ++it) t = cat(bytes(*it), t);
    alternatives.push_back(t);
  }
  return alt(std::move(alternatives));
}

Term Terms::escaped(std::span<const Range> ranges, Encoding encoding) {
  std::vector<Term> alternatives;
  for (auto [c, letter] : kShortEscapes)
    if (has(ranges, c)) alternatives.push_back(literal(std::string{'\\', static_cast<char>(letter)}));
  if (encoding == Encoding::Json) {
    for (u32 c = 0; c < 0x20; ++c)
      if (has(ranges, c) && std::none_of(std::begin(kShortEscapes), std::end(kShortEscapes), [&](auto e) { return e.first == c; })) {
        constexpr char digits[] = "0123456789abcdef";
        alternatives.push_back(literal(std::string("\\u00") + digits[c >> 4] + digits[c & 15]));
      }
    return alt(std::move(alternatives));
  }
  if (has(ranges, '/')) alternatives.push_back(literal("\\/"));
  const Term u = literal("\\u");
  std::vector<std::vector<ByteSet>> basic;
  std::vector<ByteSet> prefix;
  for (auto [lo, hi] : clip(ranges, 0, 0xFFFF)) hex_parts(lo, hi, 4, prefix, basic);
  if (!basic.empty()) alternatives.push_back(cat(u, from_sets(basic)));
  for (auto [lo, hi] : clip(ranges, 0x10000, 0x10FFFF)) {
    const u32 a = lo - 0x10000, b = hi - 0x10000;
    auto pair = [&](u32 high_lo, u32 high_hi, u32 low_lo, u32 low_hi) {
      std::vector<std::vector<ByteSet>> high, low;
      hex_parts(0xD800 + high_lo, 0xD800 + high_hi, 4, prefix, high);
      hex_parts(0xDC00 + low_lo, 0xDC00 + low_hi, 4, prefix, low);
      alternatives.push_back(cat(u, cat(from_sets(high), cat(u, from_sets(low)))));
    };
    u32 first = a >> 10, last = b >> 10, low = a & 0x3FF, high = b & 0x3FF;
    if (first == last) {
      pair(first, last, low, high);
      continue;
    }
    if (low != 0) pair(first++, a >> 10, low, 0x3FF);
    const bool tail = high != 0x3FF;
    if (first + (tail ? 1 : 0) <= last) pair(first, tail ? last - 1 : last, 0, 0x3FF);
    if (tail) pair(last, last, 0, high);
  }
  return alt(std::move(alternatives));
}

Term Terms::character(std::span<const Range> ranges, Encoding encoding) {
  const Range whole[] = {{0, 0xD7FF}, {0xE000, 0x10FFFF}};
  std::vector<Range> raw;
  for (auto s : whole)
    for (auto r : clip(ranges, s.first, s.second)) raw.push_back(r);
  std::sort(raw.begin(), raw.end());
  const bool universal = std::equal(raw.begin(), raw.end(), std::begin(whole), std::end(whole));
  std::vector<Range> plain = raw;
  if (encoding != Encoding::Raw) {
    plain.clear();
    const Range allowed[] = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0xD7FF}, {0xE000, 0x10FFFF}};
    for (auto s : allowed)
      for (auto r : clip(raw, s.first, s.second)) plain.push_back(r);
    std::sort(plain.begin(), plain.end());
  }
  std::vector<ByteRanges> sequences;
  const Range widths[] = {{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xFFFF}, {0x10000, 0x10FFFF}};
  for (int n = 1; n <= 4; ++n)
    for (auto [lo, hi] : clip(plain, widths[n - 1].first, widths[n - 1].second)) split_utf8(lo, hi, n, sequences);
  std::sort(sequences.begin(), sequences.end());
  Term t = from_sequences(sequences);
  if (encoding != Encoding::Raw) t = alt(t, escaped(raw, encoding));
  if (t == kEmpty) return t;
  Node& n = nodes_[t];
  const u8 bit = static_cast<u8>(1u << static_cast<u8>(encoding));
  const u8 bits = encoding == Encoding::Json ? static_cast<u8>(bit | 0b100) : bit;
  n.chars |= bits;
  n.is_char |= bits;
  if (universal) n.universal |= bit;
  return t;
}

Term Terms::any_text(Encoding encoding) {
  Term& known = any_text_[static_cast<size_t>(encoding)];
  if (known == kNone) {
    const Range whole[] = {{0, 0xD7FF}, {0xE000, 0x10FFFF}};
    known = repeat(character(whole, encoding), 0, kUnbounded);
  }
  return known;
}

Term Terms::spelled(std::string_view text, Encoding encoding) {
  std::vector<Term> parts;
  std::string run;
  if (encoding == Encoding::Raw) return literal(text);
  for (size_t i = 0; i < text.size();) {
    u8 lead = static_cast<u8>(text[i]);
    size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    u32 c = n == 1 ? lead : lead & (0xFF >> (n + 1));
    for (size_t k = 1; k < n && i + k < text.size(); ++k) c = c << 6 | (static_cast<u8>(text[i + k]) & 0x3F);
    if (encoding == Encoding::JsonAny || c < 0x20 || c == '"' || c == '\\') {
      if (!run.empty()) parts.push_back(literal(run));
      run.clear();
      const Range one[] = {{c, c}};
      parts.push_back(character(one, encoding));
    } else {
      run.append(text.substr(i, n));
    }
    i += n;
  }
  Term t = run.empty() ? kEpsilon : literal(run);
  for (; !parts.empty(); parts.pop_back()) t = cat(parts.back(), t);
  return t;
}

}  // namespace constrain
