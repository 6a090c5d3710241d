// Plans: whether, and how cheaply, a container with conditions can still be completed.
//
// A plan is a least-cost path over *stages*. Of an object: the declared members that advance counters, in index order,
// each left out or written in one of its ways; then the names of each class whose values advance counters; at the end as
// many more members that advance nothing as the counts ask for, cheapest first. Of an array: one item after the other in
// one of its ways; at the end more items that advance nothing. What is decided depends on the stage, the count and the
// counters alone, so it is remembered by these (`PlanKey`) and shared by all states that lead there.
//
// A condition is settled as soon as it holds for good: what is reached stays reached, and what too few later members
// advance stays below. Counters that only settled conditions speak of are forgotten, and a condition that can hold no
// more ends the search at once; so n names that each settle one condition make n keys, not 2ⁿ.
//
// Invariant: a plan is finite iff some members or items complete the container. Its cost is that of what it would write,
// save that every name of a class counts as its shortest one.
// Limit: `plans` of `Limits` many keys.
// Rejected: a search over the states of the automaton itself, which has one for each text and not for each count.
#pragma once

#include <unordered_map>

#include "grammar.hpp"

namespace constrain {

class Planner {
 public:
  explicit Planner(Automaton& automaton) : a_(automaton) {}

  bool can_finish(u32 members, const Progress& p);       // between two members
  bool can_finish_items(u32 items, const Progress& p);
  u64 names_left(u32 members, u32 cls, u32 written);     // kUnbounded: as many as one likes
  // Bytes of a cheap completion, kUnbounded if there is none; the text is appended to `out` if there is one. `at_key`: a
  // member must come, and what stands before its name is written.
  u32 members_rest(u32 members, const Progress& p, bool at_key, std::string* out);
  u32 items_rest(u32 items, Progress p, std::string* out);
  // Forgets what is known of a container if the costs of its values have changed; false if they have not.
  bool renew(const MembersDef& def);
  bool renew(const ItemsDef& def, u32 items);
  size_t bytes() const;

 private:
  struct PlanKey {
    u32 def, stage = 0;       // stage of an object: 0 declared members, 1… classes, then the end
    u32 place = 0;            // the next of the counted members, or the set of those that are decided
    u32 pool = 0;             // which members that advance nothing are left, + 1; 0 where that says nothing
    u32 left = 0, lefts = 0;  // names left: of this stage's class, and a vector of all classes
    u32 count = 0, counters = 0;
    u32 must = 0;             // one more has to come
    u32 settled = 0;          // conditions that hold for good from here on: a set of bits
    u32 lost = 0;             // some condition can hold no more
    bool operator==(const PlanKey&) const = default;
  };
  struct Hash {
    size_t operator()(const PlanKey& k) const { return hash_bytes(&k, sizeof k, 71); }
  };
  struct Step {
    u32 cost, member, cls, way;  // member: also an item's place; way kNone: nothing is written
    PlanKey next;
  };
  struct Start {
    PlanKey key;
    u32 cost = 0;             // of what comes whatever is chosen; kUnbounded: there is no way on
    std::vector<u32> forced;  // required members that advance nothing
  };
  struct Supplier {  // members that advance nothing
    u32 cost, amount, member, cls;
    Gram value;
  };
  struct Filling {
    u32 cost = kUnbounded, more = 0;
  };
  struct Table {
    u64 signature = 0;  // of the costs that it was made from
    std::unordered_map<PlanKey, u32, Hash> costs;
    std::unordered_map<u32, u32> lefts;  // by the names written: a vector of those left
  };
  static constexpr u32 kItems = 1u << 31;

  Start start(u32 members, const Progress& p, bool at_key);
  PlanKey start_items(u32 items, const Progress& p);
  PlanKey forward(PlanKey key);
  void settle(PlanKey& key);
  bool can_advance(const PlanKey& key, u32 counter, u32 times) const;
  bool renew(u32 def, u64 signature);
  u64 signature(const std::vector<Way>& ways, u64 seed) const;
  u32 next_counted(const PlanKey& key) const;
  u32 decided(const PlanKey& key, u32 member) const;  // the place behind it
  void steps(const PlanKey& key, std::vector<Step>& out);
  void item_steps(const PlanKey& key, std::vector<Step>& out);
  Filling fill(const PlanKey& key);
  Filling fill_items(const PlanKey& key);
  std::vector<Supplier> suppliers(const PlanKey& key);
  const Way* still_way(const Counting& counting, const std::vector<Way>& ways, u32 counters) const;
  u32 plan(const PlanKey& key);
  std::vector<Step> follow(PlanKey& key);
  std::vector<u32> names_left(u32 members, u32 written);
  u32 class_of(const MembersDef& def, u32 text);
  u32 overhead(const Punctuation& mark, u32 count);

  Automaton& a_;
  std::unordered_map<u32, Table> tables_;
  size_t size_ = 0;  // keys in all tables
};

}  // namespace constrain
