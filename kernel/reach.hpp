// Reachability by tokens, for vocabularies that cannot spell every byte of their tokens alone.
//
// Everywhere else "alive" means: some bytes complete the text, and each byte is a token if need be. Where a vocabulary
// has `yes` but no `y`, or `é` but neither of its bytes, that is not enough: alive means that some *tokens* complete it.
// Decided by search over states, best first by the bytes still needed; remembered by state.
//
// Invariant: a state found alive has a way. One that a limit leaves undecided is forbidden; if nothing else is left, the
// limit is raised.
#pragma once

#include <unordered_map>

#include "masks.hpp"

namespace constrain {

class TokenReach {
 public:
  TokenReach(Automaton& automaton, MaskEngine& masks, std::shared_ptr<Vocab> vocab)
      : automaton_(automaton), masks_(masks), vocab_(std::move(vocab)) {}
  bool alive(State s);
  void fill(State s, u32* row);                // the mask, less tokens that lead to dead states
  std::vector<u32> completion(State s);        // tokens of a completion of the fewest bytes

 private:
  struct Visit {
    State state;
    u32 parent, token, bytes;
  };
  // Searches from `s`; returns the visits and the index of the accepting one, or kNone.
  u32 search(State s, std::vector<Visit>& visits, bool stop_at_known);
  State after(State s, u32 token);

  Automaton& automaton_;
  MaskEngine& masks_;
  std::shared_ptr<Vocab> vocab_;
  std::unordered_map<State, bool> known_;
  bool limit_met_ = false;
  std::unordered_map<State, Bits> rows_;
};

}  // namespace constrain
