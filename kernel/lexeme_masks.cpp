// Masks of one wide lexeme: by difference, by a run of one class, by a window of lengths.
#include <algorithm>

#include "masks.hpp"

namespace constrain {

namespace {

constexpr int kRunClass = 10;        // characters that a class must have to be indexed
constexpr u32 kSlack = 24;           // bytes beyond the longest token from which a bound counts as far

}  // namespace

// ---------------------------------------------------------------- lexemes that differ by excluded texts

Term MaskEngine::without_exclusions(Term t) {
  const Node n = terms_.node(t);
  if (n.kind == Kind::Cat) {
    Term head = without_exclusions(n.a);
    return head == n.a ? t : terms_.cat(head, n.b);
  }
  if (n.kind != Kind::And) return t;
  std::vector<Term> kept;  // texts are few places to differ at; a whole language excluded would differ everywhere
  for (Term c : terms_.children(t))
    if (terms_.node(c).kind != Kind::Not || terms_.node(terms_.node(c).a).max_bytes == kUnbounded) kept.push_back(c);
  if (kept.empty() || kept.size() == n.b) return t;
  return terms_.conj(kept);
}

bool MaskEngine::compute_difference(Term t, State below, Mask& out) {
  const Term base = without_exclusions(t);
  if (base == t || !terms_.alive(base)) return false;
  if (below != kDone && split(base, kNone)->open) return false;
  auto known = term_mask(base, below);
  Sink sink;
  walk_difference(t, base, below, 0, sink);
  out.verify = known->verify;  // looked at byte by byte, whatever the difference
  out.base = known->base;
  if (!out.base) {
    auto bits = std::make_shared<Bits>(vocab_->words());
    out.base = bits;
  }
  take_away(sink.tokens, *known, out);
  return true;
}

// What `from` allows beyond its bits and what it clears, less `tokens`.
void MaskEngine::take_away(std::vector<u32>& tokens, const Mask& from, Mask& out) {
  std::sort(tokens.begin(), tokens.end());
  out.clear = from.clear;
  out.clear.insert(out.clear.end(), tokens.begin(), tokens.end());
  for (u32 token : from.set)
    if (!std::binary_search(tokens.begin(), tokens.end(), token)) out.set.push_back(token);
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
    following(rest).each([&](u8 b) { overlap = overlap || r.set.has(b); });
    if (overlap) return false;
  }
  if (body_of(t) != kNone) return false;
  ByteSet exits = open ? following(rest) : ByteSet{};
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
        if (automaton_.allows(whole, vocab_->token(token))) sink.tokens.push_back(token);
        else if (automaton_.has_tracked()) sink.verify.push_back(token);  // perhaps beyond the end of an item
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

}  // namespace constrain
