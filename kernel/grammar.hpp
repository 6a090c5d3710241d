// Grammar terms and the lazy automaton over them: frames, canonical states, transitions, shortest completions.
//
// A *state* is a canonical, interned map frame → state below: the set of all stacks of things still to be matched.
// A *frame* is a regular term in progress, or a place inside a grammar term. States on top are kept *expanded* (every
// frame consumes a byte); states below are left as they were pushed and expanded when they come to the top. Both
// expansion and transitions are memoised, so the parser becomes a DFA as it is used.
//
// `Members` and `Items` are frames of their own: order, required names, counts, no name twice, no value twice are
// arithmetic on a small *progress* record instead of rules. A name or value that must not come again is *captured*
// while it is read; captured frames are the only ones whose transitions are not memoised.
//
// Invariant: every frame that is pushed is alive (`finish` computes costs, dead alternatives are never pushed).
// Source: Koo et al. 2024 (automata over tokens); Knuth 1977 (least costs of a grammar); Might et al. 2011 (derivatives
// of context-free languages).
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "counters.hpp"
#include "terms.hpp"

namespace constrain {

using Gram = u32;   // a grammar term
using State = u32;  // an interned set of stacks
constexpr State kDead = 0, kDone = 1;

struct Advancing {           // what may advance one counter
  std::vector<u32> places;  // declared members, or items of the prefix, ascending
  u32 more = 0;             // the number, from 1, of the last class of names, or of the rest; 0: none
  size_t from(u32 place) const {
    return static_cast<size_t>(places.end() - std::lower_bound(places.begin(), places.end(), place));
  }
};

struct MemberDef {
  std::string name;  // UTF-8
  Gram value;
  bool required;
  std::vector<Way> ways;  // none without conditions
  bool alive = true;
  Term key = kEpsilon;    // every spelling, with quotes
};

struct NameClassDef {
  Term body;  // names, spelled, without quotes, declared ones excluded
  Gram value;
  std::vector<Way> ways;  // none without conditions
  bool alive = true;
  u64 count = 0;  // how many names, capped
  u32 id = 0;     // unique in the automaton
};

struct Punctuation {
  Term open, close, separator, colon, before_key;
};

struct KeyNode {  // trie over the canonical spelling of declared names, quotes included
  std::vector<std::pair<u8, u32>> children;
  std::vector<u32> below;  // members in this subtree, ascending
  u32 member = kNone;      // the name that ends here
};

struct MembersDef {
  std::vector<MemberDef> members;
  std::vector<NameClassDef> classes;
  Punctuation mark;
  bool any_order;
  u32 min_count, max_count;
  Encoding encoding;
  Counting counting;
  u32 id = 0, first_member = 0;       // numbers in the automaton
  std::vector<KeyNode> keys;          // empty: spelled in many ways, matched by terms
  std::vector<u32> next_required;     // first required member at or after i
  std::vector<u32> required_from, alive_from;
  u64 extras = 0;                     // names of all live classes, capped
  std::vector<u32> counted, spare;    // with conditions: members that advance counters; optional live ones that do not
  std::vector<Advancing> advancing;   // by counter
};

struct UniquePart {  // an item that must differ: scalars by a term, all else by grammar and tracker
  Term scalar = kEmpty;
  Gram general = kNone;
  u32 id = 0;                   // unique in the automaton
  std::vector<u32> values;      // chains of the first values, shortest first, as far as they were asked for
  std::vector<std::string> texts;  // of these
  bool exhausted = false;       // there are no others
  bool listing = false;         // the next one is being looked for
};

// What an item must not come to be: texts in a trie, and the state of a grammar of more texts. 0 is the dead one.
struct Tracker {
  u32 node;
  State state;
};

struct TextNode {
  std::vector<std::pair<u8, u32>> children;  // sorted
  bool ends = false;
  u32 count = 0;  // texts below
};

struct ItemsDef {
  std::vector<Gram> prefix;
  Gram rest;
  Punctuation mark;
  u32 min_count, max_count;
  bool unique;
  Encoding encoding;
  bool numbers_any;
  std::vector<UniquePart> parts{};  // unique: of `prefix`, then of `rest`, whole; then of their ways
  std::vector<u32> way_parts{};     // with conditions: of each of these places the first of its ways in `parts`
  bool tracked = false;             // unique, and not only scalars of one lexeme
  u32 least = kUnbounded;           // tracked: bytes of the shortest inside, where that needs different values
  Counting counting{};
  std::vector<std::vector<Way>> prefix_ways{};  // none without conditions
  std::vector<Way> rest_ways{};
  std::vector<Advancing> advancing{};  // by counter
  u32 reachable = 0;                // max_count, or the first place whose item is dead
  bool needs_several() const { return tracked && (min_count > 1 || counting.active()); }
  const std::vector<Way>& ways(u32 place) const { return place < prefix_ways.size() ? prefix_ways[place] : rest_ways; }
};

enum class FrameKind : u32 {
  Term,       // a: term
  Gram,       // a: grammar term, not expanded
  Sequence,   // a: sequence, b: position
  Repetition, // a: repetition, b: items done
  Members,    // a: members, b: progress           between two members
  Key,        // a: members, b: progress, c: key node
  AnyKey,     // a: members, b: progress           before a key
  AfterKey,   // a: members, b: progress, c: member
  ClassKey,   // a: members, b: progress, c: class, d: term left, e: capture
  AfterClass, // a: members, b: progress (with the name), c: class
  Items,      // a: items, b: progress             between two items
  Unique,     // a: items, b: progress, c: way, d: term left, e: capture
  Tracked,    // a: items, b: progress behind it, c: state of the item, d: tracker, e: capture
  NextItem,   // a: items, b: progress             before an item, tracked
  ItemEnd,    // a: items, b: state below          an item is over; what follows is not known here
};

struct Frame {
  FrameKind kind;
  u32 a = 0, b = 0, c = 0, d = 0, e = 0;
  bool operator==(const Frame&) const = default;
};

// How far a container is. Of an object: `pos` is the first declared name that may still come (declared order), `seen` the
// declared names that came (any order), `written` a chain of the other names that came. Of an array: `written` is a
// chain of the values that must not come again.
struct Progress {
  u32 pos = 0, count = 0, seen = 0, written = 0;
  u32 counters = 0;  // a vector's id
  bool operator==(const Progress&) const = default;
};

struct Choice {  // a value that may come, and the progress behind it
  Gram value;
  u32 way;
  bool whole;  // stands for all ways
  Progress next;
};

struct MemberText {  // one of the declared members of a completion
  u32 member;
  Gram value;
};

struct ExtraText {  // members of a class
  u32 cls, amount;
  Gram value;
};

struct Entry {
  u32 frame;
  State below;
};

inline u64 pair_key(State a, State b) { return u64{a} << 32 | b; }

struct DepthGuard {
  u32& depth;
  explicit DepthGuard(u32& d) : depth(d) { ++depth; }
  ~DepthGuard() { --depth; }
};

class Planner;

class Automaton {
 public:
  Automaton(const ByteSet& alphabet, const Limits& limits);
  ~Automaton();

  // ---- building
  Terms terms;
  Gram lexeme(Term t);
  Gram sequence(std::vector<Gram> items);
  Gram choice(std::vector<Gram> items);
  Gram rule();
  void define(Gram rule, Gram body);
  Gram repetition(Gram item, Gram separator, u32 min, u32 max);  // separator may be kNone
  Gram members(MembersDef def);
  Gram items(ItemsDef def);
  using Parts = std::vector<std::pair<Term, Gram>>;  // of one place: the whole item, then its ways; kNone: nothing else
  void set_unique(Gram items, const std::vector<Parts>& places);
  Term without_exponents(Term t);
  void finish(Gram start);
  bool is_alive(Gram g) const { return costs_[g] != kUnbounded; }

  // ---- running
  State start() const { return start_; }
  State step(State s, u8 byte);
  bool accepts(State s) const { return states_[s].accept; }
  ByteSet legal_bytes(State s);
  u32 cost(State s);                 // bytes of a shortest completion
  std::string completion(State s);

  // ---- for masks
  struct Shape {
    u32 at, count;
    bool accept, captures;
    State expanded;
    u32 cost;
  };
  State expand(State s);
  State state_of(Term t, State below) { return expand(single({FrameKind::Term, t}, below)); }
  std::span<const Entry> entries(State s) const { return {entries_.data() + states_[s].at, states_[s].count}; }
  const Frame& frame(u32 f) const { return frames_[f]; }
  const MembersDef& members_def(u32 m) const { return members_[m]; }
  const ItemsDef& items_def(u32 i) const { return items_[i]; }
  bool eligible(const MembersDef& def, u32 progress, u32 member);
  bool any_eligible(const MembersDef& def, u32 progress, const KeyNode& node);
  State after_key(const Frame& key, u32 member, State below);    // expanded
  State after_class_unknown(const Frame& key, State below);      // not expanded; the name is unknown
  State after_unique_unknown(const Frame& item, State below);
  State after_item(u32 items, State below);  // whatever may follow an item, and more; expanded
  bool can_differ(State inner, u32 tracker);  // some completion, not empty, of `inner` is none of `tracker`
  bool allows(State s, std::string_view text);  // whether its bytes may follow
  bool has_tracked() const { return has_tracked_; }
  bool may_end(State inner, u32 tracker) const { return accepts(inner) && !tracker_accepts(tracker); }
  u32 step_tracker(u32 tracker, u8 byte);
  ByteSet tracker_bytes(u32 tracker);
  bool name_unknown(const Frame& f) const;
  size_t memory() const;
  size_t state_count() const { return states_.size(); }
  Limits limits;

 private:
  friend class Planner;
  enum class GramKind : u8 { Lexeme, Sequence, Choice, Rule, Repetition, Members, Items };
  struct GramNode {
    GramKind kind;
    u32 a, b, c, d;
  };
  struct Link {  // a chain: names or values seen, bytes captured
    u32 parent, item;
    bool unknown;
    u32 depth = 0, bytes = 0;  // links and bytes up to here
  };
  struct Spare {  // of the values of a place, those that did not come among the first that were looked at
    std::vector<u32> values;
    u32 looked_at = 0;
  };
  struct Gather {
    std::vector<Entry> entries;
    bool accept = false;
  };

  Gram gram(GramKind kind, u32 a, u32 b, u32 c, u32 d);
  u32 intern_frame(const Frame& f);
  State intern_state(std::vector<Entry>& entries, bool accept);
  State single(const Frame& f, State below);
  State unite(State a, State b);
  void add(Gather& g, const Frame& f, State below) { g.entries.push_back({intern_frame(f), below}); }
  void add_state(Gather& g, State s);                     // its expanded entries
  void open_frame(Gather& g, const Frame& f, State below);  // expands f
  void open_term(Gather& g, Term t, State below);
  void open_gram(Gather& g, Gram x, State below);
  void open_members(Gather& g, const Frame& f, State below);
  void open_any_key(Gather& g, const Frame& f, State below);
  void open_items(Gather& g, const Frame& f, State below);
  State close(Gather& g);
  void step_frame(Gather& g, const Frame& f, State below, u8 byte);

  u32 progress(const Progress& p);
  Progress next_progress(const MembersDef& def, const Progress& p, u32 member);
  Progress with_name(Progress p, const std::string& raw);  // `raw`: as written, with quotes
  bool closable(const MembersDef& def, const Progress& p) const;
  bool closable(const ItemsDef& def, const Progress& p) const;
  bool extras_allowed(const MembersDef& def, const Progress& p) const;
  bool has_next(const MembersDef& def, u32 m, u32 progress);
  Term class_key(u32 members, u32 cls, u32 extras);       // quote, names not seen, quote
  u32 link(IdTable& table, std::vector<Link>& links, u32 parent, u32 item);
  std::string captured(u32 capture) const;
  u32 text_id(const std::string& s);
  u32 with_bit(u32 set, u32 bit);
  bool has_bit(u32 set, u32 bit) const;
  Progress with_item(const ItemsDef& def, const Progress& p) const;
  Progress with_value(const Frame& unique, u32 value);

  // unique.cpp, values.cpp
  Term unique_item(u32 items, u32 place, u32 seen);
  Term exclusion(const ItemsDef& def, bool blanks, u32 seen);
  bool value_left(u32 items, u32 seen);
  Term value_spellings(Encoding encoding, std::string_view value);
  Gram value_gram(Encoding encoding, std::string value, u32 depth);
  State item_end(u32 items, State below) { return single({FrameKind::ItemEnd, items, below}, kDone); }
  bool tracker_accepts(u32 t) const { return text_nodes_[followed_[t].node].ends || accepts(followed_[t].state); }
  u32 intern_tracker(u32 node, State state);
  u32 add_text(u32 node, std::string_view text);
  u32 tracker(u32 items, u32 place, u32 seen);
  u32 texts_of(u32 items, u32 place, u32 value);
  void open_unique(Gather& g, const Frame& f, State below);
  void open_item(Gather& g, const Frame& f, State below);
  bool has_next_item(u32 items, u32 part, u32 excluded);
  void step_tracked(Gather& g, const Frame& f, State below, u8 byte);
  ByteSet tracked_bytes(const Frame& f);
  bool goes_on(State inner) const;
  bool shortest_difference(State inner, u32 tracker, std::string& out);
  bool next_value(u32 items, u32 place, u32 excluded, std::string& text);
  u32 blocked(u32 items, u32 progress);
  bool allows_behind(const Frame& f, const std::string& item, State below, std::string_view rest);
  bool item_may_begin(u32 items, u32 place, u32 seen, std::string_view text, const std::string& other);
  const std::vector<u32>& spare_values(u32 items, u32 place, u32 seen, size_t wanted);
  u32 listed_value(u32 items, u32 place, size_t n);
  std::vector<u32> unseen_values(u32 items, u32 place, u32 seen, size_t enough);
  u32 unique_rest(u32 i, Progress p, std::string* out);
  u32 write_unique(u32 i, Progress p, std::string* out);
  u32 next_item_rest(u32 i, u32 progress, std::string* out);
  void add_part(ItemsDef& def, Term scalar, Gram general);
  u32 part_of(const ItemsDef& def, const Progress& p, const Choice& c) const;
  State behind_item(const Frame& f, const std::string& text, State below);
  bool settle_unique();
  void forget_states();
  void build_keys(MembersDef& def);

  Progress with_way(const Counting& counting, Progress p, const Way& way);
  std::vector<Choice> choices(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways);
  std::vector<Choice> item_choices(u32 i, const Progress& p);
  State value_state(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways, State below);
  u32 value_rest(u32 m, const Progress& p, Gram value, const std::vector<Way>& ways, std::string* out);
  bool class_allowed(const MembersDef& def, u32 cls, const Progress& p);

  u32 gram_cost(Gram g);
  u64 extras_left(const MembersDef& def, u32 extras) const;
  u32 members_rest(u32 m, Progress p, bool at_key, std::string* out);
  u32 members_text(u32 m, Progress p, bool at_key, std::vector<MemberText> members, const std::vector<ExtraText>& extras,
                   u32 wanted, std::string* out);
  u32 items_rest(u32 i, Progress p, std::string* out);
  void refresh(MembersDef& def);
  void refresh(ItemsDef& def);
  u32 gram_text(Gram g, std::string* out);
  u32 frame_rest(const Frame& f, std::string* out);
  u32 term_text(Term t, std::string* out);
  void check_depth(u32 depth) const {
    if (depth > limits.depth) throw LimitError("depth", "too many frames open at once");
  }

  std::vector<GramNode> grams_;
  std::vector<u32> lists_;
  std::vector<u32> costs_;
  std::deque<MembersDef> members_;  // grow while running: values that must not come again are grammars too
  std::deque<ItemsDef> items_;
  std::vector<Frame> frames_;
  std::vector<Shape> states_;
  std::vector<Entry> entries_;
  std::vector<Progress> progresses_;
  std::vector<Link> captures_{{kNone, 0, false}}, seen_{{kNone, 0, false}};
  std::vector<std::vector<u64>> bitsets_{{}};
  std::vector<std::string> texts_;
  IdTable frame_table_, state_table_, progress_table_, capture_table_, seen_table_, text_table_, bitset_table_;
  PairMemo steps_, unions_, class_keys_, unique_items_, eligible_;
  std::unordered_map<u64, Spare> spare_values_;
  std::vector<TextNode> text_nodes_{{}};
  std::vector<Tracker> followed_{{0, kDead}};
  std::vector<std::vector<std::string>> text_lists_;
  PairMemo exclusions_, value_grams_, trackers_, tracker_ids_, text_list_of_, after_items_, differences_, blocked_;
  PairMemo difference_texts_;  // (state, tracker) → text
  CountVectors vectors_;
  std::unique_ptr<Planner> planner_;
  State start_ = kDead;
  u32 depth_ = 0, class_count_ = 0, member_count_ = 0, part_count_ = 0, rounds_ = 0, nested_ = 0;
  bool has_tracked_ = false;
  std::unordered_map<State, u32> opening_;  // states whose expansion is under way, by depth
  u32 lowest_met_ = kNone;                  // the outermost of these that was met again
  void refresh(std::vector<Way>& ways) {
    for (Way& w : ways) w.alive = costs_[w.value] != kUnbounded;
  }
  u32 next_count(u32 count, u32 min, u32 max) const {
    return max == kUnbounded ? std::min(count + 1, std::max(min, 1u)) : count + 1;
  }
  static constexpr u32 kUnknownText = kNone - 1;
  static constexpr u32 kUnknownName = 0xF0000000;  // + class: one of its names, where classes are told apart
};

std::string value_of(std::string_view text);             // canonical form of a JSON value, see values.cpp
std::string decode_json_string(std::string_view raw);  // without quotes; well-formed by construction
std::string encode_json_string(std::string_view utf8);  // canonical, without quotes

}  // namespace constrain
