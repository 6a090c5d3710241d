// In what ways a member's value or an item may be written, and where each of them leads.
#include "plans.hpp"

namespace constrain {

namespace {

// The choices whose end can be reached; if all lead to the same progress, one that stands for them: the whole value.
template <class CanFinish>
std::vector<Choice> settled(std::vector<Choice> all, Gram value, CanFinish&& can_finish) {
  if (all.empty()) return all;
  const Progress next = all[0].next;
  if (std::all_of(all.begin(), all.end(), [&](const Choice& c) { return c.next == next; }))
    all = {{value, all[0].way, true, next}};
  std::erase_if(all, [&](const Choice& c) { return !can_finish(c.next); });
  return all;
}

}  // namespace

// `p`, whose count is advanced already, behind a value written in `way`.
Progress Automaton::with_way(const Counting& counting, Progress p, const Way& way) {
  std::vector<u32> counts = vectors_.get(p.counters, counting.caps.size());
  for (u32 c : way.counters) counts[c] = std::min(counts[c] + 1, counting.caps[c]);
  counting.settle(counts, p.count);
  p.counters = vectors_.id_of(std::move(counts));
  return p;
}

// `p`: behind the member, its value not counted.
std::vector<Choice> Automaton::choices(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways) {
  const Counting& counting = members_[m].counting;
  if (!counting.active()) return {{value, 0, true, p}};
  std::vector<Choice> all;
  for (u32 w = 0; w < ways.size(); ++w)
    if (ways[w].alive) all.push_back({ways[w].value, w, false, with_way(counting, p, ways[w])});
  return settled(std::move(all), value, [&](const Progress& q) { return planner_->can_finish(m, q); });
}

// `p`: before the item.
std::vector<Choice> Automaton::item_choices(u32 i, const Progress& p) {
  const ItemsDef& def = items_[i];
  const Gram value = p.count < def.prefix.size() ? def.prefix[p.count] : def.rest;
  const Progress next = with_item(def, p);
  if (!def.counting.active()) return {{value, 0, true, next}};
  const std::vector<Way>& ways = def.ways(p.count);
  std::vector<Choice> all;
  for (u32 w = 0; w < ways.size(); ++w)
    if (ways[w].alive) all.push_back({ways[w].value, w, false, with_way(def.counting, next, ways[w])});
  return settled(std::move(all), value, [&](const Progress& q) { return planner_->can_finish_items(i, q); });
}

// The state at a member's value.
State Automaton::value_state(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways, State below) {
  std::vector<Entry> entries;
  for (const Choice& c : choices(m, p, value, ways)) {
    const State rest = single({FrameKind::Members, m, progress(c.next)}, below);
    entries.push_back({intern_frame({FrameKind::Gram, c.value}), rest});
  }
  return intern_state(entries, false);
}

}  // namespace constrain
