// Constructors of terms: interning and normal forms.
#include "terms.hpp"

#include <algorithm>
#include <unordered_map>

namespace constrain {

namespace {

constexpr u8 kAllEncodings = 0b111;

u64 power_mod(u32 exponent, u64 m) {
  u64 r = 1 % m;
  for (u32 i = 0; i < exponent; ++i) r = mulmod(r, 10 % m, m);
  return r;
}

// A lower bound of the digits that must follow `rest` to make a multiple of `coefficient`, up to `scale` of them behind
// the point: m digits add any x < 10^m to rest * 10^m, and zeros behind the point at most take away factors of ten. It
// is what leads the search for a multiple straight to one.
u32 digits_needed(u64 coefficient, u64 rest, u32 scale) {
  for (u64 prime : {u64{2}, u64{5}})
    for (u32 i = 0; i < scale && coefficient % prime == 0; ++i) coefficient /= prime;
  u128 ten = 1;
  u64 here = rest % coefficient;
  for (u32 count = 1;; ++count) {
    ten *= 10;
    here = mulmod(here, 10 % coefficient, coefficient);
    if ((here == 0 ? 0 : coefficient - here) < ten) return count;
  }
}

// Bits of the encodings in which every byte string over `set` is a sequence of whole characters.
u8 encodings_of_bytes(const ByteSet& set) {
  if (set.word[2] | set.word[3]) return 0;
  bool special = (set.word[0] & 0xFFFFFFFFull) || set.has('"') || set.has('\\');
  return special ? 0b001 : kAllEncodings;
}

// The same for one text, which is well-formed UTF-8 from its first lead byte on; escapes count as none, which is safe.
u8 encodings_of_text(std::string_view text) {
  if (!text.empty() && (static_cast<u8>(text[0]) & 0xC0) == 0x80) return 0;
  bool special = std::any_of(text.begin(), text.end(),
                             [](char c) { return static_cast<u8>(c) < 0x20 || c == '"' || c == '\\'; });
  return special ? 0b001 : kAllEncodings;
}

}  // namespace

Terms::Terms(const ByteSet& alphabet, const Limits& limits) : alphabet_(alphabet), limits_(limits) {
  nodes_.reserve(256);
  intern(Kind::Empty, 0, 0, 0, 0, 1, false);
  intern(Kind::Epsilon, 0, 0, 0, 0, 2, true);
}

size_t Terms::memory() const {
  return nodes_.size() * sizeof(Node) + (pool_.size() + rows_.size()) * 4 + (sets_.size() + lives_.size()) * 32 +
         partitions_.size() * sizeof(Partition) + table_.bytes() + products_.bytes() + cats_.bytes();
}

// ---------------------------------------------------------------- interning

Term Terms::intern(Kind kind, u32 a, u32 b, u32 c, u32 d, u64 hash, bool nullable) {
  if (nodes_.size() >= limits_.terms) throw LimitError("terms", "the grammar needs too many regular terms");
  Node n{kind, nullable, true, Life::Unknown, 0, 0, 0, a, b, c, d, kNone, kNone, kNone, 0, 0, hash};
  switch (kind) {
    case Kind::Empty:
      n.plain = false;
      n.life = Life::Dead;
      n.chars = kAllEncodings;
      break;
    case Kind::Epsilon:
      n.chars = kAllEncodings;
      break;
    case Kind::Bytes:
      n.min_bytes = n.max_bytes = 1;
      n.chars = encodings_of_bytes(sets_[a]);
      break;
    case Kind::Cat: {
      const Node &x = nodes_[a], &y = nodes_[b];
      n.plain = x.plain && y.plain;
      n.chars = x.chars & y.chars;
      n.min_bytes = saturating_add(x.min_bytes, y.min_bytes);
      n.max_bytes = saturating_add(x.max_bytes, y.max_bytes);
      break;
    }
    case Kind::Alt:
      n.chars = kAllEncodings;
      n.min_bytes = kUnbounded;
      for (u32 i = 0; i < b; ++i) {
        const Node& x = nodes_[pool_[a + i]];
        n.plain = n.plain && x.plain;
        n.chars &= x.chars;
        n.min_bytes = std::min(n.min_bytes, x.min_bytes);
        n.max_bytes = std::max(n.max_bytes, x.max_bytes);
      }
      break;
    case Kind::And:
      n.plain = false;
      n.max_bytes = kUnbounded;
      for (u32 i = 0; i < b; ++i) {
        const Node& x = nodes_[pool_[a + i]];
        n.chars |= x.chars;
        n.min_bytes = std::max(n.min_bytes, x.min_bytes);
        n.max_bytes = std::min(n.max_bytes, x.max_bytes);
      }
      if (n.min_bytes > n.max_bytes) n.life = Life::Dead;
      break;
    case Kind::Not:
      n.plain = false;
      n.max_bytes = kUnbounded;
      break;
    case Kind::Repeat: {
      const Node& x = nodes_[a];
      n.plain = x.plain;
      n.chars = x.chars;
      n.min_bytes = saturating_mul(x.min_bytes, b);
      n.max_bytes = saturating_mul(x.max_bytes, c);
      break;
    }
    case Kind::Literals: {
      const auto& texts = literal_sets_[a].texts;
      n.min_bytes = kUnbounded;
      n.chars = kAllEncodings;
      for (u32 i = b; i < c; ++i) {
        n.chars &= encodings_of_text(std::string_view(texts[i]).substr(d));
        u32 length = static_cast<u32>(texts[i].size()) - d;
        n.min_bytes = std::min(n.min_bytes, length);
        n.max_bytes = std::max(n.max_bytes, length);
      }
      break;
    }
    case Kind::Decimal:
      n.plain = (alphabet_.word[0] >> 48 & 0x3FF) == 0x3FF;
      n.min_bytes = nullable ? 0 : digits_needed(decimals_[a][0], decimals_[a][1], c < 2 ? b : b - (c - 2));
      n.max_bytes = kUnbounded;
      n.chars = kAllEncodings;
      break;
  }
  if (kind != Kind::Empty && n.life == Life::Unknown && (n.plain || nullable)) n.life = Life::Alive;
  Term id = static_cast<Term>(nodes_.size());
  nodes_.push_back(n);
  table_.insert(hash, id);
  return id;
}

Term Terms::nary(Kind kind, std::vector<Term>& items) {
  u64 h = mix(static_cast<u64>(kind), items.size());
  // The order of children is by id, which differs between arenas: the structural hash must not depend on it.
  u64 sum = 0;
  for (Term t : items) sum += mix(nodes_[t].hash, 77);
  h = mix(h, sum);
  Term found = table_.find(h, [&](Term t) {
    const Node& n = nodes_[t];
    return n.kind == kind && n.b == items.size() && std::equal(items.begin(), items.end(), pool_.begin() + n.a);
  });
  if (found != kNone) return found;
  bool nullable = kind == Kind::And;
  for (Term t : items) nullable = kind == Kind::And ? nullable && nodes_[t].nullable : nullable || nodes_[t].nullable;
  u32 at = static_cast<u32>(pool_.size());
  pool_.insert(pool_.end(), items.begin(), items.end());
  return intern(kind, at, static_cast<u32>(items.size()), 0, 0, h, nullable);
}

// ---------------------------------------------------------------- constructors

Term Terms::bytes(const ByteSet& wanted) {
  ByteSet set = wanted & alphabet_;
  if (set.empty()) return kEmpty;
  u64 h = hash_bytes(&set, sizeof set, 3);
  Term found = table_.find(h, [&](Term t) { return nodes_[t].kind == Kind::Bytes && sets_[nodes_[t].a] == set; });
  if (found != kNone) return found;
  sets_.push_back(set);
  return intern(Kind::Bytes, static_cast<u32>(sets_.size() - 1), 0, 0, 0, h, false);
}

Term Terms::literal(std::string_view text) {
  std::vector<std::string> one;
  one.emplace_back(text);
  return literals(std::move(one));
}

Term Terms::literals(std::vector<std::string> texts) {
  std::erase_if(texts, [&](const std::string& s) {
    return std::any_of(s.begin(), s.end(), [&](char c) { return !alphabet_.has(static_cast<u8>(c)); });
  });
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  if (texts.empty()) return kEmpty;
  u64 h = 5;
  for (auto& s : texts) h = hash_bytes(s.data(), s.size(), h);
  u32 set = literal_table_.find(h, [&](u32 i) { return literal_sets_[i].texts == texts; });
  if (set == kNone) {
    set = static_cast<u32>(literal_sets_.size());
    literal_sets_.push_back({std::move(texts)});
    literal_table_.insert(h, set);
  }
  return literal_range(set, 0, static_cast<u32>(literal_sets_[set].texts.size()), 0);
}

Term Terms::literal_range(u32 set, u32 lo, u32 hi, u32 depth) {
  const auto& texts = literal_sets_[set].texts;
  if (lo >= hi) return kEmpty;
  const bool nullable = texts[lo].size() == depth;  // sorted: the shortest of a common prefix comes first
  u64 h = 7;
  for (u32 i = lo; i < hi; ++i) h = hash_bytes(texts[i].data() + depth, texts[i].size() - depth, h);
  if (hi - lo == 1) {
    if (nullable) return kEpsilon;
    if (texts[lo].size() == depth + 1) {
      ByteSet one;
      one.add(static_cast<u8>(texts[lo][depth]));
      return bytes(one);
    }
  }
  Term found = table_.find(h, [&](Term t) {
    const Node& n = nodes_[t];
    if (n.kind != Kind::Literals || n.c - n.b != hi - lo) return false;
    for (u32 i = 0; i < hi - lo; ++i)
      if (std::string_view(literal_sets_[n.a].texts[n.b + i]).substr(n.d) !=
          std::string_view(texts[lo + i]).substr(depth))
        return false;
    return true;
  });
  if (found != kNone) return found;
  Term t = intern(Kind::Literals, set, lo, hi, depth, h, nullable);
  return t;
}

Term Terms::cat(Term a, Term b) {
  if (a == kEmpty || b == kEmpty) return kEmpty;
  if (a == kEpsilon) return b;
  if (b == kEpsilon) return a;
  if (nodes_[a].kind == Kind::Cat) {
    std::vector<Term> heads;
    while (nodes_[a].kind == Kind::Cat) {
      heads.push_back(nodes_[a].a);
      a = nodes_[a].b;
    }
    Term r = cat(a, b);
    for (; !heads.empty(); heads.pop_back()) r = cat(heads.back(), r);
    return r;
  }
  if (u32 known = cats_.get(a, b); known != kNone) return known;
  Term r;
  const Node &x = nodes_[a], &y = nodes_[b];
  const bool a_star = x.kind == Kind::Repeat && x.b == 0 && x.c == kUnbounded;
  const Term head = y.kind == Kind::Cat ? y.a : b;
  if (a_star && head == a) {
    r = b;  // X* X* rest = X* rest
  } else {
    u64 h = mix(mix(11, x.hash), y.hash);
    r = table_.find(h, [&](Term t) {
      const Node& n = nodes_[t];
      return n.kind == Kind::Cat && n.a == a && n.b == b;
    });
    if (r == kNone) r = intern(Kind::Cat, a, b, 0, 0, h, x.nullable && y.nullable);
  }
  cats_.put(a, b, r);
  return r;
}

Term Terms::alt(std::vector<Term> items) {
  std::vector<Term> flat;
  flat.reserve(items.size());
  for (Term t : items) {
    if (t == kEmpty) continue;
    if (nodes_[t].kind == Kind::Alt) {
      auto c = children(t);
      flat.insert(flat.end(), c.begin(), c.end());
    } else {
      flat.push_back(t);
    }
  }
  auto tidy = [&] {
    std::sort(flat.begin(), flat.end());
    flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  };
  tidy();
  if (flat.size() > 1) {
    absorb(flat);
    factor(flat);
    tidy();
    if (flat.size() > 1 && flat[0] == kEpsilon &&
        std::any_of(flat.begin() + 1, flat.end(), [&](Term t) { return nodes_[t].nullable; }))
      flat.erase(flat.begin());
  }
  if (flat.empty()) return kEmpty;
  if (flat.size() == 1) return flat[0];
  return nary(Kind::Alt, flat);
}

// X | Σ*T → Σ*T for X ⊆ Σ*T, before heads are factored; without it unanchored patterns never meet the string body again.
void Terms::absorb(std::vector<Term>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    const Node& n = nodes_[items[i]];
    const Term star = n.kind == Kind::Cat ? n.a : items[i];
    const Node& s = nodes_[star];
    if (s.kind != Kind::Repeat || s.b != 0 || s.c != kUnbounded || !nodes_[s.a].universal) continue;
    const Term whole = items[i];
    const u8 bit = nodes_[s.a].universal;
    const Term tail = n.kind == Kind::Cat ? n.b : kEpsilon;
    std::erase_if(items, [&](Term t) {
      return t != whole && (ends_in(t, whole, bit) || ends_in(t, tail, bit));
    });
    i = static_cast<size_t>(std::find(items.begin(), items.end(), whole) - items.begin());
  }
}

bool Terms::ends_in(Term t, Term tail, u8 bit) const {
  for (int steps = 0; steps < 64; ++steps) {
    if (t == tail) return true;
    const Node& n = nodes_[t];
    if (n.kind == Kind::Alt) {
      for (u32 i = 0; i < n.b; ++i)
        if (!ends_in(pool_[n.a + i], tail, bit)) return false;
      return true;
    }
    if (n.kind == Kind::And) {
      for (u32 i = 0; i < n.b; ++i)
        if (ends_in(pool_[n.a + i], tail, bit)) return true;
      return tail == kEpsilon && (n.chars & bit);
    }
    if (n.kind != Kind::Cat) return tail == kEpsilon && (n.chars & bit);
    if (!(nodes_[n.a].chars & bit)) return false;
    t = n.b;
  }
  return false;
}

void Terms::factor(std::vector<Term>& items) {
  // Byte sets before the same rest become one set; then the same head before several rests is written once.
  std::unordered_map<Term, ByteSet> by_tail;
  std::unordered_map<Term, std::vector<Term>> by_head;
  std::vector<Term> out;
  std::vector<std::pair<Term, Term>> order_tail, order_head;
  for (Term t : items) {
    const Node& n = nodes_[t];
    if (n.kind == Kind::Bytes || (n.kind == Kind::Cat && nodes_[n.a].kind == Kind::Bytes)) {
      Term tail = n.kind == Kind::Bytes ? kEpsilon : n.b;
      const ByteSet& set = sets_[n.kind == Kind::Bytes ? n.a : nodes_[n.a].a];
      auto [it, fresh] = by_tail.try_emplace(tail);
      if (fresh) order_tail.push_back({tail, 0});
      it->second = it->second | set;
    } else {
      out.push_back(t);
    }
  }
  for (auto& [tail, unused] : order_tail) out.push_back(cat(bytes(by_tail[tail]), tail));
  items.clear();
  for (Term t : out) {
    const Node& n = nodes_[t];
    Term head = n.kind == Kind::Cat ? n.a : t;
    Term tail = n.kind == Kind::Cat ? n.b : kEpsilon;
    auto [it, fresh] = by_head.try_emplace(head);
    if (fresh) order_head.push_back({head, 0});
    it->second.push_back(tail);
  }
  for (auto& [head, unused] : order_head) {
    auto& tails = by_head[head];
    items.push_back(tails.size() == 1 ? cat(head, tails[0]) : cat(head, alt(tails)));
  }
}

Term Terms::conj(std::vector<Term> items) {
  std::vector<Term> flat;
  for (Term t : items) {
    if (t == kEmpty) return kEmpty;
    if (nodes_[t].kind == Kind::And) {
      auto c = children(t);
      flat.insert(flat.end(), c.begin(), c.end());
    } else if (!(nodes_[t].kind == Kind::Not && nodes_[t].a == kEmpty)) {
      flat.push_back(t);
    }
  }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return complement(kEmpty);
  if (flat.size() == 1) return flat[0];
  // Σ* beside something that is made of whole characters anyway
  std::vector<Term> kept;
  for (Term t : flat) {
    const Node& n = nodes_[t];
    bool star = n.kind == Kind::Repeat && n.b == 0 && n.c == kUnbounded && nodes_[n.a].universal;
    bool implied = star && std::any_of(flat.begin(), flat.end(), [&](Term o) {
                     return o != t && (nodes_[o].chars & nodes_[n.a].universal);
                   });
    if (!implied) kept.push_back(t);
  }
  if (kept.empty()) kept.push_back(flat[0]);
  flat = std::move(kept);
  // windows over the same item
  for (size_t i = 0; i < flat.size(); ++i)
    for (size_t j = i + 1; j < flat.size();) {
      const Node x = nodes_[flat[i]], y = nodes_[flat[j]];
      if (x.kind == Kind::Repeat && y.kind == Kind::Repeat && x.a == y.a && nodes_[x.a].is_char) {
        u32 lo = std::max(x.b, y.b), hi = std::min(x.c, y.c);
        if (lo > hi) return kEmpty;
        flat[i] = repeat(x.a, lo, hi);
        flat.erase(flat.begin() + static_cast<long>(j));
      } else {
        ++j;
      }
    }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.size() == 1) return flat[0];
  for (Term t : flat) {
    const Node n = nodes_[t];
    auto rest_matches = [&](std::string_view text) {
      return std::all_of(flat.begin(), flat.end(), [&](Term o) { return o == t || matches(o, text); });
    };
    if (t == kEpsilon) return rest_matches("") ? kEpsilon : kEmpty;
    if (n.kind == Kind::Bytes) {
      ByteSet kept_bytes;
      const ByteSet set = sets_[n.a];
      set.each([&](u8 b) {
        char c = static_cast<char>(b);
        if (rest_matches({&c, 1})) kept_bytes.add(b);
      });
      return bytes(kept_bytes);
    }
    if (n.kind == Kind::Literals && n.c - n.b <= 64) {
      std::vector<std::string> texts;
      for (u32 i = n.b; i < n.c; ++i) texts.push_back(literal_sets_[n.a].texts[i].substr(n.d));
      std::erase_if(texts, [&](const std::string& s) { return !rest_matches(s); });
      return literals(std::move(texts));
    }
    if (n.kind == Kind::Not && std::find(flat.begin(), flat.end(), n.a) != flat.end()) return kEmpty;
  }
  return nary(Kind::And, flat);
}

Term Terms::complement(Term a) {
  if (nodes_[a].kind == Kind::Not) return nodes_[a].a;
  u64 h = mix(13, nodes_[a].hash);
  Term found = table_.find(h, [&](Term t) { return nodes_[t].kind == Kind::Not && nodes_[t].a == a; });
  return found != kNone ? found : intern(Kind::Not, a, 0, 0, 0, h, !nodes_[a].nullable);
}

Term Terms::repeat(Term a, u32 min, u32 max) {
  if (min > max) return kEmpty;
  if (max == 0) return kEpsilon;
  if (a == kEmpty) return min == 0 ? kEpsilon : kEmpty;
  if (a == kEpsilon) return kEpsilon;
  const Node n = nodes_[a];
  if (n.nullable) min = 0;
  if (n.kind == Kind::Alt && pool_[n.a] == kEpsilon) {
    std::vector<Term> rest(pool_.begin() + n.a + 1, pool_.begin() + n.a + n.b);
    return repeat(alt(std::move(rest)), 0, max);
  }
  if (min == 1 && max == 1) return a;
  if (n.kind == Kind::Repeat && n.b == 0 && n.c == kUnbounded) return a;
  if (n.kind == Kind::Repeat && n.b <= 1 && min == 0 && max == kUnbounded) return repeat(n.a, 0, kUnbounded);
  u64 h = mix(mix(mix(17, n.hash), min), max);
  Term found = table_.find(h, [&](Term t) {
    const Node& o = nodes_[t];
    return o.kind == Kind::Repeat && o.a == a && o.b == min && o.c == max;
  });
  return found != kNone ? found : intern(Kind::Repeat, a, min, max, 0, h, min == 0);
}

// phase: 0 nothing read, 1 in the integer digits, 2+i after the point with i digits read
Term Terms::decimal(u64 coefficient, u32 scale) { return decimal_state(coefficient, scale, 0, 0); }

Term Terms::decimal_state(u64 coefficient, u32 scale, u64 rest, u32 phase) {
  bool nullable = false;
  if (phase >= 2) {
    const u32 read = phase - 2, left = scale > read ? scale - read : 0;
    const u64 ten = power_mod(left, coefficient);
    const u64 here = mulmod(rest, ten, coefficient);
    const u64 needed = here == 0 ? 0 : coefficient - here;
    u128 reach = 1;
    for (u32 i = 0; i < left && reach <= needed; ++i) reach *= 10;
    if (reach <= needed) return kEmpty;  // no digits that are left can make it a multiple
    if (left == 0 && read > 0) {
      ByteSet zero;
      zero.add('0');
      return repeat(bytes(zero), 0, kUnbounded);
    }
    nullable = read > 0 && here == 0;
  } else if (phase == 1) {
    nullable = mulmod(rest, power_mod(scale, coefficient), coefficient) == 0;
  }
  u64 h = mix(mix(mix(mix(19, coefficient), scale), rest), phase);
  Term found = table_.find(h, [&](Term t) {
    const Node& n = nodes_[t];
    return n.kind == Kind::Decimal && n.b == scale && n.c == phase &&
           decimals_[n.a] == std::array<u64, 2>{coefficient, rest};
  });
  if (found != kNone) return found;
  decimals_.push_back({coefficient, rest});
  return intern(Kind::Decimal, static_cast<u32>(decimals_.size() - 1), scale, phase, 0, h, nullable);
}

Term Terms::adopt(const Terms& other, Term t) {
  std::vector<Term> known(other.nodes_.size(), kNone);
  return adopt(other, t, known);
}

Term Terms::adopt(const Terms& other, Term t, std::vector<Term>& known) {
  if (known[t] != kNone) return known[t];
  const Node& n = other.nodes_[t];
  Term made = t;  // Empty and Epsilon have the same id everywhere
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
      break;
    case Kind::Bytes:
      made = bytes(other.sets_[n.a]);
      break;
    case Kind::Cat: {
      const Term head = adopt(other, n.a, known);
      made = cat(head, adopt(other, n.b, known));
      break;
    }
    case Kind::Alt:
    case Kind::And: {
      std::vector<Term> parts;
      for (u32 i = 0; i < n.b; ++i) parts.push_back(adopt(other, other.pool_[n.a + i], known));
      std::sort(parts.begin(), parts.end());
      made = nary(n.kind, parts);  // normal there, so normal here
      break;
    }
    case Kind::Not:
      made = complement(adopt(other, n.a, known));
      break;
    case Kind::Repeat:
      made = repeat(adopt(other, n.a, known), n.b, n.c);
      break;
    case Kind::Literals: {
      std::vector<std::string> texts;
      for (u32 i = n.b; i < n.c; ++i) texts.push_back(other.literal_sets_[n.a].texts[i].substr(n.d));
      made = literals(std::move(texts));
      break;
    }
    case Kind::Decimal:
      made = decimal_state(other.decimals_[n.a][0], n.b, other.decimals_[n.a][1], n.c);
      break;
  }
  Node& m = nodes_[made];
  m.chars |= n.chars;
  m.is_char |= n.is_char;
  m.universal |= n.universal;
  if (m.life == Life::Unknown) m.life = n.life;
  if (m.shortest == kNone) m.shortest = n.shortest;
  return known[t] = made;
}

}  // namespace constrain
