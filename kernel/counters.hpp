// Counters of a container: what its members or items advance, and the conditions under which it may be closed.
//
// A member or an item is written in one of its *ways*; each advances some counters by one. A container may be closed
// only if every condition has a bound that holds. Counts never fall, so a condition with a counter that has reached its
// bound holds for good.
//
// Invariant: `settle` maps counts that the same continuations complete to one vector. Counters saturate at the highest
// bound that names them, and go there at once when no condition that is still open can see the difference.
#pragma once

#include <algorithm>
#include <span>

#include "support.hpp"

namespace constrain {

struct Way {
  u32 value;                   // a grammar term
  std::vector<u32> counters;   // distinct
  u32 item = 0;                // the regular term of `value`, where items must differ
  bool alive = true;
};

struct Bound {
  u32 counter;  // kNone: how many members or items
  u32 least;
  bool reached;
};

struct Counting {
  std::vector<std::vector<Bound>> conditions;  // of each, one bound must hold
  std::vector<u32> caps;                       // by counter: the highest bound
  u32 enough = 1;  // of members or items: from here on, more of them matter to conditions alone
  u32 last = 1;    // and from here on to nothing; 0 where there is a maximum, so that all must be counted

  bool active() const { return !conditions.empty(); }
  void prepare(u32 least_enough, bool bounded);
  u32 after(u32 count) const { return last == 0 ? count + 1 : std::min(count + 1, last); }
  // Whether all conditions hold, those in `settled` aside.
  bool hold(const std::vector<u32>& counts, u32 count, std::span<const u64> settled = {}) const;
  void settle(std::vector<u32>& counts, u32& count) const;
  bool moves(const Way& way, const std::vector<u32>& counts) const;  // some counter of `way` is below its cap
  // How many more without counters are worth trying: all numbers at which the answer of `hold` can change, ascending.
  std::vector<u32> steps_ahead(u32 count, u32 min) const;

  static bool holds(const Bound& b, const std::vector<u32>& counts, u32 count) {
    return ((b.counter == kNone ? count : counts[b.counter]) >= b.least) == b.reached;
  }
};

inline bool has(std::span<const u64> bits, size_t i) { return i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1); }

// Vectors of counts by id; 0 is all zeros, however long.
class CountVectors {
 public:
  u32 id_of(std::vector<u32> counts);
  std::vector<u32> get(u32 id, size_t size) const;
  size_t bytes() const;

 private:
  std::vector<std::vector<u32>> vectors_{{}};
  IdTable table_;
};

}  // namespace constrain
