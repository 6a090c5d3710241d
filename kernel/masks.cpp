// Masks of whole states: composed of their entries' masks, cached by what they depend on, evicted by use.
#include "masks.hpp"

#include <algorithm>

namespace constrain {

namespace {

constexpr size_t kListTokens = 256;  // a mask of so few tokens is a list, not bits

}  // namespace

MaskEngine::MaskEngine(Automaton& automaton, std::shared_ptr<Vocab> vocab, size_t limit_bytes)
    : automaton_(automaton), terms_(automaton.terms), vocab_(std::move(vocab)), limit_bytes_(limit_bytes) {}

void MaskEngine::fill(State s, u32* row) {
  auto m = mask(s);
  const u32 words = vocab_->words();
  if (m->base) std::memcpy(row, m->base->data(), words * 4);
  else std::memset(row, 0, words * 4);
  for (u32 t : m->clear) clear_bit(row, t);
  for (u32 t : m->set) set_bit(row, t);
  for (u32 t : m->verify)
    if (automaton_.allows(s, vocab_->token(t))) set_bit(row, t);
  if (automaton_.accepts(s))
    for (u32 t : vocab_->end_ids()) set_bit(row, t);
}

void MaskEngine::fill_stepwise(State s, u32* row) {
  std::memset(row, 0, vocab_->words() * 4);
  const Trie& trie = vocab_->trie();
  auto walk = [&](auto&& self, u32 node, State here) -> void {
    const TrieNode& n = trie.node(node);
    for (u32 i = n.tokens; i < n.own; ++i) set_bit(row, trie.tokens()[i]);
    for (u32 c = n.child; c < n.child + n.count; ++c)
      if (State next = automaton_.step(here, trie.node(c).byte); next != kDead) self(self, c, next);
  };
  walk(walk, 0, s);
  if (automaton_.accepts(s))
    for (u32 t : vocab_->end_ids()) set_bit(row, t);
}

void MaskEngine::or_into(Bits& bits, const Mask& mask) const {
  Bits own(bits.size());
  if (mask.base) std::copy(mask.base->begin(), mask.base->end(), own.begin());
  for (u32 t : mask.clear) clear_bit(own.data(), t);
  for (u32 t : mask.set) set_bit(own.data(), t);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] |= own[i];
}

void MaskEngine::remember(Key key, std::shared_ptr<const Mask> mask) {
  size_t bytes = mask->bytes();
  if (mask->base && mask->base.use_count() == 1) bytes += mask->base->size() * 4;
  use_.push_front(key);
  cache_[key] = {std::move(mask), use_.begin(), bytes};
  cached_bytes_ += bytes;
  while (cached_bytes_ > limit_bytes_ && use_.size() > 1) {
    auto it = cache_.find(use_.back());
    cached_bytes_ -= it->second.bytes;
    cache_.erase(it);
    use_.pop_back();
    ++counters.evicted;
  }
}

bool MaskEngine::as_term(State s, Term& t, State& below) {
  auto entries = automaton_.entries(s);
  if (entries.size() != 1 || automaton_.accepts(s)) return false;
  const Frame f = automaton_.frame(entries[0].frame);
  below = entries[0].below;
  switch (f.kind) {
    case FrameKind::Term:
      t = f.a;
      return true;
    case FrameKind::ClassKey:
      t = f.d;
      below = automaton_.after_class_unknown(f, below);
      return true;
    case FrameKind::Unique:
      t = f.d;
      below = automaton_.after_unique_unknown(f, below);
      return true;
    default:
      return false;
  }
}

bool MaskEngine::is_cached(State s) {
  Term t;
  State below;
  if (auto entries = automaton_.entries(s); entries.size() == 1)
    if (const Frame f = automaton_.frame(entries[0].frame); f.kind == FrameKind::Tracked)
      return f.d == 0 && is_cached(f.c);
  return cache_.contains(as_term(s, t, below) ? Key{t} << 32 | below : Key{kNone} << 32 | s);
}

std::shared_ptr<const Mask> MaskEngine::mask(State s) {
  Term whole;
  State rest;
  if (as_term(s, whole, rest)) return term_mask(whole, rest);
  auto entries = automaton_.entries(s);
  if (entries.size() == 1)
    if (const Frame f = automaton_.frame(entries[0].frame); f.kind == FrameKind::Tracked) return tracked_mask(f);
  const Key key = Key{kNone} << 32 | s;
  if (auto it = cache_.find(key); it != cache_.end()) {
    use_.splice(use_.begin(), use_, it->second.use);
    ++counters.cached;
    return it->second.mask;
  }
  std::vector<std::shared_ptr<const Mask>> wide;
  Sink sink;
  bool passing = false;  // what a tracked item captured will not come again
  const std::vector<Entry> list(entries.begin(), entries.end());
  for (const Entry& e : list) {
    const Frame f = automaton_.frame(e.frame);
    switch (f.kind) {
      case FrameKind::Term:
        wide.push_back(term_mask(f.a, e.below));
        break;
      case FrameKind::ClassKey:
        wide.push_back(term_mask(f.d, automaton_.after_class_unknown(f, e.below)));
        break;
      case FrameKind::Unique:
        wide.push_back(term_mask(f.d, automaton_.after_unique_unknown(f, e.below)));
        break;
      case FrameKind::Tracked:
        wide.push_back(tracked_mask(f));
        passing = true;
        break;
      default:
        walk_entry(f, e.below, vocab_->trie(), 0, sink);
    }
  }
  std::shared_ptr<Mask> m = from_sink(sink);
  for (auto& w : wide) {
    m->verify.insert(m->verify.end(), w->verify.begin(), w->verify.end());
    if (!w->base && w->clear.empty()) {
      m->set.insert(m->set.end(), w->set.begin(), w->set.end());
    } else if (!m->base && m->clear.empty()) {
      std::vector<u32> set = std::move(m->set);
      m->base = w->base;
      m->clear = w->clear;
      m->set = w->set;
      m->set.insert(m->set.end(), set.begin(), set.end());
    } else {
      auto bits = std::make_shared<Bits>(vocab_->words());
      or_into(*bits, *m);
      or_into(*bits, *w);
      m->base = bits;
      m->clear.clear();
      m->set.clear();
    }
  }
  ++counters.computed;
  if (!passing) remember(key, m);
  return m;
}

// The item's own mask, less the tokens behind which it could only be one that came.
std::shared_ptr<const Mask> MaskEngine::tracked_mask(const Frame& frame) {
  const Frame f = frame;  // the table may move
  auto known = mask(f.c);
  if (f.d == 0) return known;
  std::vector<u32> dead;
  walk_tracked(f.c, f.d, 0, dead);
  if (dead.empty()) return known;
  auto m = std::make_shared<Mask>();
  m->base = known->base;
  m->verify = known->verify;
  take_away(dead, *known, *m);
  return m;
}

void MaskEngine::walk_tracked(State inner, u32 seen, u32 node, std::vector<u32>& dead) {
  const Trie& trie = vocab_->trie();
  const TrieNode n = trie.node(node);
  const ByteSet both = automaton_.legal_bytes(inner) & automaton_.tracker_bytes(seen);
  both.each([&](u8 b) {
    const TrieNode* child = trie.find(n, b);
    if (!child) return;
    ++counters.visited;
    const State next = automaton_.step(inner, b);
    const u32 after = automaton_.step_tracker(seen, b);
    if (next == kDead || after == 0) return;
    if (automaton_.may_end(next, after) || automaton_.can_differ(next, after)) {
      if (child->count) walk_tracked(next, after, trie.index(child), dead);
    } else {
      dead.insert(dead.end(), trie.tokens().begin() + child->tokens, trie.tokens().begin() + child->end);
    }
  });
}

ByteSet MaskEngine::following(State s) {
  ByteSet set = automaton_.legal_bytes(s);
  const std::vector<Entry> list(automaton_.entries(s).begin(), automaton_.entries(s).end());
  for (const Entry& e : list)
    if (const Frame f = automaton_.frame(e.frame); f.kind == FrameKind::ItemEnd)
      set = set | automaton_.legal_bytes(automaton_.after_item(f.a, f.b));
  return set;
}

std::shared_ptr<const Mask> MaskEngine::term_mask(Term t, State below) {
  const Key key = Key{t} << 32 | below;
  if (auto it = cache_.find(key); it != cache_.end()) {
    use_.splice(use_.begin(), use_, it->second.use);
    ++counters.cached;
    return it->second.mask;
  }
  auto m = compute_term(t, below);
  ++counters.computed;
  remember(key, m);
  return m;
}

std::shared_ptr<Mask> MaskEngine::from_sink(Sink& sink) {
  auto m = std::make_shared<Mask>();
  m->verify = std::move(sink.verify);
  if (sink.tokens.size() > kListTokens && sink.tokens.size() > vocab_->words()) {
    auto bits = std::make_shared<Bits>(vocab_->words());
    for (u32 t : sink.tokens) set_bit(bits->data(), t);
    m->base = bits;
  } else {
    m->set = std::move(sink.tokens);
  }
  return m;
}

std::shared_ptr<Mask> MaskEngine::compute_term(Term t, State below) {
  if (wide(t)) {
    auto m = std::make_shared<Mask>();
    if (compute_difference(t, below, *m)) return m;
    Window w;
    const bool window = find_window(t, w);
    if (window && compute_unbounded(w, below, *m)) return m;
    if (window && w.rest == kNone && compute_window(w, below, *m)) return m;
    if (compute_run(t, below, *m)) return m;
    if (window && w.rest != kNone && compute_window(w, below, *m)) return m;
    auto s = split(t, kNone);
    if (!s->open || below == kDone) {
      m->base = s->inside;
      Sink sink;
      walk_state(automaton_.expand(below), s->exits, 0, sink);
      sink.take(s->exits, s->exits.node(0).tokens, s->exits.node(0).own);
      for (u32 i : sink.tokens) m->set.push_back(s->exit_token[i]);
      for (u32 i : sink.verify) m->verify.push_back(s->exit_token[i]);
      return m;
    }
  }
  Sink sink;
  walk_term(t, below, vocab_->trie(), 0, sink);
  return from_sink(sink);
}

}  // namespace constrain
