// Masks: from a parser state to the set of next tokens that keep the text completable.
//
// Three ways, by what is left of the lexeme on top:
//   product  few bytes are legal: walk vocabulary trie and parser together; tens of nodes.
//   split    a wide lexeme with a terminator: tokens that end inside it are one bit set that depends on the lexeme state
//            alone; those that leave it are kept as a trie of their remainders, walked with the parser state below.
//   window   the same with a length bound: tokens matter by how many characters they add, so one split serves all counts.
// A lexeme that differs from a known one by some excluded texts is walked only where the two differ.
//
// Invariant: a mask equals brute force over the vocabulary at every state; every fast path is an optimisation of that.
// Rejected: one bit set per state (16 KB each); interning states while walking inside a lexeme.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "grammar.hpp"
#include "vocabulary.hpp"

namespace constrain {

inline void set_bit(u32* row, u32 token) { row[token / 32] |= 1u << (token % 32); }
inline void clear_bit(u32* row, u32 token) { row[token / 32] &= ~(1u << (token % 32)); }

struct Mask {
  std::shared_ptr<const Bits> base;  // may be null: nothing
  std::vector<u32> clear, set;       // tokens, applied in this order
  std::vector<u32> verify;           // allowed only if stepping through their bytes says so
  u32 need = kUnbounded;             // bytes that complete the lexeme from wherever a token ends in it, if known
  size_t bytes() const { return sizeof *this + (clear.size() + set.size() + verify.size()) * 4; }
};

struct MaskCounters {
  u64 computed = 0, cached = 0, visited = 0, splits = 0, evicted = 0;
};

class MaskEngine {
 public:
  MaskEngine(Automaton& automaton, std::shared_ptr<Vocab> vocab, size_t limit_bytes);
  // row: words() words of int32. Returns the number of tokens set if `count`, else 0.
  void fill(State s, u32* row);
  std::shared_ptr<const Mask> mask(State s);
  bool is_cached(State s);  // filling will be a copy
  void fill_stepwise(State s, u32* row);  // by the parser's steps alone: slow, and what every fast way must equal
  size_t cached_bytes() const { return cached_bytes_; }
  MaskCounters counters;

 private:
  struct Sink {
    std::vector<u32> tokens, verify;
    bool doubtful = false;
    void take(const Trie& trie, u32 from, u32 to) {
      auto& list = doubtful ? verify : tokens;
      list.insert(list.end(), trie.tokens().begin() + from, trie.tokens().begin() + to);
    }
  };
  // Characters that lead a lexeme state to one and the same successor, and on from there: a subtree of the vocabulary
  // made only of these, and not deeper than `steps`, ends inside the lexeme as a whole.
  struct Run {
    CharSet set;              // lead bytes only for states that loop on themselves
    u32 steps = 0;            // characters; kUnbounded for a loop
    std::vector<Term> after;  // the state after 1, 2, … characters; the last one stays
    bool covers(const TrieNode& n, const Usage& u) const {
      return !n.ill_formed && n.characters <= steps && set.covers(u);
    }
    Term after_characters(u32 n) const { return after[std::min<size_t>(n, after.size()) - 1]; }
    bool loops(Term t) const { return steps == kUnbounded && after[0] == t; }
  };
  struct Step {
    u64 ascii[2] = {0, 0};
    Term target = kNone;
  };
  struct Window {  // t = (rest ∧ item{min,max}) tail
    Term item, rest, tail;
    u32 min, max;
  };
  using Key = u64;
  bool as_term(State s, Term& t, State& below);  // the whole state is one lexeme over one rest

  std::shared_ptr<const Mask> term_mask(Term t, State below);
  std::shared_ptr<Mask> compute_term(Term t, State below);
  std::shared_ptr<Mask> from_sink(Sink& sink);
  std::shared_ptr<const Mask> tracked_mask(const Frame& f);
  void walk_tracked(State inner, u32 seen, u32 node, std::vector<u32>& dead);
  ByteSet following(State s);  // bytes that may come next, also beyond the end of an item
  bool compute_difference(Term t, State below, Mask& out);
  bool compute_window(const Window& w, State below, Mask& out);
  bool find_window(Term t, Window& w);
  Term without_exclusions(Term t);
  std::shared_ptr<const Split> split(Term t, Term item);
  std::shared_ptr<Split> compute_split(Term t, Term item);
  void walk_state(State s, const Trie& trie, u32 node, Sink& sink);
  void walk_entry(const Frame& f, State below, const Trie& trie, u32 node, Sink& sink);
  void walk_term(Term t, State below, const Trie& trie, u32 node, Sink& sink);
  void walk_child(Term t, State below, const Trie& trie, u32 c, Sink& sink);
  void walk_key(const Frame& f, State below, const Trie& trie, u32 node, Sink& sink);
  static void take_away(std::vector<u32>& tokens, const Mask& from, Mask& out);  // sorts `tokens`
  void walk_difference(Term t, Term base, State below, u32 node, Sink& sink);
  const Run* run(Term t, const TrieNode& n);
  bool compute_run(Term t, State below, Mask& out);
  Step step_of(Term t);
  u64 leads_to(Term t, Term target);
  Term body_of(Term t);
  bool body_like(Term t, u8 bit, Term& tail) const;
  bool begins_free(Term t, Term star) const;
  bool compute_unbounded(const Window& w, State below, Mask& out);
  void note(Term t) {  // a token ends in `t`
    if (noting_) need_ = std::max(need_, terms_.shortest_length(t));
  }
  bool wide(Term t);
  bool is_body(Term t) const;  // any text up to a terminator
  Term graft(Term t, Term star, Term replacement);
  void or_into(Bits& bits, const Mask& mask) const;
  void remember(Key key, std::shared_ptr<const Mask> mask);

  Automaton& automaton_;
  Terms& terms_;
  std::shared_ptr<Vocab> vocab_;
  size_t limit_bytes_, cached_bytes_ = 0;
  struct Cached {
    std::shared_ptr<const Mask> mask;
    std::list<Key>::iterator use;
    size_t bytes;
  };
  std::unordered_map<Key, Cached> cache_;
  std::list<Key> use_;
  std::unordered_map<Term, std::shared_ptr<const Split>> splits_;
  std::vector<u32> run_of_;  // index into runs_ + 1; 0 unknown
  std::deque<Run> runs_;
  std::vector<u8> wide_;
  bool noting_ = false;
  u32 need_ = 0;
};

}  // namespace constrain
