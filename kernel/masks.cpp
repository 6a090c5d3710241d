#include "masks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace constrain {

namespace {

constexpr int kWideBytes = 20;      // legal bytes from which a lexeme is worth a split
constexpr u32 kRunTokens = 12;      // a subtree of so many tokens is worth asking for a run
constexpr u32 kRunSteps = 32;       // characters that a run looks ahead
constexpr int kRunClass = 10;        // characters that a class must have to be indexed
constexpr u32 kSlack = 24;           // bytes beyond the longest token from which a bound counts as far
constexpr size_t kListTokens = 256;  // a mask of so few tokens is a list, not bits

void set_bit(u32* row, u32 token) { row[token / 32] |= 1u << (token % 32); }
void clear_bit(u32* row, u32 token) { row[token / 32] &= ~(1u << (token % 32)); }

}  // namespace

MaskEngine::MaskEngine(Automaton& automaton, std::shared_ptr<Vocab> vocab, size_t limit_bytes)
    : automaton_(automaton), terms_(automaton.terms), vocab_(std::move(vocab)), limit_bytes_(limit_bytes) {}

bool MaskEngine::allows(State s, std::string_view text) {
  for (char c : text) {
    s = automaton_.step(s, static_cast<u8>(c));
    if (s == kDead) return false;
  }
  return true;
}

void MaskEngine::fill(State s, u32* row) {
  auto m = mask(s);
  const u32 words = vocab_->words();
  if (m->base) std::memcpy(row, m->base->data(), words * 4);
  else std::memset(row, 0, words * 4);
  for (u32 t : m->clear) clear_bit(row, t);
  for (u32 t : m->set) set_bit(row, t);
  for (u32 t : m->verify)
    if (allows(s, vocab_->token(t))) set_bit(row, t);
  if (m->ends)
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
  return cache_.contains(as_term(s, t, below) ? Key{t} << 32 | below : Key{kNone} << 32 | s);
}

std::shared_ptr<const Mask> MaskEngine::mask(State s) {
  Term whole;
  State rest;
  if (as_term(s, whole, rest)) return term_mask(whole, rest);
  auto entries = automaton_.entries(s);
  const bool accept = automaton_.accepts(s);
  const Key key = Key{kNone} << 32 | s;
  if (auto it = cache_.find(key); it != cache_.end()) {
    use_.splice(use_.begin(), use_, it->second.use);
    ++counters.cached;
    return it->second.mask;
  }
  std::vector<std::shared_ptr<const Mask>> wide;
  Sink sink;
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
  m->ends = accept;
  ++counters.computed;
  remember(key, m);
  return m;
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

// ---------------------------------------------------------------- lexemes that differ by excluded texts

Term MaskEngine::without_exclusions(Term t) {
  const Node n = terms_.node(t);
  if (n.kind == Kind::Cat) {
    Term head = without_exclusions(n.a);
    return head == n.a ? t : terms_.cat(head, n.b);
  }
  if (n.kind != Kind::And) return t;
  std::vector<Term> kept;
  for (Term c : terms_.children(t))
    if (terms_.node(c).kind != Kind::Not) kept.push_back(c);
  if (kept.empty() || kept.size() == n.b) return t;
  return terms_.conj(kept);
}

bool MaskEngine::compute_difference(Term t, State below, Mask& out) {
  const Term base = without_exclusions(t);
  if (base == t || !terms_.alive(base)) return false;
  if (below != kDone && split(base, kNone)->open) return false;
  auto known = term_mask(base, below);
  if (!known->verify.empty()) return false;
  Sink sink;
  walk_difference(t, base, below, 0, sink);
  out.base = known->base;
  if (!out.base) {
    auto bits = std::make_shared<Bits>(vocab_->words());
    out.base = bits;
  }
  // what the base allows beyond its bits, less what differs
  std::sort(sink.tokens.begin(), sink.tokens.end());
  out.clear = known->clear;
  out.clear.insert(out.clear.end(), sink.tokens.begin(), sink.tokens.end());
  for (u32 token : known->set)
    if (!std::binary_search(sink.tokens.begin(), sink.tokens.end(), token)) out.set.push_back(token);
  return true;
}

// Tokens that `base` allows and `t`, a part of it, does not.
void MaskEngine::walk_difference(Term t, Term base, State below, u32 node, Sink& sink) {
  const Trie& trie = vocab_->trie();
  const TrieNode n = trie.node(node);
  for (u32 c = n.child; c < n.child + n.count; ++c) {
    ++counters.visited;
    const TrieNode child = trie.node(c);
    Term b = terms_.live_derive(base, child.byte);
    if (b == kEmpty) continue;
    Term d = t == kEmpty ? kEmpty : terms_.live_derive(t, child.byte);
    if (d == b) continue;
    if (d == kEmpty) {  // all that the base allows from here on
      sink.take(trie, child.tokens, child.own);
      if (b != kEpsilon) walk_term(b, below, trie, c, sink);
      if (terms_.nullable(b)) walk_state(automaton_.expand(below), trie, c, sink);
      continue;
    }
    if (terms_.nullable(b) && !terms_.nullable(d)) walk_state(automaton_.expand(below), trie, c, sink);
    walk_difference(d, b, below, c, sink);
  }
}

// ---------------------------------------------------------------- runs of one class

bool MaskEngine::compute_run(Term t, State below, Mask& out) {
  if (is_body(t)) return false;  // its split is there already
  const Run* found = run(t, vocab_->trie().node(0));
  if (!found || found->set.count() < kRunClass) return false;
  const Run r = *found;  // walking may move the table
  const State rest = automaton_.expand(below);
  // Where the lexeme may end inside the run, what follows must not go on with the class: its tokens would be counted
  // as part of the run only.
  bool open = terms_.nullable(t);
  for (Term a : r.after) open = open || terms_.nullable(a);
  if (open && rest != kDone) {
    bool overlap = false;
    automaton_.legal_bytes(rest).each([&](u8 b) { overlap = overlap || r.set.has(b); });
    if (overlap) return false;
  }
  if (body_of(t) != kNone) return false;
  ByteSet exits = open ? automaton_.legal_bytes(rest) : ByteSet{};
  for (Term a : r.after) exits = exits | terms_.live_bytes(a);
  for (int b = 0; b < 256; ++b)
    if (r.set.has(static_cast<u8>(b))) exits.word[b >> 6] &= ~(u64{1} << (b & 63));
  for (Term a : r.after) note(a);
  auto index = vocab_->class_index(r.set, exits);
  Sink sink;
  const Trie& trie = vocab_->trie();
  // Whether a run may go on with the class at all where its known part ends.
  bool longer = false;
  if (r.steps != kUnbounded)
    terms_.live_bytes(r.after.back()).each([&](u8 b) { longer = longer || r.set.has(b); });
  if (index->most <= r.steps) {
    out.base = index->inside;
  } else {
    auto fits = vocab_->at_most(r.steps);
    auto bits = std::make_shared<Bits>(*index->inside);
    for (size_t i = 0; i < bits->size(); ++i) (*bits)[i] &= (*fits)[i];
    for (u32 w = 0; longer && w < bits->size(); ++w)  // longer ones, byte by byte
      for (u32 left = (*index->inside)[w] & ~(*bits)[w]; left; left &= left - 1) {
        const u32 token = w * 32 + static_cast<u32>(std::countr_zero(left));
        Term d = t;
        for (char c : vocab_->token(token)) d = d == kEmpty ? kEmpty : terms_.live_derive(d, static_cast<u8>(c));
        if (d != kEmpty) sink.tokens.push_back(token);
      }
    out.base = bits;
  }
  // Tokens that leave the class at once, from the root; the others by what comes after their run.
  const TrieNode root = trie.node(0);
  const ByteSet live = terms_.live_bytes(t);
  for (u32 c = root.child; c < root.child + root.count; ++c) {
    const u8 byte = trie.node(c).byte;
    if (live.has(byte) && !r.set.has(byte)) walk_child(t, below, trie, c, sink);
  }
  auto rests = [&](Term here, const Trie& after) {
    walk_term(here, below, after, 0, sink);
    if (terms_.nullable(here)) walk_state(rest, after, 0, sink);
  };
  if (r.loops(t)) {
    rests(t, index->after_any);
  } else {
    for (u32 k = 1; k < index->after.size() && k <= r.steps; ++k) rests(r.after_characters(k), index->after[k]);
  }
  if (longer && index->after.size() > u64{r.steps} + 1) {  // rests after longer runs: byte by byte
    const State whole = automaton_.state_of(t, below);
    for (u32 k = r.steps + 1; k < index->after.size(); ++k)
      for (u32 token : index->after[k].tokens())
        if (allows(whole, vocab_->token(token))) sink.tokens.push_back(token);
  }
  if (terms_.nullable(t)) walk_state(rest, trie, 0, sink);
  out.set = std::move(sink.tokens);
  out.verify.insert(out.verify.end(), sink.verify.begin(), sink.verify.end());
  return true;
}

// ---------------------------------------------------------------- bounded lengths

bool MaskEngine::find_window(Term t, Window& w) {
  const Node n = terms_.node(t);
  const Term head = n.kind == Kind::Cat ? n.a : t;
  w.tail = n.kind == Kind::Cat ? n.b : kEpsilon;
  w.rest = kNone;
  w.item = kNone;
  const Node h = terms_.node(head);
  if (h.kind == Kind::Repeat && terms_.node(h.a).is_char && !(h.b == 0 && h.c == kUnbounded)) {
    w.min = h.b;
    w.max = h.c;
    if (terms_.node(h.a).universal) w.item = h.a;
    else w.rest = terms_.repeat(h.a, 0, kUnbounded);
  } else if (h.kind == Kind::And) {
    std::vector<Term> rest;
    for (Term c : terms_.children(head)) {
      const Node& x = terms_.node(c);
      if (w.item == kNone && x.kind == Kind::Repeat && terms_.node(x.a).universal) {
        w.item = x.a;
        w.min = x.b;
        w.max = x.c;
      } else {
        rest.push_back(c);
      }
    }
    if (w.item == kNone) return false;
    w.rest = terms_.conj(rest);
  } else {
    return false;
  }
  // A counted class is that class without bound, inside a window of any characters.
  if (w.item == kNone) {
    const u8 bits = terms_.node(h.a).is_char;
    const Encoding e = bits & 0b010 ? Encoding::Json : bits & 0b100 ? Encoding::JsonAny : Encoding::Raw;
    w.item = terms_.node(terms_.any_text(e)).a;
  }
  const u8 bit = terms_.node(w.item).universal;
  if (w.rest != kNone && !(terms_.node(w.rest).chars & bit)) return false;
  // The terminator must not be a character itself, or where the window ends would be ambiguous.
  const Node& tail = terms_.node(w.tail);
  return w.tail == kEpsilon || (tail.kind == Kind::Bytes && !(tail.chars & bit));
}

Term MaskEngine::graft(Term t, Term star, Term replacement) {
  if (t == star) return replacement;
  const Node n = terms_.node(t);
  if (n.kind == Kind::Cat) {
    const Term rest = graft(n.b, star, replacement);
    return terms_.cat(n.a, rest);
  }
  if (n.kind == Kind::Alt) {
    std::vector<Term> parts(terms_.children(t).begin(), terms_.children(t).end());
    for (Term& p : parts) p = graft(p, star, replacement);
    return terms_.alt(std::move(parts));
  }
  return t;
}

// Far from its end a bound does not matter: if wherever a token may end the text can be completed before the bound, the
// mask is that of the lexeme without it.
bool MaskEngine::compute_unbounded(const Window& w, State below, Mask& out) {
  const u32 most = vocab_->most_characters();
  if (w.max == kUnbounded || w.max < most + kSlack) return false;
  const Term least = terms_.repeat(w.item, w.min, kUnbounded);
  const Term t = terms_.cat(w.rest == kNone ? least : terms_.conj(w.rest, least), w.tail);
  std::shared_ptr<const Mask> m;
  if (is_body(t)) {
    m = term_mask(t, below);
    out = *m;
    return true;  // the terminator is all that it needs
  }
  const Key key = Key{t} << 32 | below;
  const auto known = cache_.find(key);
  const bool fresh_key = known == cache_.end();
  if (!fresh_key && known->second.mask->need != kUnbounded) {
    m = known->second.mask;
  } else {
    const bool noting = noting_;
    const u32 need = need_;
    noting_ = true;
    need_ = terms_.shortest_length(t);
    auto fresh = compute_term(t, below);
    fresh->need = need_;
    noting_ = noting;
    need_ = std::max(need, need_);
    if (fresh_key) remember(key, fresh);
    m = fresh;
  }
  if (m->need > w.max - most) return false;
  out = *m;
  return true;
}

bool MaskEngine::compute_window(const Window& w, State below, Mask& out) {
  const Term star = terms_.repeat(w.item, 0, kUnbounded);
  const bool any = w.rest == kNone || w.rest == star;
  const Term base = terms_.cat(any ? star : w.rest, w.tail);
  auto s = split(base, w.item);
  if (s->open && below != kDone) return false;
  auto rest_alive = [&](Term t, Term pending, u32 read) {
    if (read > w.max) return false;
    if (any) return true;
    const Term left = terms_.repeat(w.item, w.min > read ? w.min - read : 0, w.max == kUnbounded ? kUnbounded : w.max - read);
    const Term window = terms_.cat(graft(pending, star, left), w.tail);
    return terms_.alive(terms_.conj(t, window));
  };
  auto bits = std::make_shared<Bits>(s->loop);
  u32 most = vocab_->most_characters();
  if (any) {
    if (w.max < most) {
      auto fits = vocab_->at_most(w.max);
      for (size_t i = 0; i < bits->size(); ++i) (*bits)[i] &= (*fits)[i];
    }
  } else {
    // A state that loops on itself finishes in every length from its least on: what fits is a range of counts.
    u32 from = 0;
    while (from <= most && !rest_alive(base, star, from)) ++from;
    u32 to = from;
    while (to <= most && rest_alive(base, star, to)) ++to;
    auto fits = vocab_->at_most(to == 0 ? 0 : to - 1);
    for (size_t i = 0; i < bits->size(); ++i) (*bits)[i] &= (*fits)[i];
    if (from > 0) {
      auto fewer = vocab_->at_most(from - 1);
      for (size_t i = 0; i < bits->size(); ++i) (*bits)[i] &= ~(*fewer)[i];
    }
  }
  for (auto& g : s->groups)
    if (rest_alive(g.term, g.pending, g.characters))
      for (u32 t : g.tokens) set_bit(bits->data(), t);
  out.base = bits;
  Sink sink;
  walk_state(automaton_.expand(below), s->exits, 0, sink);
  sink.take(s->exits, s->exits.node(0).tokens, s->exits.node(0).own);
  auto fits = [&](u32 i) { return s->exit_characters[i] >= w.min && s->exit_characters[i] <= w.max; };
  for (u32 i : sink.tokens)
    if (fits(i)) out.set.push_back(s->exit_token[i]);
  for (u32 i : sink.verify)
    if (fits(i)) out.verify.push_back(s->exit_token[i]);
  return true;
}

// ---------------------------------------------------------------- splits

std::shared_ptr<const Split> MaskEngine::split(Term t, Term item) {
  if (auto it = splits_.find(t); it != splits_.end() && (item == kNone || it->second->counted)) return it->second;
  const u64 hash = terms_.node(t).hash;
  auto shared = vocab_->shared_split(hash, item != kNone, terms_.live_bytes(t));
  if (!shared) {
    auto fresh = compute_split(t, item);
    ++counters.splits;
    if (fresh->portable) vocab_->share_split(hash, fresh);
    shared = fresh;
  }
  splits_[t] = shared;
  return shared;
}

// `t` is whole characters, then one terminator that is no character: a part of the string body.
bool MaskEngine::body_like(Term t, u8 bit, Term& tail) const {
  for (;;) {
    const Node& n = terms_.node(t);
    if (n.kind == Kind::Alt) {
      for (Term c : terms_.children(t))
        if (!body_like(c, bit, tail)) return false;
      return true;
    }
    if (n.kind != Kind::Cat) {
      if (n.kind != Kind::Bytes || (n.chars & bit) || (tail != kNone && tail != t)) return false;
      tail = t;
      return true;
    }
    if (!(terms_.node(n.a).chars & bit)) return false;
    t = n.b;
  }
}

// One way on begins with any text: whatever character comes next, that way is still there.
bool MaskEngine::begins_free(Term t, Term star) const {
  if (t == star) return true;
  const Node& n = terms_.node(t);
  if (n.kind == Kind::Cat) return begins_free(n.a, star);
  if (n.kind == Kind::Alt)
    for (Term c : terms_.children(t))
      if (begins_free(c, star)) return true;
  return false;
}

// The string body that is alive exactly as long as `t` is: then both have the same tokens inside, and differ in exits
// only. So it is for every unanchored pattern. kNone if there is none.
Term MaskEngine::body_of(Term t) {
  if (!terms_.node(t).plain || is_body(t)) return kNone;
  for (Encoding e : {Encoding::Json, Encoding::JsonAny}) {
    const Term star = terms_.any_text(e);
    Term tail = kNone;
    if (begins_free(t, star) && body_like(t, static_cast<u8>(1u << static_cast<u8>(e)), tail))
      return terms_.cat(star, tail);
  }
  return kNone;
}

std::shared_ptr<Split> MaskEngine::compute_split(Term start, Term item) {
  auto out = std::make_shared<Split>();
  const Term body = item == kNone && !noting_ ? body_of(start) : kNone;
  ByteSet terminator;
  if (body != kNone) terminator = terms_.set_of(terms_.node(body).b);
  auto leads_out = [&](const Usage& u) {
    return (u.ascii[0] & terminator.word[0]) | (u.ascii[1] & terminator.word[1]);
  };
  const Node n = terms_.node(start);
  const Term head = n.kind == Kind::Cat ? n.a : start;
  const Node h = terms_.node(head);
  const bool any = is_body(start);
  if (any && item == kNone) item = h.a;  // the string body itself: count at once, every bounded string needs it
  out->counted = item != kNone;
  out->portable = any || item == kNone;
  out->live = terms_.live_bytes(start);
  const Term star = item == kNone ? kNone : terms_.repeat(item, 0, kUnbounded);
  const Trie& trie = vocab_->trie();
  std::vector<u32> inside;
  if (item != kNone) out->loop.assign(vocab_->words(), 0);
  std::map<std::tuple<Term, Term, u32>, u32> group_of;
  auto group = [&](Term t, Term pending, u32 characters, u32 token) {
    auto [it, fresh] = group_of.try_emplace({any ? 0 : t, any ? 0 : pending, characters}, static_cast<u32>(out->groups.size()));
    if (fresh) out->groups.push_back({any ? 0 : t, any ? 0 : pending, characters, {}});
    out->groups[it->second].tokens.push_back(token);
  };
  std::vector<std::pair<std::string, u32>> remainders;
  std::string path;
  auto collect = [&](auto&& self, u32 node, u32 characters) -> void {
    const TrieNode& x = trie.node(node);
    for (u32 i = x.tokens; i < x.own; ++i) {
      remainders.push_back({path, static_cast<u32>(out->exit_token.size())});
      out->exit_token.push_back(trie.tokens()[i]);
      out->exit_characters.push_back(characters);
    }
    for (u32 c = x.child; c < x.child + x.count; ++c) {
      path.push_back(static_cast<char>(trie.node(c).byte));
      self(self, c, characters);
      path.pop_back();
    }
  };
  // `read`: characters begun by the counting rule; `plain`: lead bytes on the path. Equal as long as nothing is escaped.
  auto walk = [&](auto&& self, u32 node, Term t, Term pending, u32 read, u32 plain) -> void {
    const TrieNode x = trie.node(node);
    const ByteSet live = terms_.live_bytes(t);
    const bool border = item == kNone || pending == star;
    for (u32 c = x.child; c < x.child + x.count; ++c) {
      const TrieNode& child = trie.node(c);
      if (!live.has(child.byte)) continue;
      // Only what leaves the lexeme is still to be found, and ill-formed subtrees tell nothing of what they hold.
      if (body != kNone && !terminator.has(child.byte) && !child.ill_formed && !leads_out(trie.usage(c))) continue;
      ++counters.visited;
      const Term d = terms_.derive(t, child.byte);
      if (d == kEpsilon) {
        collect(collect, c, read);
        continue;
      }
      if (body != kNone) {
        if (child.count) self(self, c, d, kNone, 0, 0);
        continue;
      }
      if (terms_.nullable(d)) out->open = true;
      const Term p = item == kNone ? kNone : terms_.derive(pending, child.byte);
      const u32 now = read + (border ? 1 : 0), leads = plain + ((child.byte & 0xC0) != 0x80);
      const bool at_border = item == kNone || p == star;
      const Run* r = child.count && at_border ? run(d, child) : nullptr;
      const bool whole = r && r->covers(child, trie.usage(c));
      const u32 end = whole ? child.end : child.own;
      if (end > child.tokens) {
        note(d);
        if (whole)
          for (Term a : r->after) note(a);
      }
      inside.insert(inside.end(), trie.tokens().begin() + child.tokens, trie.tokens().begin() + end);
      if (item != kNone) {
        const bool pure = d == start && p == star && now == leads;
        for (u32 i = child.tokens; i < end; ++i) {
          const u32 token = trie.tokens()[i];
          const u32 more = i < child.own ? 0 : vocab_->characters(token) - leads;
          if (pure && (more == 0 || r->loops(d))) set_bit(out->loop.data(), token);
          else group(more == 0 ? d : r->after_characters(more), p, now + more, token);
        }
      }
      if (!whole && child.count) self(self, c, d, p, now, leads);
    }
  };
  walk(walk, 0, start, star, 0, 0);
  out->need = noting_ ? need_ : kUnbounded;
  if (body != kNone) {
    out->inside = split(body, kNone)->inside;
  } else {
    auto bits = std::make_shared<Bits>(vocab_->words());
    for (u32 t : inside) set_bit(bits->data(), t);
    out->inside = bits;
  }
  std::vector<std::pair<std::string_view, u32>> views(remainders.begin(), remainders.end());
  out->exits = Trie(std::move(views));
  return out;
}

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
