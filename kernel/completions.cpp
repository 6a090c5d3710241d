// Shortest completions: costs by a least fixed point, texts by following them.
// Source: Knuth 1977, "A generalization of Dijkstra's algorithm".
#include <algorithm>

#include "plans.hpp"

namespace constrain {

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
      for (u32 i = 0; i < n.b; ++i) total = saturating_add(total, costs_[lists_[n.a + i]]);
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
      if (members_[n.a].counting.active() && !planner_->renew(members_[n.a])) return costs_[g];
      u32 open = term_text(members_[n.a].mark.open, nullptr);
      return saturating_add(open, members_rest(n.a, {}, false, nullptr));
    }
    case GramKind::Items: {
      refresh(items_[n.a]);
      u32 open = term_text(items_[n.a].mark.open, nullptr);
      if (items_[n.a].needs_several()) return saturating_add(open, items_[n.a].least);  // see settle_unique
      if (items_[n.a].counting.active() && !planner_->renew(items_[n.a], n.a)) return costs_[g];
      return saturating_add(open, items_rest(n.a, {}, nullptr));
    }
  }
  return kUnbounded;
}

u32 Automaton::gram_text(Gram g, std::string* out) {
  if (!out || costs_[g] == kUnbounded) return costs_[g];
  DepthGuard guard(depth_);
  check_depth(depth_ * 8);  // large frames: the stack is short for them
  const GramNode n = grams_[g];
  switch (n.kind) {
    case GramKind::Lexeme:
      return term_text(n.a, out);
    case GramKind::Sequence: {
      u32 total = 0;
      for (u32 i = 0; i < n.b; ++i) total = saturating_add(total, gram_text(lists_[n.a + i], out));
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
        if (i && n.b != kNone) total = saturating_add(total, gram_text(n.b, out));
        total = saturating_add(total, gram_text(n.a, out));
      }
      return total;
    }
    case GramKind::Members: {
      u32 open = term_text(members_[n.a].mark.open, out);
      return saturating_add(open, members_rest(n.a, {}, false, out));
    }
    case GramKind::Items: {
      u32 open = term_text(items_[n.a].mark.open, out);
      return saturating_add(open, items_rest(n.a, {}, out));
    }
  }
  return kUnbounded;
}

u32 Automaton::members_rest(u32 m, Progress p, bool at_key, std::string* out) {
  const MembersDef& whole = members_[m];
  if (whole.counting.active()) return planner_->members_rest(m, p, at_key, out);
  const u32 n = static_cast<u32>(whole.members.size());
  std::vector<MemberText> chosen;
  std::vector<u32> spare;
  for (u32 i = whole.any_order ? 0 : p.pos; i < n; ++i) {
    const MemberDef& def = whole.members[i];
    if (whole.any_order && has_bit(p.seen, i)) continue;
    if (def.required && !def.alive) return kUnbounded;
    if (def.required) chosen.push_back({i, def.value});
    else if (def.alive) spare.push_back(i);
  }
  if (p.count + u64{chosen.size()} > whole.max_count) return kUnbounded;
  u64 have = p.count + u64{chosen.size()};
  u64 need = whole.min_count > have ? whole.min_count - have : 0;
  if (at_key && chosen.empty() && need == 0) need = 1;
  if (need > 0 && have + need > whole.max_count) return kUnbounded;
  if (need == 0) return members_text(m, p, at_key, std::move(chosen), {}, 0, out);
  // What is not required, cheapest first: else a member could be chosen that needs this very object inside.
  struct Supplier {
    u32 cost, index;
    bool extra;
  };
  std::vector<Supplier> suppliers;
  for (u32 i : spare) {
    const MemberDef& def = whole.members[i];
    suppliers.push_back({saturating_add(terms.shortest_length(def.key), costs_[def.value]), i, false});
  }
  for (u32 c = 0; c < whole.classes.size(); ++c) {
    if (!whole.classes[c].alive) continue;
    const Term key = class_key(m, c, p.written);
    if (!terms.alive(key)) continue;
    suppliers.push_back({saturating_add(terms.shortest_length(key), costs_[members_[m].classes[c].value]), c, true});
  }
  std::stable_sort(suppliers.begin(), suppliers.end(), [](const Supplier& a, const Supplier& b) { return a.cost < b.cost; });
  std::vector<ExtraText> extras;
  u64 wanted = need;
  for (const Supplier& s : suppliers) {
    if (need == 0) break;
    if (s.extra) {
      const u32 amount = static_cast<u32>(std::min(need, planner_->names_left(m, s.index, p.written)));
      extras.push_back({s.index, amount, members_[m].classes[s.index].value});
      need -= amount;
    } else {
      chosen.push_back({s.index, members_[m].members[s.index].value});
      --need;
      --wanted;
    }
  }
  if (need > 0) return kUnbounded;
  need = wanted;
  return members_text(m, p, at_key, std::move(chosen), extras, static_cast<u32>(need), out);
}

// The members given, in their order, then `wanted` of the extra ones, from the first classes that have them.
u32 Automaton::members_text(u32 m, Progress p, bool at_key, std::vector<MemberText> members,
                            const std::vector<ExtraText>& extras, u32 wanted, std::string* out) {
  const Punctuation mark = members_[m].mark;
  u32 total = 0;
  bool first = p.count == 0, skip = at_key;
  auto begin = [&] {
    if (!skip) {
      if (!first) total = saturating_add(total, term_text(mark.separator, out));
      total = saturating_add(total, term_text(mark.before_key, out));
    }
    skip = first = false;
  };
  std::sort(members.begin(), members.end(), [](const MemberText& a, const MemberText& b) { return a.member < b.member; });
  for (const MemberText& text : members) {
    begin();
    total = saturating_add(total, term_text(members_[m].members[text.member].key, out));
    total = saturating_add(total, term_text(mark.colon, out));
    total = saturating_add(total, gram_text(text.value, out));
  }
  for (const ExtraText& text : extras) {
    for (u32 k = 0; k < text.amount && wanted > 0; ++k, --wanted) {
      Term key = class_key(m, text.cls, p.written);
      if (!terms.alive(key)) break;
      begin();
      std::string raw = terms.shortest(key);
      total = saturating_add(total, static_cast<u32>(raw.size()));
      if (out) *out += raw;
      total = saturating_add(total, term_text(mark.colon, out));
      total = saturating_add(total, gram_text(text.value, out));
      p = with_name(p, raw);
    }
  }
  if (wanted > 0) return kUnbounded;
  return saturating_add(total, term_text(mark.close, out));
}

u32 Automaton::items_rest(u32 i, Progress p, std::string* out) {
  if (items_[i].tracked) return unique_rest(i, p, out);
  const ItemsDef& def = items_[i];
  if (def.counting.active()) return planner_->items_rest(i, p, out);
  const Punctuation mark = def.mark;
  const u32 min = def.min_count;
  if (min > def.reachable) return kUnbounded;
  u32 total = 0;
  for (u32 k = p.count; k < min; ++k) {
    if (k > 0) total = saturating_add(total, term_text(mark.separator, out));
    if (items_[i].unique) {
      Term item = unique_item(i, 0, p.written);
      if (!terms.alive(item)) return kUnbounded;
      std::string text = terms.shortest(item);
      total = saturating_add(total, static_cast<u32>(text.size()));
      if (out) *out += text;
      p.written = link(seen_table_, seen_, p.written, text_id(value_of(text)));
    } else {
      const auto& prefix = items_[i].prefix;
      total = saturating_add(total, gram_text(k < prefix.size() ? prefix[k] : items_[i].rest, out));
      if (!out && k >= prefix.size()) {  // the rest all cost the same
        u64 each = u64{costs_[items_[i].rest]} + term_text(mark.separator, nullptr);
        u64 more = each * (min - k - 1);
        total = more > kUnbounded - total ? kUnbounded - 1 : total + static_cast<u32>(more);
        break;
      }
    }
  }
  return saturating_add(total, term_text(mark.close, out));
}

// A value and what follows it, in the cheapest of its ways.
u32 Automaton::value_rest(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways, std::string* out) {
  u32 best = kUnbounded;
  const std::vector<Choice> all = choices(m, p, value, ways);
  const Choice* pick = nullptr;
  for (const Choice& c : all)
    if (const u32 cost = saturating_add(costs_[c.value], members_rest(m, c.next, false, nullptr)); cost < best) {
      best = cost;
      pick = &c;
    }
  if (!pick || !out) return best;
  const u32 total = gram_text(pick->value, out);
  return saturating_add(total, members_rest(m, pick->next, false, out));
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
      for (u32 i = f.b; i < n.b; ++i) total = saturating_add(total, gram_text(lists_[n.a + i], out));
      return total;
    }
    case FrameKind::Repetition: {
      const GramNode n = grams_[f.a];
      u32 total = 0;
      for (u32 i = f.b; i < n.c; ++i) {
        if (n.b != kNone) total = saturating_add(total, gram_text(n.b, out));
        total = saturating_add(total, gram_text(n.a, out));
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
        return saturating_add(total, frame_rest({FrameKind::AfterKey, f.a, f.b, member}, text));
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
      const MemberDef& member = members_[f.a].members[f.c];
      const Progress p = next_progress(members_[f.a], progresses_[f.b], f.c);
      const u32 colon = term_text(members_[f.a].mark.colon, out);
      return saturating_add(colon, value_rest(f.a, p, member.value, member.ways, out));
    }
    case FrameKind::ClassKey: {
      std::string rest = terms.shortest(f.d);
      if (out) *out += rest;
      const Progress p = with_name(next_progress(members_[f.a], progresses_[f.b], kNone), captured(f.e) + rest);
      return saturating_add(static_cast<u32>(rest.size()), frame_rest({FrameKind::AfterClass, f.a, progress(p), f.c}, out));
    }
    case FrameKind::AfterClass: {
      const NameClassDef& names = members_[f.a].classes[f.c];
      const u32 colon = term_text(members_[f.a].mark.colon, out);
      return saturating_add(colon, value_rest(f.a, progresses_[f.b], names.value, names.ways, out));
    }
    case FrameKind::Items:
      return items_rest(f.a, progresses_[f.b], out);
    case FrameKind::Unique: {
      std::string rest = terms.shortest(f.d);
      if (out) *out += rest;
      const Progress p = with_value(f, text_id(value_of(captured(f.e) + rest)));
      return saturating_add(static_cast<u32>(rest.size()), items_rest(f.a, p, out));
    }
    case FrameKind::Tracked: {
      std::string rest;
      if (!shortest_difference(f.c, f.d, rest)) return kUnbounded;
      if (out) *out += rest;
      const Progress p = with_value(f, text_id(value_of(captured(f.e) + rest)));
      return saturating_add(static_cast<u32>(rest.size()), items_rest(f.a, p, out));
    }
    case FrameKind::NextItem:
      return next_item_rest(f.a, f.b, out);
    case FrameKind::ItemEnd:
      return 0;
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
    if (below < best) best = std::min(best, saturating_add(below, frame_rest(f, nullptr)));
  }
  states_[s].cost = best;
  return best;
}

std::string Automaton::completion(State s) {
  std::string text;
  while (!states_[s].accept) {
    const u32 goal = cost(s);
    if (goal == kUnbounded) throw LimitError("states", "no completion was found");
    if (goal > limits.completion) throw LimitError("completion", "the shortest text is too long to write");
    const u32 at = states_[s].at, count = states_[s].count;
    State next = kNone;
    for (u32 i = 0; i < count; ++i) {
      const Entry e = entries_[at + i];
      const Frame f = frames_[e.frame];
      if (saturating_add(cost(e.below), frame_rest(f, nullptr)) == goal) {
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
