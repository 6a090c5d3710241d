// Arrays whose items must all differ, compared by value.
//
// An item that is a scalar is a term, less all texts of the values that came. Any other item is a *tracked* frame: the
// state of its own grammar, and beside it the *tracker*, the state of a grammar of all texts of all values that must
// not come (a set of stacks, so one state). Both are stepped together; the item may end where its grammar accepts and
// the tracker does not, and it lives on while some completion is none of the tracker's. The tracker is mostly dead
// after a few bytes.
//
// The item's own grammar ends in the frame `ItemEnd`, whatever came before: states and masks inside of items are shared
// by all items of an array. A mask that looks beyond the end of an item takes all that could follow any item, to be
// verified.
//
// Values that later places need are excluded like those that came. A place with more unseen values than places left
// never matters; for the others their values are listed, and a matching decides (Kuhn's algorithm).
// Source: Brzozowski 1964 for the difference of two languages, state by state; Hart, Nilsson, Raphael 1968 (A*).
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "plans.hpp"

namespace constrain {

namespace {

constexpr u32 kDeepestText = 200;  // arrays inside of each other in a text that is written out
constexpr u32 kMostRounds = 64;
constexpr u32 kFewTexts = 4;         // texts of one value that are kept as such
constexpr u32 kManyTexts = kNone - 1;
constexpr size_t kSpare = 3;         // of these as many are kept
constexpr u32 kListedAhead = 64;     // values looked at for one that has not come
constexpr size_t kMostEdges = 4'000'000;

u64 pair_key(State a, State b) { return u64{a} << 32 | b; }

// Whether every one of `places` can get a value of its own; `without` is taken. `of` keeps a matching between calls.
struct Matching {
  const std::vector<std::vector<u32>>& places;
  std::unordered_map<u32, u32> of{};  // value → place
  std::unordered_set<u32> tried{};
  bool augment(u32 place, u32 without) {
    for (u32 v : places[place]) {
      if (v == without || !tried.insert(v).second) continue;
      auto it = of.find(v);
      if (it == of.end() || augment(it->second, without)) {
        of[v] = place;
        return true;
      }
    }
    return false;
  }
  bool fill() {
    for (u32 place = 0; place < places.size(); ++place) {
      tried.clear();
      if (!augment(place, kNone)) return false;
    }
    return true;
  }
  bool does_without(u32 value) {
    auto it = of.find(value);
    if (it == of.end()) return true;
    const u32 place = it->second;
    auto before = of;
    of.erase(it);
    tried.clear();
    if (augment(place, value)) return true;
    of = std::move(before);
    return false;
  }
};

}  // namespace

// ---------------------------------------------------------------- building

// Of the item at each place, and with conditions of each of its ways: the scalars as a term, and all else.
void Automaton::set_unique(Gram g, const std::vector<Parts>& places) {
  ItemsDef& def = items_[grams_[g].a];
  for (const Parts& list : places) add_part(def, list[0].first, list[0].second);
  for (u32 k = 0; k < places.size() && def.counting.active(); ++k) {
    std::vector<Way>& ways = k < def.prefix.size() ? def.prefix_ways[k] : def.rest_ways;
    def.way_parts.push_back(static_cast<u32>(def.parts.size()));
    for (u32 w = 0; w < ways.size(); ++w) {
      const auto& [scalar, general] = places[k][w + 1 < places[k].size() ? w + 1 : 0];
      ways[w].item = scalar;
      add_part(def, scalar, general);
    }
  }
  def.tracked = def.tracked || !def.prefix.empty();
  has_tracked_ = has_tracked_ || def.tracked;
}

void Automaton::add_part(ItemsDef& def, Term scalar, Gram general) {
  ByteSet blank, bracket;
  for (char c : {' ', '\t', '\n', '\r'}) blank.add(static_cast<u8>(c));
  for (char c : {'[', '{'}) bracket.add(static_cast<u8>(c));
  const Term opens = terms.cat(terms.repeat(terms.bytes(blank), 0, kUnbounded),
                               terms.cat(terms.bytes(bracket), terms.complement(kEmpty)));
  UniquePart part;
  part.scalar = scalar;
  part.general = general;
  part.id = part_count_++;
  if (const Term containers = terms.conj(part.scalar, opens); terms.alive(containers)) {  // `{}` as a lexeme
    const Gram written = lexeme(containers);
    part.general = part.general == kNone ? written : choice({part.general, written});
    part.scalar = terms.conj(part.scalar, terms.complement(opens));
  }
  def.tracked = def.tracked || part.general != kNone;
  def.parts.push_back(std::move(part));
}

// Among values that must differ, numbers are written without exponent: then one value has few texts.
Term Automaton::without_exponents(Term t) {
  ByteSet digit, figures, e, blank, minus;
  digit.add_range('0', '9');
  figures = digit;
  figures.add('.');
  e.add('e');
  e.add('E');
  for (char c : {' ', '\t', '\n', '\r'}) blank.add(static_cast<u8>(c));
  minus.add('-');
  if (t == kEmpty || (terms.live_bytes(t) & (digit | blank | minus)).empty()) return t;
  Term with = terms.cat(terms.bytes(e), terms.complement(kEmpty));
  with = terms.cat(terms.repeat(terms.bytes(figures), 0, kUnbounded), with);
  with = terms.cat(terms.bytes(digit), with);
  with = terms.cat(terms.repeat(terms.bytes(minus), 0, 1), with);
  with = terms.cat(terms.repeat(terms.bytes(blank), 0, kUnbounded), with);
  return terms.conj(t, terms.complement(with));
}

// The shortest inside of arrays that need several different items is found by running the automaton on what is known to
// be alive; whether that made anything shorter. States that were made before all costs were known are forgotten.
bool Automaton::settle_unique() {
  bool changed = false, ran = false;
  ++rounds_;
  std::vector<std::pair<u32, u32>> found;
  for (u32 i = 0; i < items_.size(); ++i) {
    if (!items_[i].needs_several()) continue;
    refresh(items_[i]);
    if (items_[i].counting.active()) planner_->renew(items_[i], i);
    if (items_[i].min_count > items_[i].reachable) continue;
    ran = true;
    const u32 cost = write_unique(i, {}, nullptr);
    if (cost < items_[i].least && (rounds_ < kMostRounds || items_[i].least == kUnbounded)) found.push_back({i, cost});
  }
  for (auto [i, cost] : found) {
    items_[i].least = cost;
    changed = true;
  }
  if (ran) forget_states();
  return changed;
}

void Automaton::forget_states() {
  frames_.clear();
  states_.clear();
  entries_.clear();
  frame_table_ = IdTable{};
  state_table_ = IdTable{};
  for (PairMemo* memo : {&steps_, &unions_, &trackers_, &tracker_ids_, &text_list_of_, &after_items_, &differences_, &blocked_, &eligible_}) *memo = PairMemo{};
  for (auto& def : items_)
    for (auto& part : def.parts) {
      part.values.clear();
      part.texts.clear();
      part.exhausted = false;
    }
  followed_.resize(1);
  spare_values_.clear();
  std::vector<Entry> none;
  intern_state(none, false);
  intern_state(none, true);
}

// ---------------------------------------------------------------- scalars

// What remains of the scalars when the values of the last 2^k links are taken away, 2^k the lowest bit of the chain's
// depth: chains share these blocks, so that one more value costs little.
Term Automaton::exclusion(const ItemsDef& def, bool blanks, u32 seen) {
  const u32 key = static_cast<u32>(def.encoding) * 2 + blanks;
  if (u32 known = exclusions_.get(key, seen); known != kNone) return known;
  std::vector<std::string> plain;
  std::vector<Term> finite, endless;
  u32 left = seen_[seen].depth & -seen_[seen].depth;
  for (u32 k = seen; left > 0; k = seen_[k].parent, --left) {
    if (seen_[k].item >= kUnknownName) continue;
    const std::string value = texts_[seen_[k].item];
    if (value[0] == '[' || value[0] == '{') continue;
    if (value[0] == 's' && def.encoding == Encoding::Json) {
      plain.push_back('"' + encode_json_string(std::string_view(value).substr(1)) + '"');
      continue;
    }
    const Term t = value_spellings(def.encoding, value);
    (terms.node(t).max_bytes == kUnbounded ? endless : finite).push_back(t);
  }
  if (!plain.empty()) finite.push_back(terms.literals(std::move(plain)));
  std::vector<Term> rest{terms.complement(kEmpty)};
  ByteSet blank;
  for (char c : {' ', '\t', '\n', '\r'}) blank.add(static_cast<u8>(c));
  for (auto* list : {&finite, &endless}) {
    if (list->empty()) continue;
    Term any = terms.alt(std::move(*list));
    if (blanks) any = terms.cat(terms.repeat(terms.bytes(blank), 0, kUnbounded), any);
    rest.push_back(terms.complement(any));
  }
  const Term made = terms.conj(std::move(rest));
  exclusions_.put(key, seen, made);
  return made;
}

Term Automaton::unique_item(u32 i, u32 place, u32 seen) {
  const ItemsDef& def = items_[i];
  const UniquePart& part = def.parts[place];
  if (seen == 0 || part.scalar == kEmpty) return part.scalar;
  if (u32 known = unique_items_.get(part.id, seen); known != kNone) return known;
  const bool blanks = terms.live_bytes(part.scalar).has(' ');
  std::vector<Term> all{part.scalar};
  for (u32 k = seen; k != 0;) {
    all.push_back(exclusion(def, blanks, k));
    for (u32 left = seen_[k].depth & -seen_[k].depth; left > 0; --left) k = seen_[k].parent;
  }
  const Term t = terms.conj(std::move(all));
  unique_items_.put(part.id, seen, t);
  return t;
}

// Whether more values are left than were written without being known here, because a mask looks ahead.
bool Automaton::value_left(u32 i, u32 seen) {
  u32 unknown = 0;
  for (u32 k = seen; k != 0; k = seen_[k].parent) unknown += seen_[k].item == kUnknownText;
  for (; unknown > 0; --unknown) {
    const Term item = unique_item(i, 0, seen);
    if (!terms.alive(item)) return false;
    seen = link(seen_table_, seen_, seen, text_id(value_of(terms.shortest(item))));
  }
  return terms.alive(unique_item(i, 0, seen));
}

// ---------------------------------------------------------------- tracked items

u32 Automaton::intern_tracker(u32 node, State state) {
  if (node == 0 && state == kDead) return 0;
  if (u32 known = tracker_ids_.get(node, state); known != kNone) return known;
  followed_.push_back({node, state});
  tracker_ids_.put(node, state, static_cast<u32>(followed_.size() - 1));
  return static_cast<u32>(followed_.size() - 1);
}

u32 Automaton::step_tracker(u32 t, u8 byte) {
  if (t == 0) return 0;
  const Tracker f = followed_[t];
  const auto& children = text_nodes_[f.node].children;
  auto it = std::lower_bound(children.begin(), children.end(), std::pair<u8, u32>{byte, 0});
  const u32 node = it != children.end() && it->first == byte ? it->second : 0;
  return intern_tracker(node, f.state == kDead ? kDead : step(f.state, byte));
}

ByteSet Automaton::tracker_bytes(u32 t) {
  ByteSet set = legal_bytes(followed_[t].state);
  for (auto [byte, child] : text_nodes_[followed_[t].node].children) set.add(byte);
  return set;
}

// The trie of `node` and one more text: nodes on the way are copied, all others shared.
u32 Automaton::add_text(u32 node, std::string_view text) {
  TextNode copy = text_nodes_[node];
  ++copy.count;
  if (text.empty()) {
    copy.ends = true;
  } else {
    const u8 byte = static_cast<u8>(text[0]);
    auto it = std::lower_bound(copy.children.begin(), copy.children.end(), std::pair<u8, u32>{byte, 0});
    const bool known = it != copy.children.end() && it->first == byte;
    const u32 child = add_text(known ? it->second : 0, text.substr(1));
    if (known) it->second = child;
    else copy.children.insert(it, {byte, child});
  }
  text_nodes_.push_back(std::move(copy));
  return static_cast<u32>(text_nodes_.size() - 1);
}

// Which texts the item at `place` has for a value, in `text_lists_`; kManyTexts if they are more than a few.
u32 Automaton::texts_of(u32 i, u32 place, u32 value) {
  const UniquePart& part = items_[i].parts[place];
  if (u32 known = text_list_of_.get(part.id, value); known != kNone) return known;
  const Gram g = value_gram(items_[i].encoding, texts_[value], 0);
  struct Visit {
    State inner, value;
    std::string text;
  };
  std::vector<Visit> open{{expand(single({FrameKind::Gram, part.general}, item_end(i, kDone))),
                           expand(single({FrameKind::Gram, g}, kDone)), ""}};
  std::vector<std::string> found;
  size_t steps = 0;
  const size_t most = texts_[value].size() * kFewTexts * 2 + 64;
  while (!open.empty() && steps <= most && found.size() <= kFewTexts) {
    Visit v = std::move(open.back());
    open.pop_back();
    if (accepts(v.inner) && accepts(v.value)) found.push_back(v.text);
    (legal_bytes(v.inner) & legal_bytes(v.value)).each([&](u8 b) {
      ++steps;
      const State inner = step(v.inner, b), other = step(v.value, b);
      if (inner != kDead && other != kDead) open.push_back({inner, other, v.text + static_cast<char>(b)});
    });
  }
  u32 list = kManyTexts;
  if (open.empty() && found.size() <= kFewTexts) {
    list = static_cast<u32>(text_lists_.size());
    text_lists_.push_back(std::move(found));
  }
  text_list_of_.put(part.id, value, list);
  return list;
}

// All texts that the item at `place` has for the values of a chain.
u32 Automaton::tracker(u32 i, u32 place, u32 seen) {
  const u32 part = items_[i].parts[place].id;
  std::vector<u32> links;
  u32 made = 0;
  for (u32 k = seen; k != 0; k = seen_[k].parent) {
    if (u32 known = trackers_.get(part, k); known != kNone) {
      made = known;
      break;
    }
    links.push_back(k);
  }
  for (; !links.empty(); links.pop_back()) {
    const u32 value = seen_[links.back()].item, list = texts_of(i, place, value);
    Tracker t = followed_[made];
    if (list == kManyTexts) {
      const Gram g = value_gram(items_[i].encoding, texts_[value], 0);
      t.state = expand(unite(t.state, expand(single({FrameKind::Gram, g}, kDone))));
    } else {
      for (const std::string& text : text_lists_[list]) t.node = add_text(t.node, text);
    }
    made = intern_tracker(t.node, t.state);
    trackers_.put(part, links.back(), made);
  }
  return made;
}

void Automaton::open_unique(Gather& g, const Frame& f, State below) {
  const Progress p = progresses_[f.b];
  const ItemsDef& def = items_[f.a];
  if (closable(def, p)) open_term(g, def.mark.close, below);
  if (p.count >= def.reachable) return;
  const Frame next{FrameKind::NextItem, f.a, f.b};
  if (p.count == 0) return open_item(g, next, below);
  const u32 excluded = blocked(f.a, f.b);
  if (excluded == kNone) return;
  for (const Choice& c : item_choices(f.a, p))
    if (has_next_item(f.a, part_of(def, p, c), excluded)) return open_term(g, def.mark.separator, single(next, below));
}

void Automaton::open_item(Gather& g, const Frame& f, State below) {
  const Progress p = progresses_[f.b];
  const u32 excluded = blocked(f.a, f.b);
  if (excluded == kNone) return;
  for (const Choice& c : item_choices(f.a, p)) {
    const u32 part = part_of(items_[f.a], p, c);
    const Term scalar = unique_item(f.a, part, excluded);
    if (terms.alive(scalar)) add(g, {FrameKind::Unique, f.a, f.b, c.way, scalar, 0}, below);
    const Gram general = items_[f.a].parts[part].general;
    if (general == kNone || costs_[general] == kUnbounded) continue;
    const State inner = expand(single({FrameKind::Gram, general}, item_end(f.a, below)));
    const u32 seen = tracker(f.a, part, excluded);
    if (can_differ(inner, seen)) add(g, {FrameKind::Tracked, f.a, progress(c.next), inner, seen, 0}, below);
  }
}

u32 Automaton::part_of(const ItemsDef& def, const Progress& p, const Choice& c) const {
  const u32 place = std::min(p.count, static_cast<u32>(def.prefix.size()));
  return c.whole ? place : def.way_parts[place] + c.way;
}

// Whether an item that is not in the chain `excluded` may stand at `place`. Mostly the shortest of all has not come yet,
// so that what the item must differ from need not be made out before it begins.
bool Automaton::has_next_item(u32 i, u32 place, u32 excluded) {
  const UniquePart& part = items_[i].parts[place];
  if (!part.listing && !spare_values(i, place, excluded).empty()) return true;
  const Term scalar = unique_item(i, place, excluded);
  if (scalar != kEmpty && terms.alive(scalar)) return true;
  if (part.general == kNone || costs_[part.general] == kUnbounded) return false;
  const State inner = expand(single({FrameKind::Gram, part.general}, item_end(i, kDone)));
  return can_differ(inner, tracker(i, place, excluded));
}

State Automaton::behind_item(const Frame& f, const std::string& text, State below) {
  const Progress p = with_value(f, text_id(value_of(text)));
  return expand(single({FrameKind::Items, f.a, progress(p)}, below));
}

void Automaton::step_tracked(Gather& g, const Frame& f, State below, u8 byte) {
  const State inner = step(f.c, byte);
  if (inner == kDead) return;
  const u32 seen = step_tracker(f.d, byte);
  const u32 capture = link(capture_table_, captures_, f.e, byte);
  if (captures_[capture].bytes + seen_[progresses_[f.b].written].bytes > limits.unique_bytes)
    throw LimitError("unique_bytes", "an array whose items must differ has become too long");
  if (may_end(inner, seen)) add_state(g, behind_item(f, captured(capture), below));
  if (can_differ(inner, seen)) add(g, {FrameKind::Tracked, f.a, f.b, inner, seen, capture}, below);
}

// Whether the bytes of `text` may follow. An item is followed without interning what it captures.
bool Automaton::allows(State s, std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const Frame f = states_[s].count == 1 && !states_[s].accept ? frames_[entries_[states_[s].at].frame] : Frame{};
    const bool scalar = f.kind == FrameKind::Unique && items_[f.a].tracked;
    if (f.kind != FrameKind::Tracked && !scalar) {
      if (i + 1 == text.size()) return legal_bytes(s).has(static_cast<u8>(text[i]));
      s = step(s, static_cast<u8>(text[i]));
      if (s == kDead) return false;
      continue;
    }
    const State below = entries_[states_[s].at].below;
    Term left = f.d;
    State inner = f.c;
    u32 seen = f.d;
    for (size_t k = i; k < text.size(); ++k) {
      const u8 byte = static_cast<u8>(text[k]);
      bool ends, goes;
      if (scalar) {
        left = terms.live_derive(left, byte);
        ends = terms.nullable(left);
        goes = left != kEmpty && left != kEpsilon;
      } else {
        inner = step(inner, byte);
        if (inner == kDead) return false;
        seen = step_tracker(seen, byte);
        ends = may_end(inner, seen);
        goes = can_differ(inner, seen);
      }
      if (ends && allows_behind(f, captured(f.e) + std::string(text.substr(i, k + 1 - i)), below, text.substr(k + 1)))
        return true;
      if (!goes) return false;
    }
    return true;
  }
  return true;
}

// The same behind `item`, which `f` has read: mostly without making anything of its value.
bool Automaton::allows_behind(const Frame& f, const std::string& item, State below, std::string_view rest) {
  if (rest.empty()) return true;
  const ItemsDef& def = items_[f.a];
  const Progress p = progresses_[f.b];
  const u32 count = f.kind == FrameKind::Tracked ? p.count : with_item(def, p).count;
  auto exactly = [&] { return allows(behind_item(f, item, below), rest); };
  if (def.counting.active()) return exactly();
  if (count < def.prefix.size() && count + 1 < def.min_count) return exactly();  // later places may need values
  if (count >= def.min_count) {
    Gather g;
    open_term(g, def.mark.close, below);
    if (allows(close(g), rest)) return true;
  }
  if (count >= def.reachable) return false;
  Term separator = def.mark.separator;
  if (terms.nullable(separator)) return exactly();
  const u32 place = std::min(count, static_cast<u32>(def.prefix.size()));
  for (size_t k = 0; k < rest.size(); ++k) {
    separator = terms.live_derive(separator, static_cast<u8>(rest[k]));
    if (separator == kEmpty) return false;
    if (terms.nullable(separator) && separator != kEpsilon) return exactly();
    if (separator == kEpsilon)
      return item_may_begin(f.a, place, p.written, rest.substr(k + 1), item) || exactly();
  }
  return item_may_begin(f.a, place, p.written, "", item) || exactly();
}

// True only if some item at `place` begins with `text`, and is neither in the chain `seen` nor equal to `other`.
bool Automaton::item_may_begin(u32 i, u32 place, u32 seen, std::string_view text, const std::string& other) {
  UniquePart& part = items_[i].parts[place];
  if (part.listing) return false;
  const std::string value = value_of(other);
  for (u32 n : spare_values(i, place, seen))
    if (part.texts[n].starts_with(text) && texts_[seen_[part.values[n]].item] != value) return true;
  // A string that is spelled in one way, and not so.
  const size_t from = text.find_first_not_of(" \t\n\r");
  if (from == std::string_view::npos || items_[i].encoding != Encoding::Json || value[0] != 's') return false;
  const std::string spelled = '"' + encode_json_string(std::string_view(value).substr(1)) + '"';
  if (std::string_view(spelled).starts_with(text.substr(from))) return false;
  Term left = unique_item(i, place, seen);
  for (char c : text) {
    left = terms.live_derive(left, static_cast<u8>(c));
    if (left == kEmpty) return false;
  }
  return true;
}

// The first few values of the list of `place` that are not in the chain `seen`, by index.
const std::vector<u32>& Automaton::spare_values(u32 i, u32 place, u32 seen) {
  const u64 key = pair_key(items_[i].parts[place].id, seen);
  if (auto it = spare_values_.find(key); it != spare_values_.end()) return it->second;
  std::vector<u32> spare;
  for (u32 n = 0; n < kListedAhead && spare.size() < kSpare; ++n) {
    const u32 value = listed_value(i, place, n);
    if (value == kNone) break;
    u32 k = seen;
    while (k != 0 && seen_[k].item != value) k = seen_[k].parent;
    if (k == 0) spare.push_back(n);
  }
  return spare_values_[key] = std::move(spare);
}

// ---------------------------------------------------------------- differences

bool Automaton::goes_on(State inner) const {
  for (const Entry& e : entries(inner))
    if (frames_[e.frame].kind != FrameKind::ItemEnd) return true;
  return false;
}

bool Automaton::can_differ(State inner, u32 seen) {
  if (!goes_on(inner)) return false;
  if (seen == 0) return true;
  if (u32 known = differences_.get(inner, seen); known != kNone) return known;
  struct Visit {
    State inner;
    u32 seen, parent;
  };
  std::vector<Visit> visits{{inner, seen, kNone}};
  std::unordered_set<u64> met{pair_key(inner, seen)};
  std::vector<std::pair<u32, u32>> open{{0, 0}};  // where fewest texts came first: there one that did not is near
  const auto fewest = std::greater<>{};
  u32 found = kNone;
  while (!open.empty() && found == kNone) {
    std::pop_heap(open.begin(), open.end(), fewest);
    const u32 at = open.back().second;
    open.pop_back();
    const Visit v = visits[at];
    const ByteSet legal = legal_bytes(v.inner), tracked = tracker_bytes(v.seen);
    if (!((legal & tracked) == legal)) {
      found = at;
      break;
    }
    legal.each([&](u8 b) {
      if (found != kNone) return;
      const State next = step(v.inner, b);
      const u32 after = step_tracker(v.seen, b);
      if (next == kDead) return;
      const bool goes = goes_on(next);
      const u32 known = goes && after != 0 ? differences_.get(next, after) : kNone;
      if (may_end(next, after) || (after == 0 && goes) || known == 1) found = at;
      else if (goes && known == kNone && met.insert(pair_key(next, after)).second) {
        open.push_back({text_nodes_[followed_[after].node].count, static_cast<u32>(visits.size())});
        std::push_heap(open.begin(), open.end(), fewest);
        visits.push_back({next, after, at});
      }
    });
    if (visits.size() > limits.differences)
      throw LimitError("differences", "whether an item can still differ from the others takes too long to decide");
  }
  if (found == kNone)
    for (auto& v : visits) differences_.put(v.inner, v.seen, 0);
  for (; found != kNone; found = visits[found].parent) differences_.put(visits[found].inner, visits[found].seen, 1);
  return differences_.get(inner, seen) == 1;
}

// Appends a shortest completion, not empty, of `inner` that is none of `seen`.
bool Automaton::shortest_difference(State inner, u32 seen, std::string& out) {
  if (!goes_on(inner)) return false;
  if (seen == 0 && !accepts(inner)) {
    out += completion(inner);
    return true;
  }
  struct Visit {
    State inner;
    u32 seen, parent, length;
    u8 byte;
  };
  struct Order {
    u32 total, length, at;
    bool operator<(const Order& o) const {  // the least total first, of these the longest
      return total != o.total ? total > o.total : length != o.length ? length < o.length : at > o.at;
    }
  };
  std::vector<Visit> visits{{inner, seen, kNone, 0, 0}};
  std::unordered_set<u64> met{pair_key(inner, seen)};
  std::priority_queue<Order> queue;
  queue.push({0, 0, 0});
  while (!queue.empty()) {
    const u32 at = queue.top().at;
    queue.pop();
    const Visit v = visits[at];
    if (at > 0 && (v.seen == 0 || may_end(v.inner, v.seen))) {
      std::string text;
      for (u32 i = at; i > 0; i = visits[i].parent) text += static_cast<char>(visits[i].byte);
      std::reverse(text.begin(), text.end());
      out += text;
      if (!may_end(v.inner, v.seen)) out += completion(v.inner);
      return true;
    }
    legal_bytes(v.inner).each([&](u8 b) {
      const State next = step(v.inner, b);
      const u32 after = step_tracker(v.seen, b);
      if (next == kDead || !met.insert(pair_key(next, after)).second) return;
      visits.push_back({next, after, at, v.length + 1, b});
      queue.push({saturating_add(v.length + 1, cost(next)), v.length + 1, static_cast<u32>(visits.size() - 1)});
    });
    if (visits.size() > limits.differences * 8)
      throw LimitError("differences", "an item that differs from the others takes too long to find");
  }
  return false;
}

ByteSet Automaton::tracked_bytes(const Frame& f) {
  const ByteSet legal = legal_bytes(f.c);
  if (f.d == 0) return legal;
  ByteSet set = legal;
  const ByteSet tracked = tracker_bytes(f.d);
  (legal & tracked).each([&](u8 b) {
    const State next = step(f.c, b);
    const u32 after = step_tracker(f.d, b);
    if (!may_end(next, after) && !can_differ(next, after)) set.word[b >> 6] &= ~(u64{1} << (b & 63));
  });
  return set;
}

State Automaton::after_item(u32 i, State below) {
  if (u32 known = after_items_.get(i, below); known != kNone) return known;
  const ItemsDef& def = items_[i];
  Gather g, next;
  open_term(g, def.mark.close, below);
  const State end = item_end(i, below);
  for (size_t k = 1; k < def.prefix.size(); ++k) open_gram(next, def.prefix[k], end);
  if (def.rest != kNone) open_gram(next, def.rest, end);
  if (!next.entries.empty()) open_term(g, def.mark.separator, close(next));
  const State made = close(g);
  after_items_.put(i, below, made);
  return made;
}

// ---------------------------------------------------------------- enough different values

// A shortest text of an item at `place` whose value is not in the chain `excluded`.
bool Automaton::next_value(u32 i, u32 place, u32 excluded, std::string& text) {
  bool found = false;
  if (const Term scalar = unique_item(i, place, excluded); scalar != kEmpty && terms.alive(scalar)) {
    text = terms.shortest(scalar);
    found = true;
  }
  const Gram general = items_[i].parts[place].general;
  if (general == kNone || costs_[general] == kUnbounded) return found;
  const State inner = expand(single({FrameKind::Gram, general}, item_end(i, kDone)));
  if (found && cost(inner) >= text.size()) return true;  // asked first: what is written out nests only what is shorter
  const u32 seen = tracker(i, place, excluded);
  std::string other;
  if (!can_differ(inner, seen) || !shortest_difference(inner, seen, other)) return found;
  if (!found || other.size() < text.size()) text = other;
  return true;
}

// The n-th value of `place`, shortest first, or kNone; all before it have been asked for.
u32 Automaton::listed_value(u32 i, u32 place, size_t n) {
  UniquePart& part = items_[i].parts[place];
  if (n == part.values.size()) {
    if (part.exhausted) return kNone;
    if (n >= limits.unique_values)
      throw LimitError("unique_values", "whether enough different items are left takes too long to decide");
    std::string text;
    const u32 before = n ? part.values[n - 1] : 0;
    part.listing = true;
    struct Closer {
      bool& listing;
      ~Closer() { listing = false; }
    } closer{part.listing};
    if (!next_value(i, place, before, text)) {
      part.exhausted = true;
      return kNone;
    }
    part.values.push_back(link(seen_table_, seen_, before, text_id(value_of(text))));
    part.texts.push_back(std::move(text));
  }
  return seen_[part.values[n]].item;
}

// Values of `place` that are not in the chain `seen`: all, or `enough`.
std::vector<u32> Automaton::unseen_values(u32 i, u32 place, u32 seen, size_t enough) {
  std::unordered_set<u32> written;
  for (u32 k = seen; k != 0; k = seen_[k].parent) written.insert(seen_[k].item);
  std::vector<u32> found;
  for (size_t n = 0; found.size() < enough; ++n) {
    const u32 value = listed_value(i, place, n);
    if (value == kNone) break;
    if (!written.contains(value)) found.push_back(value);
  }
  return found;
}

// The chain of what must not come next: values that came, and those without which the places behind cannot be filled.
// kNone if they cannot be filled at all.
u32 Automaton::blocked(u32 i, u32 id) {
  const ItemsDef& def = items_[i];
  const Progress p = progresses_[id];
  const u32 places = static_cast<u32>(def.prefix.size());
  if (p.count >= places || p.count + 1 >= def.min_count) return p.written;
  if (u32 known = blocked_.get(i, id); known != kNone) return known == kNone - 1 ? kNone : known;
  const u32 need = def.min_count - p.count - 1;
  std::vector<std::vector<u32>> scarce;
  size_t edges = 0;
  for (u32 k = p.count + 1; k < def.min_count; ++k) {
    if (k <= places || scarce.empty() || edges == 0) {
      std::vector<u32> values = unseen_values(i, std::min(k, places), p.written, u64{need} + 1);
      if (k >= places && values.size() > need) break;  // so have all that follow
      if (values.size() <= need) scarce.push_back(std::move(values));
      else continue;
    } else {
      scarce.push_back(scarce.back());
    }
    if ((edges += scarce.back().size()) > kMostEdges)
      throw LimitError("unique_values", "whether enough different items are left takes too long to decide");
  }
  u32 chain = p.written;
  Matching matching{scarce};
  if (!matching.fill()) {
    chain = kNone;
  } else {
    std::vector<u32> values;
    for (auto& list : scarce) values.insert(values.end(), list.begin(), list.end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (u32 v : values)
      if (!matching.does_without(v)) chain = link(seen_table_, seen_, chain, v);
  }
  blocked_.put(i, id, chain == kNone ? kNone - 1 : chain);
  return chain;
}

u32 Automaton::unique_rest(u32 i, Progress p, std::string* out) {
  if (!out && p.count == 0 && items_[i].least != kUnbounded) return items_[i].least;
  return write_unique(i, p, out);
}

u32 Automaton::write_unique(u32 i, Progress p, std::string* out) {
  const ItemsDef& def = items_[i];
  if (def.min_count > def.reachable) return kUnbounded;
  DepthGuard guard(nested_);
  if (nested_ > kDeepestText) throw LimitError("depth", "arrays whose items must differ are nested too deeply");
  if (def.counting.active()) return planner_->items_rest(i, p, out);
  u32 total = 0;
  for (u32 k = p.count; k < def.min_count; ++k) {
    if (k > 0) total = saturating_add(total, term_text(def.mark.separator, out));
    if (p.written == 0 && k + 1 == def.min_count) {  // any value will do
      total = saturating_add(total, gram_text(k < def.prefix.size() ? def.prefix[k] : def.rest, out));
      break;
    }
    p.count = k;
    const u32 excluded = blocked(i, progress(p));
    std::string text;
    if (excluded == kNone || !next_value(i, std::min(k, static_cast<u32>(def.prefix.size())), excluded, text))
      return kUnbounded;
    total = saturating_add(total, static_cast<u32>(text.size()));
    if (out) *out += text;
    p.written = link(seen_table_, seen_, p.written, text_id(value_of(text)));
  }
  return saturating_add(total, term_text(def.mark.close, out));
}

// The rest of an array from an item on, whose separator is written.
u32 Automaton::next_item_rest(u32 i, u32 id, std::string* out) {
  const u32 excluded = blocked(i, id);
  if (excluded == kNone) return kUnbounded;
  u32 best = kUnbounded;
  std::string item;
  Progress behind;
  for (const Choice& c : item_choices(i, progresses_[id])) {
    std::string text;
    if (!next_value(i, part_of(items_[i], progresses_[id], c), excluded, text)) continue;
    Progress q = c.next;
    q.written = link(seen_table_, seen_, progresses_[id].written, text_id(value_of(text)));
    const u32 cost = saturating_add(static_cast<u32>(text.size()), items_rest(i, q, nullptr));
    if (cost >= best) continue;
    best = cost;
    item = text;
    behind = q;
  }
  if (best == kUnbounded || !out) return best;
  *out += item;
  items_rest(i, behind, out);
  return best;
}

}  // namespace constrain
