// States: expansion of what lies on top, and the step over one byte.
#include <algorithm>

#include "grammar.hpp"

namespace constrain {

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
    case GramKind::Members:
      open_term(g, members_[n.a].mark.open, single({FrameKind::Members, n.a, progress({})}, below));
      break;
    case GramKind::Items:
      open_term(g, items_[n.a].mark.open, single({FrameKind::Items, n.a, progress({})}, below));
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
      const MemberDef& member = members_[f.a].members[f.c];
      const Progress p = next_progress(members_[f.a], progresses_[f.b], f.c);
      open_term(g, members_[f.a].mark.colon, value_state(f.a, p, member.value, member.ways, below));
      break;
    }
    case FrameKind::AfterClass: {
      const NameClassDef& names = members_[f.a].classes[f.c];
      const Progress p = progresses_[f.b];
      open_term(g, members_[f.a].mark.colon, value_state(f.a, p, names.value, names.ways, below));
      break;
    }
    case FrameKind::Items:
      open_items(g, f, below);
      break;
    case FrameKind::Key:
    case FrameKind::ClassKey:
    case FrameKind::Unique:
    case FrameKind::Tracked:
      add(g, f, below);
      break;
    case FrameKind::NextItem:
      open_item(g, f, below);
      break;
    case FrameKind::ItemEnd:  // kept, so that a mask can look beyond it
      add(g, f, below);
      add_state(g, below);
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
    if (!members_[f.a].classes[c].alive || !class_allowed(members_[f.a], c, p)) continue;
    Term key = class_key(f.a, c, p.written);
    if (terms.alive(key)) add(g, {FrameKind::ClassKey, f.a, f.b, c, key, 0}, below);
  }
}

void Automaton::open_items(Gather& g, const Frame& f, State below) {
  if (items_[f.a].tracked) return open_unique(g, f, below);
  const Progress p = progresses_[f.b];
  const Punctuation mark = items_[f.a].mark;
  if (closable(items_[f.a], p)) open_term(g, mark.close, below);
  if (p.count >= items_[f.a].reachable) return;
  std::vector<Entry> items;
  if (items_[f.a].unique) {
    const Term item = unique_item(f.a, 0, p.written);
    if (!terms.alive(item) || (seen_[p.written].unknown && !value_left(f.a, p.written))) return;
    for (const Choice& c : item_choices(f.a, p)) {
      const Term one = c.whole ? item : terms.conj(item, items_[f.a].ways(p.count)[c.way].item);
      if (terms.alive(one)) items.push_back({intern_frame({FrameKind::Unique, f.a, f.b, c.way, one, 0}), below});
    }
  } else {
    for (const Choice& c : item_choices(f.a, p)) {
      const State rest = single({FrameKind::Items, f.a, progress(c.next)}, below);
      items.push_back({intern_frame({FrameKind::Gram, c.value}), rest});
    }
  }
  if (items.empty()) return;
  const State next = intern_state(items, false);
  if (p.count == 0) add_state(g, next);
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
      const Progress p = with_name(next_progress(members_[f.a], progresses_[f.b], kNone), captured(capture));
      add_state(g, single({FrameKind::AfterClass, f.a, progress(p), f.c}, below));
      break;
    }
    case FrameKind::Unique: {
      Term d = terms.live_derive(f.d, byte);
      if (d == kEmpty) break;
      u32 capture = link(capture_table_, captures_, f.e, byte);
      if (d != kEpsilon) add(g, {FrameKind::Unique, f.a, f.b, f.c, d, capture}, below);
      if (terms.nullable(d)) {
        const Progress p = with_value(f, text_id(value_of(captured(capture))));
        add_state(g, single({FrameKind::Items, f.a, progress(p)}, below));
      }
      break;
    }
    case FrameKind::Tracked:
      step_tracked(g, f, below, byte);
      break;
    default:
      break;  // not on top of an expanded state, or over
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
    } else if (f.kind == FrameKind::Tracked) {
      set = set | tracked_bytes(f);
    } else if (f.kind != FrameKind::ItemEnd) {
      set = set | terms.live_bytes(f.d);
    }
  }
  return set;
}

}  // namespace constrain
