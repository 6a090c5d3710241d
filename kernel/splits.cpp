// What one lexeme state makes of the whole vocabulary: tokens inside, tokens that leave and their remainders.
#include <algorithm>
#include <map>
#include <tuple>

#include "masks.hpp"

namespace constrain {

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

}  // namespace constrain
