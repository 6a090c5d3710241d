// Arrays whose items must all differ, compared by value.
//
// An item that is a scalar is a term, less all texts of the values that came. Any other item is a *tracked* frame: the
// state of its own grammar, and beside it a tracker (`trackers.cpp`) of all texts of all values that must not come. Both
// are stepped together; the item may end where its grammar accepts and the tracker does not, and it lives on while some
// completion is none of the tracker's. The tracker is mostly dead after a few bytes.
//
// The item's own grammar ends in the frame `ItemEnd`, whatever came before: states and masks inside of items are shared
// by all items of an array. What may follow its end is in `lookahead.cpp`; whether enough values are left, in
// `distinct.cpp`.
#include <algorithm>

#include "plans.hpp"

namespace constrain {

namespace {

constexpr u32 kMostRounds = 64;

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
  for (PairMemo* memo : {&steps_, &unions_, &trackers_, &tracker_ids_, &text_list_of_, &after_items_, &differences_, &blocked_,
                         &difference_texts_, &eligible_})
    *memo = PairMemo{};
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
  bool blanks = false;
  for (char c : {' ', '\t', '\n', '\r'}) blanks = blanks || terms.live_bytes(part.scalar).has(static_cast<u8>(c));
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
  if (!part.listing && !spare_values(i, place, excluded, 1).empty()) return true;
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

}  // namespace constrain
