#include "reach.hpp"

#include <algorithm>
#include <queue>

namespace constrain {

namespace {

constexpr size_t kMostVisits = 5'000;
constexpr size_t kMostRows = 4'096;

template <class F>
void each_token(const Bits& row, F&& f) {
  for (u32 w = 0; w < row.size(); ++w)
    for (u32 left = row[w]; left; left &= left - 1) f(w * 32 + static_cast<u32>(std::countr_zero(left)));
}

}  // namespace

State TokenReach::after(State s, u32 token) {
  for (char c : vocab_->token(token)) {
    s = automaton_.step(s, static_cast<u8>(c));
    if (s == kDead) break;
  }
  return s;
}

u32 TokenReach::search(State start, std::vector<Visit>& visits, bool stop_at_known) {
  struct Item {
    u32 cost, index;
    bool operator<(const Item& o) const { return cost != o.cost ? cost > o.cost : index > o.index; }
  };
  std::priority_queue<Item> queue;
  std::unordered_map<State, u32> best;  // fewest bytes so far
  auto visit = [&](State s, u32 parent, u32 token, u32 bytes) {
    auto [it, fresh] = best.try_emplace(s, bytes);
    if (!fresh && it->second <= bytes) return;
    it->second = bytes;
    if (visits.size() >= kMostVisits)
      throw LimitError("reachability", "whether tokens can finish the text takes too long to decide");
    visits.push_back({s, parent, token, bytes});
    queue.push({bytes + automaton_.cost(s), static_cast<u32>(visits.size() - 1)});
  };
  visit(start, kNone, kNone, 0);
  Bits row(vocab_->words());
  while (!queue.empty()) {
    const u32 at = queue.top().index;
    queue.pop();
    const Visit here = visits[at];
    if (here.bytes > best[here.state]) continue;
    if (automaton_.accepts(here.state)) return at;
    if (stop_at_known)
      if (auto it = known_.find(here.state); it != known_.end() && it->second) return at;
    masks_.fill(here.state, row.data());
    each_token(row, [&](u32 token) {
      if (vocab_->is_end(token)) return;
      const State next = after(here.state, token);
      if (next == kDead) return;
      if (auto it = known_.find(next); it != known_.end() && !it->second) return;
      visit(next, at, token, here.bytes + static_cast<u32>(vocab_->token(token).size()));
    });
  }
  return kNone;
}

bool TokenReach::alive(State s) {
  if (s == kDead) return false;
  if (automaton_.accepts(s)) return true;
  if (auto it = known_.find(s); it != known_.end()) return it->second;
  std::vector<Visit> visits;
  u32 found = kNone;
  try {
    found = search(s, visits, true);
  } catch (const LimitError&) {  // forbids this branch; whoever finds no other raises
    limit_met_ = true;
    known_[s] = false;
    return false;
  }
  if (found == kNone) {
    for (auto& v : visits) known_[v.state] = false;
    return false;
  }
  for (u32 i = found; i != kNone; i = visits[i].parent) known_[visits[i].state] = true;
  return true;
}

void TokenReach::fill(State s, u32* row) {
  auto it = rows_.find(s);
  if (it == rows_.end()) {
    Bits bits(vocab_->words());
    masks_.fill(s, bits.data());
    const Bits all = bits;
    limit_met_ = false;
    each_token(all, [&](u32 token) {
      if (!vocab_->is_end(token) && !alive(after(s, token))) bits[token / 32] &= ~(1u << (token % 32));
    });
    if (limit_met_ && std::all_of(bits.begin(), bits.end(), [](u32 w) { return w == 0; }))
      throw LimitError("reachability", "whether tokens can finish the text takes too long to decide");
    if (rows_.size() >= kMostRows) rows_.clear();
    it = rows_.emplace(s, std::move(bits)).first;
  }
  std::copy(it->second.begin(), it->second.end(), row);
}

std::vector<u32> TokenReach::completion(State s) {
  std::vector<Visit> visits;
  const u32 found = search(s, visits, false);
  if (found == kNone) throw LimitError("reachability", "no tokens finish the text");
  std::vector<u32> tokens;
  for (u32 i = found; visits[i].parent != kNone; i = visits[i].parent) tokens.push_back(visits[i].token);
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

}  // namespace constrain
