// Trackers: what an item must not come to be, and whether it still can be anything else.
//
// A value whose item has few texts is in a trie of texts: one more value copies the nodes on its way and shares all
// others. Any other value is a grammar of all its texts, with any blanks between tokens; these are one state, a set of
// stacks. A tracker may hold more than the item can write, as only what they have in common matters.
//
// Whether some completion of an item is none of its tracker's is a search over pairs of states, remembered by pair.
// Source: Brzozowski 1964 for the difference of two languages, state by state; Hart, Nilsson, Raphael 1968 (A*);
// Driscoll et al. 1989 (persistence by copying paths).
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "grammar.hpp"

namespace constrain {

namespace {

constexpr u32 kFewTexts = 4;         // texts of one value that are kept as such
constexpr u32 kManyTexts = kNone - 1;
constexpr u32 kStrayBytes = 8;       // bytes behind which none of the values that came can follow: these are tried

}  // namespace

u32 Automaton::intern_tracker(u32 node, State state) {
  if (node == 0 && state == kDead) return 0;
  if (u32 known = tracker_ids_.get(node, state); known != kNone) return known;
  followed_.push_back({node, state});
  tracker_ids_.put(node, state, static_cast<u32>(followed_.size() - 1));
  return static_cast<u32>(followed_.size() - 1);
}

u32 Automaton::step_tracker(u32 t, u8 byte) {
  if (t == 0) return 0;
  const Tracker f = followed_[t];
  const auto& children = text_nodes_[f.node].children;
  auto it = std::lower_bound(children.begin(), children.end(), std::pair<u8, u32>{byte, 0});
  const u32 node = it != children.end() && it->first == byte ? it->second : 0;
  return intern_tracker(node, f.state == kDead ? kDead : step(f.state, byte));
}

ByteSet Automaton::tracker_bytes(u32 t) {
  ByteSet set = legal_bytes(followed_[t].state);
  for (auto [byte, child] : text_nodes_[followed_[t].node].children) set.add(byte);
  return set;
}

// The trie of `node` and one more text: nodes on the way are copied, all others shared.
u32 Automaton::add_text(u32 node, std::string_view text) {
  TextNode copy = text_nodes_[node];
  ++copy.count;
  if (text.empty()) {
    copy.ends = true;
  } else {
    const u8 byte = static_cast<u8>(text[0]);
    auto it = std::lower_bound(copy.children.begin(), copy.children.end(), std::pair<u8, u32>{byte, 0});
    const bool known = it != copy.children.end() && it->first == byte;
    const u32 child = add_text(known ? it->second : 0, text.substr(1));
    if (known) it->second = child;
    else copy.children.insert(it, {byte, child});
  }
  text_nodes_.push_back(std::move(copy));
  return static_cast<u32>(text_nodes_.size() - 1);
}

// Which texts the item at `place` has for a value, in `text_lists_`; kManyTexts if they are more than a few.
u32 Automaton::texts_of(u32 i, u32 place, u32 value) {
  const UniquePart& part = items_[i].parts[place];
  if (u32 known = text_list_of_.get(part.id, value); known != kNone) return known;
  const Gram g = value_gram(items_[i].encoding, texts_[value], 0);
  struct Visit {
    State inner, value;
    std::string text;
  };
  std::vector<Visit> open{{expand(single({FrameKind::Gram, part.general}, item_end(i, kDone))),
                           expand(single({FrameKind::Gram, g}, kDone)), ""}};
  std::vector<std::string> found;
  size_t steps = 0;
  const size_t most = texts_[value].size() * kFewTexts * 2 + 64;
  while (!open.empty() && steps <= most && found.size() <= kFewTexts) {
    Visit v = std::move(open.back());
    open.pop_back();
    if (accepts(v.inner) && accepts(v.value)) found.push_back(v.text);
    (legal_bytes(v.inner) & legal_bytes(v.value)).each([&](u8 b) {
      ++steps;
      const State inner = step(v.inner, b), other = step(v.value, b);
      if (inner != kDead && other != kDead) open.push_back({inner, other, v.text + static_cast<char>(b)});
    });
  }
  u32 list = kManyTexts;
  if (open.empty() && found.size() <= kFewTexts) {
    list = static_cast<u32>(text_lists_.size());
    text_lists_.push_back(std::move(found));
  }
  text_list_of_.put(part.id, value, list);
  return list;
}

// All texts that the item at `place` has for the values of a chain.
u32 Automaton::tracker(u32 i, u32 place, u32 seen) {
  const u32 part = items_[i].parts[place].id;
  std::vector<u32> links;
  u32 made = 0;
  for (u32 k = seen; k != 0; k = seen_[k].parent) {
    if (u32 known = trackers_.get(part, k); known != kNone) {
      made = known;
      break;
    }
    links.push_back(k);
  }
  for (; !links.empty(); links.pop_back()) {
    const u32 value = seen_[links.back()].item, list = texts_of(i, place, value);
    Tracker t = followed_[made];
    if (list == kManyTexts) {
      const Gram g = value_gram(items_[i].encoding, texts_[value], 0);
      t.state = expand(unite(t.state, expand(single({FrameKind::Gram, g}, kDone))));
    } else {
      for (const std::string& text : text_lists_[list]) t.node = add_text(t.node, text);
    }
    made = intern_tracker(t.node, t.state);
    trackers_.put(part, links.back(), made);
  }
  return made;
}

// ---------------------------------------------------------------- differences

bool Automaton::goes_on(State inner) const {
  for (const Entry& e : entries(inner))
    if (frames_[e.frame].kind != FrameKind::ItemEnd) return true;
  return false;
}

bool Automaton::can_differ(State inner, u32 seen) {
  if (!goes_on(inner)) return false;
  if (seen == 0) return true;
  if (u32 known = differences_.get(inner, seen); known != kNone) return known;
  struct Visit {
    State inner;
    u32 seen, parent;
  };
  std::vector<Visit> visits{{inner, seen, kNone}};
  std::unordered_set<u64> met{pair_key(inner, seen)};
  std::vector<std::pair<u32, u32>> open{{0, 0}};  // where fewest texts came first: there one that did not is near
  const auto fewest = std::greater<>{};
  u32 found = kNone;
  while (!open.empty() && found == kNone) {
    std::pop_heap(open.begin(), open.end(), fewest);
    const u32 at = open.back().second;
    open.pop_back();
    const Visit v = visits[at];
    const ByteSet legal = legal_bytes(v.inner), tracked = tracker_bytes(v.seen);
    if (!((legal & tracked) == legal)) {
      found = at;
      break;
    }
    legal.each([&](u8 b) {
      if (found != kNone) return;
      const State next = step(v.inner, b);
      const u32 after = step_tracker(v.seen, b);
      if (next == kDead) return;
      const bool goes = goes_on(next);
      const u32 known = goes && after != 0 ? differences_.get(next, after) : kNone;
      if (may_end(next, after) || (after == 0 && goes) || known == 1) found = at;
      else if (goes && known == kNone && met.insert(pair_key(next, after)).second) {
        open.push_back({text_nodes_[followed_[after].node].count, static_cast<u32>(visits.size())});
        std::push_heap(open.begin(), open.end(), fewest);
        visits.push_back({next, after, at});
      }
    });
    if (visits.size() > limits.differences)
      throw LimitError("differences", "whether an item can still differ from the others takes too long to decide");
  }
  if (found == kNone)
    for (auto& v : visits) differences_.put(v.inner, v.seen, 0);
  for (; found != kNone; found = visits[found].parent) differences_.put(visits[found].inner, visits[found].seen, 1);
  return differences_.get(inner, seen) == 1;
}

// Appends a completion, not empty, of `inner` that is none of `seen`: a shortest one, save that of the bytes that lead away
// from all of `seen` only some are tried. Kept, since each of the arrays inside of each other asks twice: for the cost and
// for the text, 2^depth times in all.
bool Automaton::shortest_difference(State inner, u32 seen, std::string& out) {
  if (!goes_on(inner)) return false;
  if (const u32 known = difference_texts_.get(inner, seen); known != kNone) {
    out += texts_[known];
    return true;
  }
  if (seen == 0 && !accepts(inner)) {
    const std::string text = completion(inner);
    difference_texts_.put(inner, seen, text_id(text));
    out += text;
    return true;
  }
  struct Visit {
    State inner;
    u32 seen, parent, length;
    u8 byte;
  };
  struct Order {
    u32 total, length, at;
    bool operator<(const Order& o) const {  // the least total first, of these the longest
      return total != o.total ? total > o.total : length != o.length ? length < o.length : at > o.at;
    }
  };
  std::vector<Visit> visits{{inner, seen, kNone, 0, 0}};
  std::unordered_set<u64> met{pair_key(inner, seen)};
  std::priority_queue<Order> queue;
  queue.push({0, 0, 0});
  while (!queue.empty()) {
    const u32 at = queue.top().at;
    queue.pop();
    const Visit v = visits[at];
    if (at > 0 && (v.seen == 0 || may_end(v.inner, v.seen))) {
      std::string text;
      for (u32 i = at; i > 0; i = visits[i].parent) text += static_cast<char>(visits[i].byte);
      std::reverse(text.begin(), text.end());
      if (!may_end(v.inner, v.seen)) text += completion(v.inner);
      difference_texts_.put(inner, seen, text_id(text));
      out += text;
      return true;
    }
    u32 stray = 0;
    const std::string straight = v.seen == 0 || accepts(v.inner) ? "" : completion(v.inner).substr(0, 1);
    legal_bytes(v.inner).each([&](u8 b) {
      const u32 after = step_tracker(v.seen, b);
      if (after == 0 && ++stray > kStrayBytes && (straight.empty() || static_cast<u8>(straight[0]) != b)) return;
      const State next = step(v.inner, b);
      if (next == kDead || !met.insert(pair_key(next, after)).second) return;
      visits.push_back({next, after, at, v.length + 1, b});
      queue.push({saturating_add(v.length + 1, cost(next)), v.length + 1, static_cast<u32>(visits.size() - 1)});
    });
    if (visits.size() > limits.differences * 8)
      throw LimitError("differences", "an item that differs from the others takes too long to find");
  }
  return false;
}

ByteSet Automaton::tracked_bytes(const Frame& f) {
  const ByteSet legal = legal_bytes(f.c);
  if (f.d == 0) return legal;
  ByteSet set = legal;
  const ByteSet tracked = tracker_bytes(f.d);
  (legal & tracked).each([&](u8 b) {
    const State next = step(f.c, b);
    const u32 after = step_tracker(f.d, b);
    if (!may_end(next, after) && !can_differ(next, after)) set.word[b >> 6] &= ~(u64{1} << (b & 63));
  });
  return set;
}

}  // namespace constrain
