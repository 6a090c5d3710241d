// Walks of parser and trie together, and runs: where a walk can take a whole subtree at once.
#include <algorithm>

#include "masks.hpp"

namespace constrain {

namespace {

constexpr int kWideBytes = 20;      // legal bytes from which a lexeme is worth a split
constexpr u32 kRunTokens = 12;      // a subtree of so many tokens is worth asking for a run
constexpr u32 kRunSteps = 32;       // characters that a run looks ahead

}  // namespace

// ---------------------------------------------------------------- walks

// Free text up to a terminator that is no character itself; `.*at.*"` begins like it and is not.
bool MaskEngine::is_body(Term t) const {
  const Node& n = terms_.node(t);
  const Node& h = terms_.node(n.kind == Kind::Cat ? n.a : t);
  if (h.kind != Kind::Repeat || h.b != 0 || h.c != kUnbounded || !terms_.node(h.a).universal) return false;
  if (n.kind != Kind::Cat) return true;
  const Node& tail = terms_.node(n.b);
  return tail.kind == Kind::Bytes && !(tail.chars & terms_.node(h.a).universal);
}

bool MaskEngine::wide(Term t) {
  if (wide_.size() <= t) wide_.resize(std::max<size_t>(t + 1, wide_.size() * 2));
  if (wide_[t] == 0) wide_[t] = terms_.live_bytes(t).count() >= kWideBytes ? 2 : 1;
  return wide_[t] == 2;
}

MaskEngine::Step MaskEngine::step_of(Term t) {
  std::array<Term, 128> to;
  std::array<std::pair<Term, int>, 16> seen;
  size_t known = 0;
  Step best;
  int most = 0;
  const ByteSet live = terms_.live_bytes(t);
  for (int b = 0; b < 128; ++b) {
    to[b] = live.has(static_cast<u8>(b)) ? terms_.derive(t, static_cast<u8>(b)) : kEmpty;
    if (to[b] == kEmpty) continue;
    size_t i = 0;
    while (i < known && seen[i].first != to[b]) ++i;
    if (i == known) {
      if (known == seen.size()) continue;
      seen[known++] = {to[b], 0};
    }
    if (++seen[i].second > most) {
      most = seen[i].second;
      best.target = to[b];
    }
  }
  for (int b = 0; b < 128; ++b)
    if (best.target != kNone && to[b] == best.target) best.ascii[b >> 6] |= u64{1} << (b & 63);
  return best;
}

// Lead bytes all of whose characters lead from `t` to `target`.
u64 MaskEngine::leads_to(Term t, Term target) {
  auto back = [&](auto&& self, Term u, int due, int lo, int hi) -> bool {
    Term last = kNone;
    for (int b = lo; b <= hi; ++b) {
      Term d = terms_.live_derive(u, static_cast<u8>(b));
      if (d == last) continue;
      last = d;
      if (d == kEmpty) return false;
      if (due == 1 ? d != target : !self(self, d, due - 1, 0x80, 0xBF)) return false;
    }
    return true;
  };
  u64 leads = 0;
  Term previous = kNone;
  bool previous_loops = false;
  const ByteSet live = terms_.live_bytes(t);
  for (int b = 0xC2; b <= 0xF4; ++b) {
    if (!live.has(static_cast<u8>(b))) continue;
    Term u = terms_.derive(t, static_cast<u8>(b));
    const int due = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    const int lo = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80, hi = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
    if (u != previous) {
      previous = u;
      previous_loops = back(back, u, due, lo, hi);
    }
    if (previous_loops) leads |= u64{1} << (b - 0xC0);
  }
  return leads;
}

// The run from `t`, if a subtree as large as `n` is worth the question.
const MaskEngine::Run* MaskEngine::run(Term t, const TrieNode& n) {
  if (run_of_.size() <= t) run_of_.resize(std::max<size_t>(t + 1, run_of_.size() * 2), 0);
  if (run_of_[t] != 0) return &runs_[run_of_[t] - 1];
  if (n.end - n.tokens < kRunTokens || !wide(t)) return nullptr;
  Run r;
  Step s = step_of(t);
  r.set.ascii[0] = s.ascii[0];
  r.set.ascii[1] = s.ascii[1];
  if (s.target == t) {
    r.steps = kUnbounded;
    r.set.lead = leads_to(t, t);
    r.after.push_back(t);
  } else if (s.target != kNone) {
    Term here = s.target;
    r.after.push_back(here);
    r.steps = 1;
    while (r.steps < kRunSteps && here != kEpsilon && wide(here)) {
      s = step_of(here);
      const u64 low = r.set.ascii[0] & s.ascii[0], high = r.set.ascii[1] & s.ascii[1];
      if ((std::popcount(low) + std::popcount(high)) * 4 < r.set.count() * 3) break;
      r.set.ascii[0] = low;
      r.set.ascii[1] = high;
      if (s.target == here) {
        r.steps = kUnbounded;
        if (r.after.size() == 1) r.set.lead = leads_to(t, here) & leads_to(here, here);
        break;
      }
      here = s.target;
      r.after.push_back(here);
      ++r.steps;
    }
  }
  runs_.push_back(std::move(r));
  if (run_of_.size() <= t) run_of_.resize(std::max<size_t>(t + 1, run_of_.size() * 2), 0);
  run_of_[t] = static_cast<u32>(runs_.size());
  return &runs_.back();
}

void MaskEngine::walk_state(State s, const Trie& trie, u32 node, Sink& sink) {
  if (trie.node(node).count == 0) return;
  const std::vector<Entry> list(automaton_.entries(s).begin(), automaton_.entries(s).end());
  for (const Entry& e : list) walk_entry(automaton_.frame(e.frame), e.below, trie, node, sink);
}

void MaskEngine::walk_entry(const Frame& frame, State below, const Trie& trie, u32 node, Sink& sink) {
  const Frame f = frame;  // the table may move
  switch (f.kind) {
    case FrameKind::Term:
      walk_term(f.a, below, trie, node, sink);
      break;
    case FrameKind::Key:
      walk_key(f, below, trie, node, sink);
      break;
    case FrameKind::ClassKey:
    case FrameKind::Unique: {
      // What follows depends on a text that is not known here; a second one within one token must be looked at byte by byte.
      const bool doubtful = sink.doubtful;
      if (automaton_.name_unknown(f)) sink.doubtful = true;
      const State after = f.kind == FrameKind::ClassKey ? automaton_.after_class_unknown(f, below)
                                                        : automaton_.after_unique_unknown(f, below);
      walk_term(f.d, after, trie, node, sink);
      sink.doubtful = doubtful;
      break;
    }
    case FrameKind::Tracked: {
      const bool doubtful = sink.doubtful;
      if (f.d != 0) sink.doubtful = true;
      walk_state(f.c, trie, node, sink);
      sink.doubtful = doubtful;
      break;
    }
    case FrameKind::ItemEnd: {
      const bool doubtful = sink.doubtful;
      sink.doubtful = true;
      walk_state(automaton_.after_item(f.a, f.b), trie, node, sink);
      sink.doubtful = doubtful;
      break;
    }
    default:
      break;
  }
}

void MaskEngine::walk_term(Term t, State below, const Trie& trie, u32 node, Sink& sink) {
  const TrieNode& n = trie.node(node);
  if (n.count == 0) return;
  const ByteSet live = terms_.live_bytes(t);
  if (live.count() * 4 < n.count) {
    live.each([&](u8 b) {
      if (const TrieNode* child = trie.find(n, b)) walk_child(t, below, trie, trie.index(child), sink);
    });
  } else {
    for (u32 c = n.child; c < n.child + n.count; ++c)
      if (live.has(trie.node(c).byte)) walk_child(t, below, trie, c, sink);
  }
}

// The subtree at `c`, whose byte `t` may read.
void MaskEngine::walk_child(Term t, State below, const Trie& trie, u32 c, Sink& sink) {
  ++counters.visited;
  const TrieNode& child = trie.node(c);
  const Term d = terms_.derive(t, child.byte);
  note(d);
  if (child.count && d != kEpsilon)
    if (const Run* r = run(d, child); r && r->covers(child, trie.usage(c))) {
      for (Term a : r->after) note(a);
      sink.take(trie, child.tokens, child.end);
      return;
    }
  sink.take(trie, child.tokens, child.own);
  if (!child.count) return;
  if (d != kEpsilon) walk_term(d, below, trie, c, sink);
  if (terms_.nullable(d)) walk_state(automaton_.expand(below), trie, c, sink);
}

void MaskEngine::walk_key(const Frame& f, State below, const Trie& trie, u32 node, Sink& sink) {
  const TrieNode n = trie.node(node);
  const MembersDef& def = automaton_.members_def(f.a);
  for (auto [byte, key] : def.keys[f.c].children) {
    const TrieNode* child = trie.find(n, byte);
    if (!child || !automaton_.any_eligible(def, f.b, def.keys[key])) continue;
    ++counters.visited;
    const u32 c = trie.index(child);
    sink.take(trie, child->tokens, child->own);
    if (child->count == 0) continue;
    if (const u32 member = def.keys[key].member; member != kNone) {
      walk_state(automaton_.after_key(f, member, below), trie, c, sink);
    } else {
      Frame next = f;
      next.c = key;
      walk_key(next, below, trie, c, sink);
    }
  }
}

}  // namespace constrain
