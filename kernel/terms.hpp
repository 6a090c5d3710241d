// Regular terms over bytes: interned, normalised, closed under Boolean operations, matched by Brzozowski derivatives.
//
// A term is an id into an arena that belongs to one compiled grammar. Smart constructors normalise, so that terms that
// mean the same mostly are the same id; every memo keys on ids. A row of derivatives has one cell per *byte class* of
// the term (an interned partition of the 256 bytes), not per byte.
//
// The alphabet: bytes that the vocabulary cannot spell alone are cut out of every term when it is built, so that "alive"
// always means "has a completion that can be written".
//
// Invariant: CAT is right-nested and its head is never CAT; ALT and AND have at least two children, sorted by id.
// Source: Brzozowski 1964; Owens, Reppy, Turon 2009, "Regular-expression derivatives re-examined" (byte classes).
#pragma once

#include <memory>
#include <span>

#include "support.hpp"

namespace constrain {

using Term = u32;
constexpr Term kEmpty = 0, kEpsilon = 1;

enum class Kind : u8 { Empty, Epsilon, Bytes, Cat, Alt, And, Not, Repeat, Literals, Decimal };
enum class Encoding : u8 { Raw = 0, Json = 1, JsonAny = 2 };
enum class Life : u8 { Unknown, Alive, Dead };

// `chars` and `is_char` are bits by Encoding: the language is a subset of whole characters' sequences (`chars`), or of
// single characters (`is_char`); `universal`: it is the set of *all* single characters.
struct Node {
  Kind kind;
  bool nullable;
  bool plain;  // without And and Not below: alive for sure
  Life life;
  u8 chars, is_char, universal;
  u32 a, b, c, d;  // by kind, see terms.cpp
  u32 classes;     // partition id, or kNone
  u32 row;         // offset of the derivative row, or kNone
  u32 live;        // index of the set of bytes that keep it alive, or kNone
  u32 min_bytes, max_bytes;
  u64 hash;               // structural, the same in every arena of one alphabet
  u32 shortest = kNone;   // bytes of a shortest member, once asked for
};

struct Partition {
  std::array<u8, 256> of{};
  u32 count = 1;
  std::array<u8, 256> sample{};  // one byte of each class
};

class Terms {
 public:
  explicit Terms(const ByteSet& alphabet, const Limits& limits);

  // ---- constructors
  Term bytes(const ByteSet& set);
  Term literal(std::string_view text);
  Term literals(std::vector<std::string> texts);
  Term cat(Term a, Term b);
  Term alt(std::vector<Term> items);
  Term alt(Term a, Term b) { return alt(std::vector<Term>{a, b}); }
  Term conj(std::vector<Term> items);
  Term conj(Term a, Term b) { return conj(std::vector<Term>{a, b}); }
  Term complement(Term a);  // relative to all byte strings over the alphabet
  Term repeat(Term a, u32 min, u32 max);
  Term decimal(u64 coefficient, u32 scale);
  Term character(std::span<const std::pair<u32, u32>> ranges, Encoding encoding);
  Term any_text(Encoding encoding);
  Term adopt(const Terms& other, Term t);  // the same term of an arena over the same alphabet
  Term spelled(std::string_view utf8, Encoding encoding);  // every spelling of one text

  // ---- questions
  Term derive(Term t, u8 byte);
  Term live_derive(Term t, u8 byte) {
    Term d = derive(t, byte);
    return d == kEmpty || !alive(d) ? kEmpty : d;
  }
  bool nullable(Term t) const { return nodes_[t].nullable; }
  bool alive(Term t) {
    const Node& n = nodes_[t];
    if (n.life != Life::Unknown) return n.life == Life::Alive;
    return decide_life(t);
  }
  const ByteSet& live_bytes(Term t);
  bool matches(Term t, std::string_view text);
  std::string shortest(Term t);           // a shortest member; t must be alive
  u32 shortest_length(Term t);
  u64 cardinality(Term t, u64 limit);     // min(limit + 1, number of members)
  const Node& node(Term t) const { return nodes_[t]; }
  const Partition& partition(Term t) { return partitions_[classes(t)]; }
  std::span<const Term> children(Term t) const { return {pool_.data() + nodes_[t].a, nodes_[t].b}; }
  const ByteSet& set_of(Term t) const { return sets_[nodes_[t].a]; }
  size_t size() const { return nodes_.size(); }
  size_t memory() const;
  const ByteSet& alphabet() const { return alphabet_; }
  Deadline deadline;

 private:
  struct Literals {
    std::vector<std::string> texts;  // sorted, distinct
  };
  Term adopt(const Terms& other, Term t, std::vector<Term>& known);
  Term intern(Kind kind, u32 a, u32 b, u32 c, u32 d, u64 hash, bool nullable);
  u32 classes(Term t);
  u32 product(u32 p, u32 q);
  u32 intern_partition(Partition&& p);
  Term derive_uncached(Term t, u8 byte);
  Term literal_range(u32 set, u32 lo, u32 hi, u32 depth);
  Term decimal_state(u64 coefficient, u32 scale, u64 rest, u32 phase);
  bool decide_life(Term t);
  Term nary(Kind kind, std::vector<Term>& items);
  void factor(std::vector<Term>& items);
  void absorb(std::vector<Term>& items);
  bool ends_in(Term t, Term tail, u8 encoding_bit) const;
  Term from_sequences(std::vector<std::vector<std::pair<u8, u8>>>& sequences);
  void hex_range(u32 lo, u32 hi, std::vector<std::vector<ByteSet>>& out);
  Term from_sets(const std::vector<std::vector<ByteSet>>& sequences);
  Term escaped(std::span<const std::pair<u32, u32>> ranges, Encoding encoding);

  ByteSet alphabet_;
  Limits limits_;
  std::vector<Node> nodes_;
  std::vector<u32> pool_;  // children of ALT and AND
  std::vector<u32> rows_;  // derivatives
  std::vector<ByteSet> sets_, lives_;
  std::vector<Literals> literal_sets_;
  std::vector<Partition> partitions_;
  std::vector<std::array<u64, 2>> decimals_;
  IdTable table_, set_table_, partition_table_, literal_table_;
  PairMemo products_, cats_;
  std::array<Term, 3> any_text_{kNone, kNone, kNone};
};

}  // namespace constrain
