#include "vocabulary.hpp"

#include <algorithm>

namespace constrain {

namespace {

bool is_continuation(u8 b) { return (b & 0xC0) == 0x80; }

struct Expect {  // continuation bytes still due, and the range of the next
  int due;
  u8 lo, hi;
};

Expect after_lead(u8 b) {
  if (b < 0xC2 || b > 0xF4) return {-1, 0, 0};
  if (b < 0xE0) return {1, 0x80, 0xBF};
  if (b < 0xF0) return {2, static_cast<u8>(b == 0xE0 ? 0xA0 : 0x80), static_cast<u8>(b == 0xED ? 0x9F : 0xBF)};
  return {3, static_cast<u8>(b == 0xF0 ? 0x90 : 0x80), static_cast<u8>(b == 0xF4 ? 0x8F : 0xBF)};
}

}  // namespace

Trie::Trie(std::vector<std::pair<std::string_view, u32>> entries) {
  std::sort(entries.begin(), entries.end());
  nodes_.emplace_back();
  tokens_.reserve(entries.size());
  struct Job {
    u32 node;
    size_t lo, hi, depth;
  };
  // Depth first, children of a node side by side; the end of a subtree's tokens is set when it is left.
  auto build = [&](auto&& self, Job job) -> void {
    size_t at = job.lo;
    nodes_[job.node].tokens = static_cast<u32>(tokens_.size());
    for (; at < job.hi && entries[at].first.size() == job.depth; ++at) tokens_.push_back(entries[at].second);
    nodes_[job.node].own = static_cast<u32>(tokens_.size());
    std::vector<Job> children;
    u32 first = static_cast<u32>(nodes_.size());
    while (at < job.hi) {
      char byte = entries[at].first[job.depth];
      size_t end = at;
      while (end < job.hi && entries[end].first[job.depth] == byte) ++end;
      nodes_.emplace_back();
      nodes_.back().byte = static_cast<u8>(byte);
      children.push_back({static_cast<u32>(nodes_.size() - 1), at, end, job.depth + 1});
      at = end;
    }
    nodes_[job.node].child = first;
    nodes_[job.node].count = static_cast<u16>(children.size());
    for (auto& child : children) self(self, child);
    nodes_[job.node].end = static_cast<u32>(tokens_.size());
  };
  build(build, {0, 0, entries.size(), 0});
  measure();
}

void Trie::measure() {
  usage_.resize(nodes_.size());
  for (u32 i = static_cast<u32>(nodes_.size()); i-- > 0;) {
    TrieNode& n = nodes_[i];
    Usage& use = usage_[i];
    auto take = [&](u32 child) {  // a child at a character border
      const Usage& u = usage_[child];
      use.ascii[0] |= u.ascii[0];
      use.ascii[1] |= u.ascii[1];
      use.lead |= u.lead;
      n.ill_formed = n.ill_formed || nodes_[child].ill_formed;
      n.characters = std::max<u16>(n.characters, static_cast<u16>(1 + nodes_[child].characters));
    };
    auto inside = [&](auto&& self, u32 node, Expect e) -> void {
      n.characters = std::max<u16>(n.characters, 1);
      for (u32 c = nodes_[node].child; c < nodes_[node].child + nodes_[node].count; ++c) {
        u8 b = nodes_[c].byte;
        if (b < e.lo || b > e.hi) n.ill_formed = true;
        else if (e.due == 1) take(c);
        else self(self, c, {e.due - 1, 0x80, 0xBF});
      }
    };
    for (u32 c = n.child; c < n.child + n.count; ++c) {
      u8 b = nodes_[c].byte;
      if (b < 0x80) {
        use.ascii[b >> 6] |= u64{1} << (b & 63);
        take(c);
      } else if (Expect e = after_lead(b); e.due > 0) {
        use.lead |= u64{1} << (b - 0xC0);
        inside(inside, c, e);
      } else {
        n.ill_formed = true;
      }
    }
  }
}

size_t Split::bytes() const {
  size_t total = sizeof *this + exits.bytes() + (exit_token.size() + exit_characters.size() + loop.size()) * 4;
  if (inside) total += inside->size() * 4;
  for (auto& g : groups) total += sizeof g + g.tokens.size() * 4;
  return total;
}

Vocab::Vocab(std::vector<std::string> tokens, std::vector<u32> end_ids)
    : tokens_(std::move(tokens)), end_ids_(std::move(end_ids)) {
  std::sort(end_ids_.begin(), end_ids_.end());
  std::vector<std::pair<std::string_view, u32>> entries;
  characters_.resize(tokens_.size());
  ByteSet used;
  for (u32 i = 0; i < tokens_.size(); ++i) {
    const std::string& t = tokens_[i];
    if (t.empty()) continue;
    entries.push_back({t, i});
    for (char c : t) characters_[i] += !is_continuation(static_cast<u8>(c));
    most_ = std::max(most_, characters_[i]);
    if (t.size() == 1) alphabet_.add(static_cast<u8>(t[0]));
    for (char c : t) used.add(static_cast<u8>(c));
  }
  if (!(used == alphabet_)) {
    alphabet_ = used;
    whole_tokens_ = true;
  }
  trie_ = Trie(std::move(entries));
  std::vector<std::vector<u32>> by_count(most_ + 1);
  for (u32 i = 0; i < tokens_.size(); ++i)
    if (!tokens_[i].empty()) by_count[characters_[i]].push_back(i);
  for (u32 k = 0; k <= most_; ++k) {
    if (k > 0 && by_count[k].empty()) {
      at_most_.push_back(at_most_.back());
      continue;
    }
    auto bits = k == 0 ? std::make_shared<Bits>(words()) : std::make_shared<Bits>(*at_most_.back());
    for (u32 t : by_count[k]) (*bits)[t / 32] |= 1u << (t % 32);
    at_most_.push_back(bits);
  }
}

bool Vocab::is_end(u32 id) const { return std::binary_search(end_ids_.begin(), end_ids_.end(), id); }

std::shared_ptr<const Bits> Vocab::at_most(u32 characters) const { return at_most_[std::min(characters, most_)]; }

size_t ClassIndex::bytes() const {
  size_t total = sizeof *this + inside->size() * 4 + after_any.bytes();
  for (auto& t : after) total += t.bytes();
  return total;
}

std::shared_ptr<const ClassIndex> Vocab::class_index(const CharSet& set, const ByteSet& exits) {
  constexpr size_t kRemembered = 64;
  {
    std::lock_guard lock(mutex_);
    for (auto it = classes_.begin(); it != classes_.end(); ++it)
      if (it->set == set && it->exits == exits) {
        classes_.splice(classes_.begin(), classes_, it);
        return it->index;
      }
  }
  auto out = std::make_shared<ClassIndex>();
  auto bits = std::make_shared<Bits>(words());
  std::vector<std::vector<std::pair<std::string_view, u32>>> rests(1);
  auto collect = [&](u32 node, u32 k, u32 from) {  // tokens below, less their first `from` bytes
    const TrieNode& n = trie_.node(node);
    for (u32 i = n.tokens; i < n.end; ++i) {
      const u32 token = trie_.tokens()[i];
      rests[k].push_back({std::string_view(tokens_[token]).substr(from), token});
    }
  };
  auto inside = [&](const TrieNode& n, u32 k) {
    for (u32 i = n.tokens; i < n.own; ++i) (*bits)[trie_.tokens()[i] / 32] |= 1u << (trie_.tokens()[i] % 32);
    if (n.own > n.tokens) out->most = std::max(out->most, k);
  };
  auto character = [&](auto&& self, auto&& border, u32 node, u32 k, u32 depth, Expect e) -> void {
    const TrieNode& n = trie_.node(node);
    inside(n, k);
    for (u32 c = n.child; c < n.child + n.count; ++c) {
      const u8 b = trie_.node(c).byte;
      if (b < e.lo || b > e.hi) continue;  // ill-formed: dead whatever the lexeme
      if (e.due == 1) {
        inside(trie_.node(c), k);
        border(border, c, k, depth + 1);
      } else {
        self(self, border, c, k, depth + 1, {e.due - 1, 0x80, 0xBF});
      }
    }
  };
  auto border = [&](auto&& self, u32 node, u32 k, u32 depth) -> void {
    const TrieNode& n = trie_.node(node);
    if (rests.size() <= k + 1) rests.resize(k + 2);
    for (u32 c = n.child; c < n.child + n.count; ++c) {
      const u8 b = trie_.node(c).byte;
      if (!set.has(b)) {
        if (k > 0 && exits.has(b)) collect(c, k, depth);
      } else if (b < 0x80 && !trie_.node(c).ill_formed && set.covers(trie_.usage(c))) {
        const TrieNode& x = trie_.node(c);
        for (u32 i = x.tokens; i < x.end; ++i) (*bits)[trie_.tokens()[i] / 32] |= 1u << (trie_.tokens()[i] % 32);
        out->most = std::max(out->most, k + 1 + x.characters);
      } else if (b < 0x80) {
        inside(trie_.node(c), k + 1);
        self(self, c, k + 1, depth + 1);
      } else {
        character(character, self, c, k + 1, depth + 1, after_lead(b));
      }
    }
  };
  border(border, 0, 0, 0);
  out->inside = bits;
  std::vector<std::pair<std::string_view, u32>> all;
  while (rests.size() > 1 && rests.back().empty()) rests.pop_back();
  for (auto& list : rests) {
    all.insert(all.end(), list.begin(), list.end());
    out->after.emplace_back(std::move(list));
  }
  out->after_any = Trie(std::move(all));
  std::lock_guard lock(mutex_);
  classes_.push_front({set, exits, out});
  if (classes_.size() > kRemembered) classes_.pop_back();
  return out;
}

std::shared_ptr<const Split> Vocab::shared_split(u64 hash, bool counted, const ByteSet& live) {
  std::lock_guard lock(mutex_);
  auto it = splits_.find(hash);
  if (it == splits_.end() || (counted && !it->second.split->counted) || !(it->second.split->live == live)) return nullptr;
  use_.splice(use_.begin(), use_, it->second.use);
  return it->second.split;
}

void Vocab::share_split(u64 hash, std::shared_ptr<const Split> split) {
  std::lock_guard lock(mutex_);
  if (auto it = splits_.find(hash); it != splits_.end()) {
    split_bytes_ -= it->second.split->bytes();
    use_.erase(it->second.use);
    splits_.erase(it);
  }
  split_bytes_ += split->bytes();
  use_.push_front(hash);
  splits_[hash] = {std::move(split), use_.begin()};
  while (split_bytes_ > split_limit_ && use_.size() > 1) {
    auto it = splits_.find(use_.back());
    split_bytes_ -= it->second.split->bytes();
    splits_.erase(it);
    use_.pop_back();
  }
}

}  // namespace constrain
