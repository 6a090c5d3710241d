// Byte classes, derivatives, and what can be asked of a term: is anything left, what is the shortest, how many are there.
//
// Source: Brzozowski 1964; best-first search for emptiness and A* for shortest texts, both guided by the fewest bytes that
// a term can still need.
#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "terms.hpp"

namespace constrain {

// ---------------------------------------------------------------- byte classes

u32 Terms::intern_partition(Partition&& p) {
  u64 h = hash_bytes(p.of.data(), 256, 23);
  u32 found = partition_table_.find(h, [&](u32 i) { return partitions_[i].of == p.of; });
  if (found != kNone) return found;
  std::array<bool, 256> have{};
  for (int b = 0; b < 256; ++b)
    if (!have[p.of[b]] || (alphabet_.has(static_cast<u8>(b)) && !alphabet_.has(p.sample[p.of[b]]))) {
      have[p.of[b]] = true;
      p.sample[p.of[b]] = static_cast<u8>(b);
    }
  u32 id = static_cast<u32>(partitions_.size());
  partitions_.push_back(std::move(p));
  partition_table_.insert(h, id);
  return id;
}

u32 Terms::product(u32 p, u32 q) {
  if (p == q) return p;
  if (p > q) std::swap(p, q);
  if (u32 known = products_.get(p, q); known != kNone) return known;
  Partition r;
  r.count = 0;
  std::unordered_map<u32, u8> seen;
  for (int b = 0; b < 256; ++b) {
    u32 key = u32{partitions_[p].of[b]} << 8 | partitions_[q].of[b];
    auto [it, fresh] = seen.try_emplace(key, static_cast<u8>(r.count));
    if (fresh) ++r.count;
    r.of[b] = it->second;
  }
  u32 id = intern_partition(std::move(r));
  products_.put(p, q, id);
  return id;
}

u32 Terms::classes(Term t) {
  if (nodes_[t].classes != kNone) return nodes_[t].classes;
  u32 id = kNone;
  const Node n = nodes_[t];
  auto from_sets_of_bytes = [&](auto&& class_of) {
    Partition p;
    std::unordered_map<u32, u8> seen;
    p.count = 0;
    for (int b = 0; b < 256; ++b) {
      auto [it, fresh] = seen.try_emplace(class_of(static_cast<u8>(b)), static_cast<u8>(p.count));
      if (fresh) ++p.count;
      p.of[b] = it->second;
    }
    return intern_partition(std::move(p));
  };
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
      id = from_sets_of_bytes([](u8) { return 0u; });
      break;
    case Kind::Bytes: {
      const ByteSet set = sets_[n.a];
      id = from_sets_of_bytes([&](u8 b) { return set.has(b) ? 1u : 0u; });
      break;
    }
    case Kind::Cat: {
      id = classes(n.a);
      // a long chain of nullable heads must not recurse
      Term head = n.a, rest = n.b;
      while (nodes_[head].nullable) {
        bool more = nodes_[rest].kind == Kind::Cat;
        head = more ? nodes_[rest].a : rest;
        id = product(id, classes(head));
        if (!more) break;
        rest = nodes_[rest].b;
      }
      break;
    }
    case Kind::Alt:
    case Kind::And:
      id = classes(pool_[n.a]);
      for (u32 i = 1; i < n.b; ++i) id = product(id, classes(pool_[n.a + i]));
      break;
    case Kind::Not:
    case Kind::Repeat:
      id = classes(n.a);
      break;
    case Kind::Literals: {
      std::array<u32, 256> own{};
      for (u32 i = n.b; i < n.c; ++i) {
        const auto& s = literal_sets_[n.a].texts[i];
        if (s.size() > n.d) own[static_cast<u8>(s[n.d])] = 1u + static_cast<u8>(s[n.d]);
      }
      id = from_sets_of_bytes([&](u8 b) { return own[b]; });
      break;
    }
    case Kind::Decimal:
      id = from_sets_of_bytes([](u8 b) { return (b >= '0' && b <= '9') || b == '.' ? 1u + b : 0u; });
      break;
  }
  nodes_[t].classes = id;
  return id;
}

// ---------------------------------------------------------------- derivatives

Term Terms::derive(Term t, u8 byte) {
  if (!alphabet_.has(byte)) return kEmpty;
  u32 p = classes(t);
  u32 c = partitions_[p].of[byte];
  u32 row = nodes_[t].row;
  if (row == kNone) {
    row = static_cast<u32>(rows_.size());
    rows_.resize(rows_.size() + partitions_[p].count, kNone);
    nodes_[t].row = row;
  }
  if (rows_[row + c] != kNone) return rows_[row + c];
  deadline.check();
  Term d = derive_uncached(t, byte);
  rows_[row + c] = d;
  return d;
}

Term Terms::derive_uncached(Term t, u8 byte) {
  const Node n = nodes_[t];
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
      return kEmpty;
    case Kind::Bytes:
      return sets_[n.a].has(byte) ? kEpsilon : kEmpty;
    case Kind::Cat: {
      if (!nodes_[n.a].nullable) return cat(derive(n.a, byte), n.b);
      std::vector<Term> parts{cat(derive(n.a, byte), n.b)};
      Term rest = n.b;
      for (;;) {  // as in classes(): nullable heads one after the other
        if (nodes_[rest].kind != Kind::Cat) {
          parts.push_back(derive(rest, byte));
          break;
        }
        Term head = nodes_[rest].a, tail = nodes_[rest].b;
        parts.push_back(cat(derive(head, byte), tail));
        if (!nodes_[head].nullable) break;
        rest = tail;
      }
      return alt(std::move(parts));
    }
    case Kind::Alt:
    case Kind::And: {
      std::vector<Term> parts;
      parts.reserve(n.b);
      for (u32 i = 0; i < n.b; ++i) {
        parts.push_back(derive(pool_[n.a + i], byte));
        if (n.kind == Kind::And && parts.back() == kEmpty) return kEmpty;
      }
      return n.kind == Kind::Alt ? alt(std::move(parts)) : conj(std::move(parts));
    }
    case Kind::Not:
      return complement(derive(n.a, byte));
    case Kind::Repeat:
      return cat(derive(n.a, byte), repeat(n.a, n.b ? n.b - 1 : 0, n.c == kUnbounded ? n.c : n.c - 1));
    case Kind::Literals: {
      const auto& texts = literal_sets_[n.a].texts;
      auto byte_at = [&](u32 i) { return texts[i].size() > n.d ? int{static_cast<u8>(texts[i][n.d])} : -1; };
      auto bound = [&](int b) {
        u32 lo = n.b, hi = n.c;
        while (lo < hi) {
          u32 mid = lo + (hi - lo) / 2;
          if (byte_at(mid) < b) lo = mid + 1;
          else hi = mid;
        }
        return lo;
      };
      return literal_range(n.a, bound(byte), bound(byte + 1), n.d + 1);
    }
    case Kind::Decimal: {
      auto [coefficient, rest] = decimals_[n.a];
      if (byte == '.') return n.c == 1 ? decimal_state(coefficient, n.b, rest, 2) : kEmpty;
      if (byte < '0' || byte > '9') return kEmpty;
      u64 r = (mulmod(rest, 10 % coefficient, coefficient) + (byte - '0') % coefficient) % coefficient;
      if (n.c < 2) return decimal_state(coefficient, n.b, r, 1);
      if (n.c - 2 >= n.b) {  // beyond the scale only zeros
        if (byte != '0' || rest != 0) return kEmpty;
        ByteSet zero;
        zero.add('0');
        return repeat(bytes(zero), 0, kUnbounded);
      }
      return decimal_state(coefficient, n.b, r, n.c + 1);
    }
  }
  return kEmpty;
}

// ---------------------------------------------------------------- questions

bool Terms::decide_life(Term t) {
  const Node n = nodes_[t];
  auto settle = [&](bool alive) {
    nodes_[t].life = alive ? Life::Alive : Life::Dead;
    return alive;
  };
  if (n.kind == Kind::Cat) {
    for (Term rest = t;;) {
      const Node c = nodes_[rest];
      if (c.kind != Kind::Cat) return settle(alive(rest));
      if (!alive(c.a)) return settle(false);
      rest = c.b;
    }
  }
  if (n.kind == Kind::Alt) {
    for (u32 i = 0; i < n.b; ++i)
      if (alive(pool_[n.a + i])) return settle(true);
    return settle(false);
  }
  if (n.kind == Kind::Repeat) return settle(alive(n.a));
  // And, Not, Decimal over a poor alphabet: best-first search for a nullable derivative, shortest rest first
  struct Item {
    u32 cost, index;
    bool operator<(const Item& o) const { return cost != o.cost ? cost > o.cost : index > o.index; }
  };
  std::priority_queue<Item> queue;
  std::vector<std::pair<Term, u32>> visited{{t, kNone}};
  std::unordered_set<Term> known{t};
  queue.push({n.min_bytes, 0});
  while (!queue.empty()) {
    u32 at = queue.top().index;
    queue.pop();
    const Term here = visited[at].first;
    const u32 count = partition(here).count;
    for (u32 c = 0; c < count; ++c) {
      u8 sample = partition(here).sample[c];
      Term d = derive(here, sample);
      if (d == kEmpty || nodes_[d].life == Life::Dead) continue;
      bool found = nodes_[d].life == Life::Alive;
      if (!found && nodes_[d].kind != Kind::And && nodes_[d].kind != Kind::Not && nodes_[d].kind != Kind::Decimal) {
        found = alive(d);
        if (!found) continue;
      }
      if (found) {
        for (u32 i = at; i != kNone; i = visited[i].second) nodes_[visited[i].first].life = Life::Alive;
        return true;
      }
      if (known.insert(d).second) {
        if (known.size() > limits_.liveness)
          throw LimitError("liveness", "whether anything is left to match takes too long to decide");
        visited.push_back({d, at});
        queue.push({nodes_[d].min_bytes, static_cast<u32>(visited.size() - 1)});
      }
    }
  }
  for (auto& [term, parent] : visited) nodes_[term].life = Life::Dead;
  return false;
}

const ByteSet& Terms::live_bytes(Term t) {
  if (nodes_[t].live != kNone) return lives_[nodes_[t].live];
  ByteSet set;
  const Partition p = partition(t);
  std::array<bool, 256> live{};
  for (u32 c = 0; c < p.count; ++c) live[c] = live_derive(t, p.sample[c]) != kEmpty;
  for (int b = 0; b < 256; ++b)
    if (live[p.of[b]] && alphabet_.has(static_cast<u8>(b))) set.add(static_cast<u8>(b));
  nodes_[t].live = static_cast<u32>(lives_.size());
  lives_.push_back(set);
  return lives_.back();
}

bool Terms::matches(Term t, std::string_view text) {
  for (char c : text) {
    t = derive(t, static_cast<u8>(c));
    if (t == kEmpty) return false;
  }
  return nodes_[t].nullable;
}

u32 Terms::shortest_length(Term t) {
  if (nodes_[t].shortest == kNone) {
    const u32 length = nodes_[t].plain && nodes_[t].kind != Kind::Decimal ? nodes_[t].min_bytes
                                                                          : static_cast<u32>(shortest(t).size());
    nodes_[t].shortest = length;
  }
  return nodes_[t].shortest;
}

std::string Terms::shortest(Term t) {
  // A*: bytes written so far plus the least that can follow, which never overestimates.
  struct Item {
    u32 cost, depth, index;
    bool operator<(const Item& o) const {
      return cost != o.cost ? cost > o.cost : depth != o.depth ? depth < o.depth : index > o.index;
    }
  };
  struct Step {
    Term term;
    u32 parent;
    u8 byte;
  };
  if (nodes_[t].nullable) return {};
  if (nodes_[t].kind == Kind::Cat) {
    std::string text;
    Term rest = t;
    while (nodes_[rest].kind == Kind::Cat) {
      text += shortest(nodes_[rest].a);
      rest = nodes_[rest].b;
    }
    return text + shortest(rest);
  }
  if (nodes_[t].kind == Kind::Repeat) {
    std::string one = shortest(nodes_[t].a), text;
    for (u32 i = 0; i < nodes_[t].b; ++i) text += one;
    return text;
  }
  std::priority_queue<Item> queue;
  std::vector<Step> steps{{t, kNone, 0}};
  std::unordered_set<Term> done;
  queue.push({nodes_[t].min_bytes, 0, 0});
  while (!queue.empty()) {
    auto [cost, depth, at] = queue.top();
    queue.pop();
    const Term here = steps[at].term;
    if (nodes_[here].nullable) {
      std::string text;
      for (u32 i = at; steps[i].parent != kNone; i = steps[i].parent) text.push_back(static_cast<char>(steps[i].byte));
      std::reverse(text.begin(), text.end());
      return text;
    }
    if (!done.insert(here).second) continue;
    if (done.size() > limits_.liveness) throw LimitError("liveness", "a shortest text takes too long to find");
    const Partition p = partition(here);
    std::array<int, 256> pick;
    pick.fill(-1);
    auto rank = [](int b) {
      return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') ? 0 : b >= ' ' && b < 127 ? 1 : 2;
    };
    for (int b = 0; b < 256; ++b)
      if (alphabet_.has(static_cast<u8>(b)) && (pick[p.of[b]] < 0 || rank(b) < rank(pick[p.of[b]]))) pick[p.of[b]] = b;
    for (u32 c = 0; c < p.count; ++c) {
      if (pick[c] < 0) continue;
      Term d = live_derive(here, static_cast<u8>(pick[c]));
      if (d == kEmpty || done.contains(d)) continue;
      steps.push_back({d, at, static_cast<u8>(pick[c])});
      queue.push({saturating_add(depth + 1, nodes_[d].min_bytes), depth + 1, static_cast<u32>(steps.size() - 1)});
    }
  }
  throw LimitError("liveness", "no text is left to write");
}

u64 Terms::cardinality(Term start, u64 limit) {
  // Iterative depth-first count; meeting an open state that is alive again means infinitely many.
  struct Frame {
    Term term;
    u32 next;
    u64 total;
  };
  const u64 many = limit + 1;
  if (start == kEmpty || !alive(start)) return 0;
  std::unordered_map<Term, u64> memo;
  std::unordered_set<Term> open;
  std::vector<Frame> stack{{start, 0, nodes_[start].nullable ? u64{1} : 0}};
  open.insert(start);
  std::vector<u64> weight;
  while (true) {
    Frame& f = stack.back();
    const Partition& p = partition(f.term);
    if (f.next == p.count) {
      u64 total = std::min(f.total, many);
      memo[f.term] = total;
      open.erase(f.term);
      stack.pop_back();
      if (stack.empty()) return total;
      Frame& up = stack.back();
      const Partition& q = partition(up.term);
      u64 width = 0;
      for (int b = 0; b < 256; ++b) width += q.of[b] == up.next && alphabet_.has(static_cast<u8>(b));
      up.total = std::min(many, up.total + (total > many / width ? many : total * width));
      ++up.next;
      continue;
    }
    if (memo.size() > 20'000 || f.total >= many) return many;
    Term d = live_derive(f.term, p.sample[f.next]);
    if (d == kEmpty) {
      ++f.next;
    } else if (open.contains(d)) {
      return many;
    } else if (auto it = memo.find(d); it != memo.end()) {
      u64 width = 0;
      const Partition& q = partition(f.term);
      for (int b = 0; b < 256; ++b) width += q.of[b] == f.next && alphabet_.has(static_cast<u8>(b));
      f.total = std::min(many, f.total + (it->second > many / width ? many : it->second * width));
      ++f.next;
    } else {
      open.insert(d);
      stack.push_back({d, 0, nodes_[d].nullable ? u64{1} : 0});
    }
  }
}

}  // namespace constrain
