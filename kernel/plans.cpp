#include "plans.hpp"

#include <algorithm>

namespace constrain {

// ---------------------------------------------------------------- what a plan starts from

// Bytes around a member beside its name and its value; kUnbounded if these marks cannot be written.
u32 Planner::overhead(const Punctuation& mark, u32 count) {
  const u32 before = saturating_add(a_.term_text(mark.before_key, nullptr), a_.term_text(mark.colon, nullptr));
  return count == 0 ? before : saturating_add(before, a_.term_text(mark.separator, nullptr));
}

u32 Planner::class_of(const MembersDef& def, u32 text) {
  if (text >= Automaton::kUnknownName) return text - Automaton::kUnknownName;
  const std::string& name = a_.texts_[text];
  const std::string spelled = encode_json_string(name);
  for (u32 c = 0; c < def.classes.size(); ++c) {
    const Term body = def.classes[c].body;
    if (def.encoding == Encoding::Json ? a_.terms.matches(body, spelled)
                                       : a_.terms.alive(a_.terms.conj(body, a_.terms.spelled(name, def.encoding))))
      return c;
  }
  return kNone;
}

std::vector<u32> Planner::names_left(u32 m, u32 written) {
  const MembersDef& def = a_.members_[m];
  auto& lefts = tables_[m].lefts;
  if (auto it = lefts.find(written); it != lefts.end()) return a_.vectors_.get(it->second, def.classes.size());
  std::vector<u32> left;
  for (const NameClassDef& c : def.classes)
    left.push_back(!c.alive ? 0 : c.count > 4096 ? kUnbounded : static_cast<u32>(c.count));
  for (u32 i = written; i != 0; i = a_.seen_[i].parent)
    if (const u32 c = class_of(def, a_.seen_[i].item); c < left.size() && left[c] != kUnbounded && left[c] > 0) --left[c];
  lefts.emplace(written, a_.vectors_.id_of(left));
  return left;
}

u64 Planner::names_left(u32 m, u32 cls, u32 written) { return names_left(m, written)[cls]; }

Planner::Start Planner::start(u32 m, const Progress& p, bool at_key) {
  const MembersDef& def = a_.members_[m];
  Start s{{m}, 0, {}};
  PlanKey& key = s.key;
  u32 count = p.count;
  for (u32 i = def.any_order ? 0 : p.pos; i < def.members.size(); ++i) {
    const MemberDef& member = def.members[i];
    if (!member.required || (def.any_order && a_.has_bit(p.seen, i))) continue;
    if (!member.alive) s.cost = kUnbounded;
    if (std::binary_search(def.counted.begin(), def.counted.end(), i)) continue;
    s.forced.push_back(i);
    s.cost = saturating_add(s.cost, overhead(def.mark, count));
    s.cost = saturating_add(s.cost, saturating_add(a_.term_text(member.key, nullptr), a_.costs_[member.value]));
    count = def.counting.after(count);
  }
  if (count > def.max_count) s.cost = kUnbounded;
  key.must = at_key && s.forced.empty();
  if (def.any_order) {
    for (u32 i : def.counted)
      if (a_.has_bit(p.seen, i)) key.place = a_.with_bit(key.place, i);
  } else {
    key.place = static_cast<u32>(std::lower_bound(def.counted.begin(), def.counted.end(), p.pos) - def.counted.begin());
  }
  const bool counts_matter = key.must || def.min_count > 0 || def.counting.last != 1;
  if (counts_matter) {
    const u32 spare = static_cast<u32>(std::lower_bound(def.spare.begin(), def.spare.end(), p.pos) - def.spare.begin());
    key.pool = 1 + (def.any_order ? p.seen : spare);
  }
  const std::vector<u32> left = names_left(m, p.written);
  key.lefts = a_.vectors_.id_of(left);
  key.count = count;
  key.counters = p.counters;
  key = forward(key);
  return s;
}

Planner::PlanKey Planner::start_items(u32 i, const Progress& p) {
  PlanKey key{i | kItems};
  key.count = p.count;
  key.counters = p.counters;
  settle(key);
  return key;
}

u32 Planner::decided(const PlanKey& key, u32 member) const {
  return a_.members_[key.def].any_order ? a_.with_bit(key.place, member) : key.place + 1;
}

// The member that is decided next; kNone if all are.
u32 Planner::next_counted(const PlanKey& key) const {
  const MembersDef& def = a_.members_[key.def];
  if (!def.any_order) return key.place < def.counted.size() ? def.counted[key.place] : kNone;
  for (u32 i : def.counted)
    if (!a_.has_bit(key.place, i)) return i;
  return kNone;
}

// Skips stages, and members, where there is nothing to decide.
Planner::PlanKey Planner::forward(PlanKey key) {
  const MembersDef& def = a_.members_[key.def];
  const u32 classes = static_cast<u32>(def.classes.size());
  std::vector<u32> left;
  auto enter = [&](u32 stage) {
    if (left.empty()) left = a_.vectors_.get(key.lefts, classes);
    key.stage = stage;
    key.left = stage <= classes ? left[stage - 1] : 0;
  };
  if (key.stage == 0) {
    settle(key);
    const std::vector<u32> counts = a_.vectors_.get(key.counters, def.counting.caps.size());
    u32 next = next_counted(key);
    auto says_nothing = [&](const MemberDef& m) {
      return !m.required && std::none_of(m.ways.begin(), m.ways.end(), [&](const Way& w) {
        return w.alive && def.counting.moves(w, counts);
      });
    };
    // Where it does not matter how many there are, neither do members that advance nothing any more.
    while (key.pool == 0 && next != kNone && says_nothing(def.members[next])) {
      key.place = decided(key, next);
      next = next_counted(key);
    }
    if (next != kNone) return key;
    key.place = 0;
    enter(1);
  }
  auto counted = [](const std::vector<Way>& ways) {
    return std::any_of(ways.begin(), ways.end(), [](const Way& w) { return w.alive && !w.counters.empty(); });
  };
  while (key.stage <= classes && (key.left == 0 || !counted(def.classes[key.stage - 1].ways))) enter(key.stage + 1);
  settle(key);
  return key;
}

// Whether what may come from `key` on can advance `counter` so many times.
bool Planner::can_advance(const PlanKey& key, u32 counter, u32 times) const {
  if (key.def & kItems) {
    const Advancing& by = a_.items_[key.def & ~kItems].advancing[counter];
    return by.more > 0 || by.from(key.count) >= times;
  }
  const Advancing& by = a_.members_[key.def].advancing[counter];
  if (key.stage > 0) return by.more >= key.stage;
  return by.more > 0 || by.from(next_counted(key)) >= times;
}

void Planner::settle(PlanKey& key) {
  const Counting& counting =
      key.def & kItems ? a_.items_[key.def & ~kItems].counting : a_.members_[key.def].counting;
  std::vector<u32> counts = a_.vectors_.get(key.counters, counting.caps.size());
  std::vector<u8> open(counts.size(), 0);
  for (u32 k = 0; k < counting.conditions.size(); ++k) {
    if (a_.has_bit(key.settled, k)) continue;
    bool settled = false, possible = false;
    for (const Bound& b : counting.conditions[k]) {
      const u32 n = b.counter == kNone ? key.count : counts[b.counter];
      const bool reached = n >= b.least;
      const bool moves = reached || b.counter == kNone || can_advance(key, b.counter, b.least - n);
      settled = settled || (reached == b.reached && (reached || !moves));
      possible = possible || (!reached && (moves || !b.reached));
    }
    if (settled) {
      key.settled = a_.with_bit(key.settled, k);
      continue;
    }
    if (!possible) key.lost = 1;
    for (const Bound& b : counting.conditions[k])
      if (b.counter != kNone) open[b.counter] = 1;
  }
  for (size_t c = 0; c < counts.size(); ++c)
    if (!open[c]) counts[c] = counting.caps[c];
  key.counters = a_.vectors_.id_of(std::move(counts));
}

// ---------------------------------------------------------------- steps

void Planner::steps(const PlanKey& key, std::vector<Step>& out) {
  if (key.def & kItems) return item_steps(key, out);
  const MembersDef& def = a_.members_[key.def];
  const u32 classes = static_cast<u32>(def.classes.size());
  if (key.stage > classes) return;
  const std::vector<u32> counts = a_.vectors_.get(key.counters, def.counting.caps.size());
  const bool full = key.count >= def.max_count;
  auto write = [&](const std::vector<Way>& ways, u32 member, u32 cls, u32 cost, const PlanKey& behind, bool moving) {
    for (u32 w = 0; w < ways.size(); ++w) {
      if (!ways[w].alive || (moving && !def.counting.moves(ways[w], counts))) continue;
      Progress p;
      p.count = def.counting.after(key.count);
      p.counters = key.counters;
      p = a_.with_way(def.counting, p, ways[w]);
      PlanKey next = behind;
      next.count = p.count;
      next.counters = p.counters;
      next.must = 0;
      out.push_back({saturating_add(cost, a_.costs_[ways[w].value]), member, cls, w, forward(next)});
    }
  };
  PlanKey behind = key;
  if (key.stage == 0) {
    const u32 i = next_counted(key);
    const MemberDef& member = def.members[i];
    behind.place = decided(key, i);
    if (!member.required) out.push_back({0, i, kNone, kNone, forward(behind)});
    if (full || !member.alive) return;
    const u32 name = a_.term_text(member.key, nullptr);
    write(member.ways, i, kNone, saturating_add(overhead(def.mark, key.count), name), behind, false);
    return;
  }
  const u32 c = key.stage - 1;
  behind.left = 0;
  out.push_back({0, kNone, c, kNone, forward(behind)});
  if (full) return;
  const bool many = key.left == kUnbounded;
  behind.left = many ? kUnbounded : key.left - 1;
  const u32 name = a_.terms.shortest_length(a_.class_key(key.def, c, 0));
  // Of a class without end those that advance nothing come at the end.
  write(def.classes[c].ways, kNone, c, saturating_add(overhead(def.mark, key.count), name), behind, many);
}

void Planner::item_steps(const PlanKey& key, std::vector<Step>& out) {
  const ItemsDef& def = a_.items_[key.def & ~kItems];
  if (key.count >= def.reachable) return;
  const std::vector<u32> counts = a_.vectors_.get(key.counters, def.counting.caps.size());
  const bool in_prefix = key.count < def.prefix.size();
  const u32 before = key.count == 0 ? 0 : a_.term_text(def.mark.separator, nullptr);
  const std::vector<Way>& ways = def.ways(key.count);
  for (u32 w = 0; w < ways.size(); ++w) {
    if (!ways[w].alive || (!in_prefix && !def.counting.moves(ways[w], counts))) continue;
    Progress p;
    p.count = def.counting.after(key.count);
    p.counters = key.counters;
    p = a_.with_way(def.counting, p, ways[w]);
    PlanKey next = key;
    next.count = p.count;
    next.counters = p.counters;
    settle(next);
    out.push_back({saturating_add(before, a_.costs_[ways[w].value]), key.count, kNone, w, next});
  }
}

// ---------------------------------------------------------------- the end: more that advances nothing

// The cheapest way that advances no counter any more.
const Way* Planner::still_way(const Counting& counting, const std::vector<Way>& ways, u32 counters) const {
  const std::vector<u32> counts = a_.vectors_.get(counters, counting.caps.size());
  const Way* best = nullptr;
  for (const Way& w : ways)
    if (w.alive && !counting.moves(w, counts) && (!best || a_.costs_[w.value] < a_.costs_[best->value])) best = &w;
  return best;
}

std::vector<Planner::Supplier> Planner::suppliers(const PlanKey& key) {
  const MembersDef& def = a_.members_[key.def];
  std::vector<Supplier> found;
  if (key.pool > 0) {
    for (u32 k = def.any_order ? 0 : key.pool - 1; k < def.spare.size(); ++k) {
      const u32 i = def.spare[k];
      if (def.any_order && a_.has_bit(key.pool - 1, i)) continue;
      const MemberDef& member = def.members[i];
      const u32 cost = saturating_add(a_.term_text(member.key, nullptr), a_.costs_[member.value]);
      found.push_back({cost, 1, i, kNone, member.value});
    }
  }
  const std::vector<u32> left = a_.vectors_.get(key.lefts, def.classes.size());
  for (u32 c = 0; c < left.size(); ++c) {
    const NameClassDef& names = def.classes[c];
    const bool counted = std::any_of(names.ways.begin(), names.ways.end(), [](const Way& w) { return w.alive && !w.counters.empty(); });
    if (left[c] == 0 || (counted && left[c] != kUnbounded)) continue;  // those were decided at their stage
    const Way* way = still_way(def.counting, names.ways, key.counters);
    if (!way) continue;
    const u32 name = a_.terms.shortest_length(a_.class_key(key.def, c, 0));
    found.push_back({saturating_add(name, a_.costs_[way->value]), left[c], kNone, c, way->value});
  }
  std::stable_sort(found.begin(), found.end(), [](const Supplier& a, const Supplier& b) { return a.cost < b.cost; });
  return found;
}

Planner::Filling Planner::fill(const PlanKey& key) {
  const MembersDef& def = a_.members_[key.def];
  if (key.stage <= def.classes.size()) return {};
  const std::vector<u32> counts = a_.vectors_.get(key.counters, def.counting.caps.size());
  for (u32 more : def.counting.steps_ahead(key.count, std::max(def.min_count, key.count + key.must))) {
    if (more < key.must || key.count + more < def.min_count) continue;
    if (key.count + u64{more} > def.max_count) break;
    if (!def.counting.hold(counts, key.count + more, a_.bitsets_[key.settled])) continue;
    u32 cost = a_.term_text(def.mark.close, nullptr), wanted = more;
    if (more > 0) {
      const u32 each = overhead(def.mark, 1);
      cost = saturating_add(cost, saturating_add(overhead(def.mark, key.count), saturating_mul(more - 1, each)));
      for (const Supplier& s : suppliers(key)) {
        const u32 taken = std::min(wanted, s.amount);
        cost = saturating_add(cost, saturating_mul(taken, s.cost));
        wanted -= taken;
      }
    }
    if (wanted > 0) break;  // still more cannot be had either
    return {cost, more};
  }
  return {};
}

Planner::Filling Planner::fill_items(const PlanKey& key) {
  const ItemsDef& def = a_.items_[key.def & ~kItems];
  const std::vector<u32> counts = a_.vectors_.get(key.counters, def.counting.caps.size());
  const Way* way = nullptr;
  if (key.count >= def.prefix.size()) way = still_way(def.counting, def.rest_ways, key.counters);
  for (u32 more : def.counting.steps_ahead(key.count, def.min_count)) {
    if (key.count + more < def.min_count) continue;
    if (more > 0 && (!way || key.count + u64{more} > def.reachable)) break;
    if (!def.counting.hold(counts, key.count + more, a_.bitsets_[key.settled])) continue;
    u32 cost = a_.term_text(def.mark.close, nullptr);
    if (more > 0) {
      const u32 separators = key.count == 0 ? more - 1 : more;
      cost = saturating_add(cost, saturating_mul(separators, a_.term_text(def.mark.separator, nullptr)));
      cost = saturating_add(cost, saturating_mul(more, a_.costs_[way->value]));
    }
    return {cost, more};
  }
  return {};
}

// ---------------------------------------------------------------- plans

u32 Planner::plan(const PlanKey& goal) {
  if (goal.lost) return kUnbounded;
  auto& costs = tables_[goal.def].costs;
  if (auto it = costs.find(goal); it != costs.end()) return it->second;
  std::vector<PlanKey> open{goal};
  std::vector<Step> list;
  while (!open.empty()) {
    const PlanKey key = open.back();
    if (costs.contains(key)) {
      open.pop_back();
      continue;
    }
    a_.terms.deadline.check();
    list.clear();
    const Filling end = key.def & kItems ? fill_items(key) : fill(key);
    u32 best = end.cost;
    bool ready = true;
    if (best == kUnbounded || end.more > 0) steps(key, list);
    for (const Step& s : list) {
      if (s.next.lost) continue;
      if (auto it = costs.find(s.next); it != costs.end()) {
        best = std::min(best, saturating_add(s.cost, it->second));
      } else {
        ready = false;
        open.push_back(s.next);
      }
    }
    if (!ready) continue;
    if (size_ >= a_.limits.plans)
      throw LimitError("states", "how a container with conditions is completed takes too long to decide");
    costs.emplace(key, best);
    ++size_;
    open.pop_back();
  }
  return costs.at(goal);
}

std::vector<Planner::Step> Planner::follow(PlanKey& key) {
  std::vector<Step> path, list;
  for (;;) {
    const u32 goal = plan(key);
    const Filling end = key.def & kItems ? fill_items(key) : fill(key);
    if (end.cost == goal) return path;
    list.clear();
    steps(key, list);
    auto it = std::find_if(list.begin(), list.end(), [&](const Step& s) { return saturating_add(s.cost, plan(s.next)) == goal; });
    if (it == list.end()) return path;
    path.push_back(*it);
    key = it->next;
  }
}

bool Planner::can_finish(u32 m, const Progress& p) {
  const Start s = start(m, p, false);
  return s.cost != kUnbounded && plan(s.key) != kUnbounded;
}

bool Planner::can_finish_items(u32 i, const Progress& p) { return plan(start_items(i, p)) != kUnbounded; }

u32 Planner::members_rest(u32 m, const Progress& p, bool at_key, std::string* out) {
  Start s = start(m, p, at_key);
  if (s.cost == kUnbounded || plan(s.key) == kUnbounded) return kUnbounded;
  const MembersDef& def = a_.members_[m];
  std::vector<MemberText> members;
  std::vector<ExtraText> extras;
  u32 wanted = 0;
  for (u32 i : s.forced) members.push_back({i, def.members[i].value});
  for (const Step& step : follow(s.key)) {
    if (step.way == kNone) continue;
    if (step.member != kNone) {
      members.push_back({step.member, def.members[step.member].ways[step.way].value});
    } else {
      extras.push_back({step.cls, 1, def.classes[step.cls].ways[step.way].value});
      ++wanted;
    }
  }
  u32 more = fill(s.key).more;
  if (more > 0) {
    for (const Supplier& from : suppliers(s.key)) {
      const u32 taken = std::min(more, from.amount);
      if (taken == 0) break;
      more -= taken;
      if (from.member != kNone) {
        members.push_back({from.member, from.value});
      } else {
        extras.push_back({from.cls, taken, from.value});
        wanted += taken;
      }
    }
  }
  return a_.members_text(m, p, at_key, members, extras, wanted, out);
}

u32 Planner::items_rest(u32 i, Progress p, std::string* out) {
  PlanKey key = start_items(i, p);
  if (plan(key) == kUnbounded) return kUnbounded;
  const ItemsDef& def = a_.items_[i];
  u32 total = 0;
  bool first = p.count == 0;
  auto write = [&](u32 place, u32 number) {
    const Way& way = def.ways(place)[number];
    if (!first) total = saturating_add(total, a_.term_text(def.mark.separator, out));
    first = false;
    if (!def.unique) {
      total = saturating_add(total, a_.gram_text(way.value, out));
      return;
    }
    std::string text;
    if (!def.tracked) text = a_.terms.shortest(a_.terms.conj(a_.unique_item(i, 0, p.written), way.item));
    else if (!a_.next_value(i, def.way_parts[std::min<size_t>(place, def.prefix.size())] + number, p.written, text))
      total = kUnbounded;
    total = saturating_add(total, static_cast<u32>(text.size()));
    if (out) *out += text;
    p.written = a_.link(a_.seen_table_, a_.seen_, p.written, a_.text_id(value_of(text)));
  };
  for (const Step& step : follow(key)) write(step.member, step.way);
  const u32 more = fill_items(key).more;
  if (more > 0) {
    const Way* way = still_way(def.counting, def.rest_ways, key.counters);
    const u32 behind = static_cast<u32>(def.prefix.size());
    for (u32 k = 0; k < more; ++k) write(behind, static_cast<u32>(way - def.rest_ways.data()));
  }
  return saturating_add(total, a_.term_text(def.mark.close, out));
}

// ---------------------------------------------------------------- what is remembered

u64 Planner::signature(const std::vector<Way>& ways, u64 seed) const {
  for (const Way& w : ways) seed = mix(seed, a_.costs_[w.value]);
  return seed;
}

bool Planner::renew(u32 def, u64 signature) {
  Table& table = tables_[def];
  if (table.signature == signature) return false;
  size_ -= table.costs.size();
  table.costs.clear();
  table.signature = signature;
  return true;
}

bool Planner::renew(const MembersDef& def) {
  u64 h = 73;
  for (const MemberDef& m : def.members) h = signature(m.ways, mix(h, a_.costs_[m.value]));
  for (const NameClassDef& c : def.classes) h = signature(c.ways, mix(h, a_.costs_[c.value]));
  return renew(def.id, h);
}

bool Planner::renew(const ItemsDef& def, u32 items) {
  u64 h = signature(def.rest_ways, mix(79, def.reachable));  // a whole item may come to life after all of its ways
  for (const auto& ways : def.prefix_ways) h = signature(ways, h);
  return renew(items | kItems, h);
}

size_t Planner::bytes() const { return size_ * (sizeof(PlanKey) + 32); }

}  // namespace constrain
