// The vocabulary as a byte trie, and what can be known of it once: which characters lie below each node, how many
// characters each token adds, and the splits of lexeme states that every grammar over this vocabulary shares.
//
// Invariant: children of a node are contiguous and sorted by byte; tokens are in depth-first order, so that a subtree's
// tokens are one range.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "support.hpp"

namespace constrain {

using Bits = std::vector<u32>;  // bit i of word w: token 32 w + i

struct TrieNode {
  u32 child = 0;   // index of the first child
  u32 tokens = 0;  // own tokens are [tokens, own), those of the subtree [tokens, end)
  u32 own = 0, end = 0;
  u16 count = 0;   // children
  u8 byte = 0;
  bool ill_formed = false;  // some path below is not well-formed UTF-8 when read from a character border here
  u16 characters = 0;       // the most characters that a path below adds
};

struct Usage {  // which ASCII characters, and which lead bytes, occur below
  u64 ascii[2] = {0, 0};
  u64 lead = 0;  // bit b - 0xC0
};

class Trie {
 public:
  Trie() = default;
  // `entries`: text and payload; payloads come back in `tokens`.
  explicit Trie(std::vector<std::pair<std::string_view, u32>> entries);
  const TrieNode& node(u32 i) const { return nodes_[i]; }
  const Usage& usage(u32 i) const { return usage_[i]; }
  const std::vector<u32>& tokens() const { return tokens_; }
  const TrieNode* find(const TrieNode& parent, u8 byte) const {
    const TrieNode* first = nodes_.data() + parent.child;
    size_t lo = 0, hi = parent.count;
    while (lo < hi) {
      size_t mid = (lo + hi) / 2;
      if (first[mid].byte < byte) lo = mid + 1;
      else hi = mid;
    }
    return lo < parent.count && first[lo].byte == byte ? first + lo : nullptr;
  }
  u32 index(const TrieNode* n) const { return static_cast<u32>(n - nodes_.data()); }
  size_t size() const { return nodes_.size(); }
  size_t bytes() const { return nodes_.size() * (sizeof(TrieNode) + sizeof(Usage)) + tokens_.size() * 4; }

 private:
  void measure();
  std::vector<TrieNode> nodes_;
  std::vector<Usage> usage_;
  std::vector<u32> tokens_;
};

// What one lexeme state makes of the vocabulary. Shared between grammars only if `portable`.
struct Split {
  struct Group {
    u32 term, pending, characters;
    std::vector<u32> tokens;
  };
  std::shared_ptr<const Bits> inside;  // tokens that end within the lexeme
  Bits loop;                           // of these, the ones made only of characters that leave the state as it is
  std::vector<Group> groups;           // the others, by where they end and how many characters they add
  Trie exits;                          // remainders of tokens that complete the lexeme; payload: index into the two below
  std::vector<u32> exit_token;
  std::vector<u32> exit_characters;
  bool open = false;                   // the lexeme may end at other places than its terminator
  bool counted = false, portable = true;
  u32 need = 0;                        // bytes of the longest shortest completion, over the states tokens end in
  ByteSet live;
  size_t bytes() const;
};

// A class of characters: ASCII ones, and lead bytes all of whose characters belong to it.
struct CharSet {
  u64 ascii[2] = {0, 0};
  u64 lead = 0;  // bit b - 0xC0
  bool operator==(const CharSet&) const = default;
  bool has(u8 b) const {
    return b < 0x80 ? ascii[b >> 6] >> (b & 63) & 1 : b >= 0xC0 && (lead >> (b - 0xC0) & 1);
  }
  bool covers(const Usage& u) const {
    return !(u.ascii[0] & ~ascii[0]) && !(u.ascii[1] & ~ascii[1]) && !(u.lead & ~lead);
  }
  int count() const { return std::popcount(ascii[0]) + std::popcount(ascii[1]) + std::popcount(lead); }
};

// The vocabulary seen through one class C: tokens made of C alone, and what follows the longest beginning made of C in
// the others. A lexeme state that a run of C leads on step by step sees a token only through its count and that rest.
struct ClassIndex {
  std::shared_ptr<const Bits> inside;  // tokens of C*, perhaps ending inside a character
  u32 most = 0;                        // the most characters that one of these has
  std::vector<Trie> after;             // [k]: rests after k ≥ 1 characters of C; payload: token
  Trie after_any;                      // the same for all k ≥ 1 together
  size_t bytes() const;
};

class Vocab {
 public:
  Vocab(std::vector<std::string> tokens, std::vector<u32> end_ids);
  const Trie& trie() const { return trie_; }
  u32 size() const { return static_cast<u32>(tokens_.size()); }
  u32 words() const { return (size() + 31) / 32; }
  const std::string& token(u32 id) const { return tokens_[id]; }
  const std::vector<u32>& end_ids() const { return end_ids_; }
  bool is_end(u32 id) const;
  // The bytes that texts are made of: those that some token spells alone, if that spells every token; else those that
  // occur in tokens (`whole_tokens`), and what can be finished is decided by tokens (see reach.hpp).
  const ByteSet& alphabet() const { return alphabet_; }
  bool whole_tokens() const { return whole_tokens_; }
  u32 characters(u32 id) const { return characters_[id]; }
  u32 most_characters() const { return most_; }
  std::shared_ptr<const Bits> at_most(u32 characters) const;  // tokens that add at most so many characters

  std::shared_ptr<const Split> shared_split(u64 hash, bool counted, const ByteSet& live);
  void share_split(u64 hash, std::shared_ptr<const Split> split);
  // `exits`: bytes outside the class that are of interest after a run.
  std::shared_ptr<const ClassIndex> class_index(const CharSet& c, const ByteSet& exits);
  void set_split_limit(size_t bytes) { split_limit_ = bytes; }
  size_t split_bytes() const { return split_bytes_; }

 private:
  std::vector<std::string> tokens_;
  std::vector<u32> end_ids_, characters_;
  u32 most_ = 0;
  Trie trie_;
  ByteSet alphabet_;
  bool whole_tokens_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Bits>> at_most_;
  struct Shared {
    std::shared_ptr<const Split> split;
    std::list<u64>::iterator use;
  };
  std::unordered_map<u64, Shared> splits_;
  struct Class {
    CharSet set;
    ByteSet exits;
    std::shared_ptr<const ClassIndex> index;
  };
  std::list<Class> classes_;  // the last used first
  std::list<u64> use_;  // most recent first
  size_t split_bytes_ = 0, split_limit_ = size_t{256} << 20;
};

}  // namespace constrain
