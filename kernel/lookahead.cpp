// What may follow the end of an item that must differ from others: for masks, whose tokens end one item and begin the next.
//
// A mask takes all that could follow any item (`after_item`), each such token to be verified. Verifying (`allows`) makes
// nothing of what an item captures: it would have to be kept, and most values that a token could complete are never
// written. That the next item can begin is mostly seen by one value of the list of its place that has not come.
#include <algorithm>

#include "grammar.hpp"

namespace constrain {

namespace {

constexpr size_t kSpare = 2;         // of these as many are wanted
constexpr u32 kListedAhead = 64;     // values looked at for one that has not come

}  // namespace

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
  for (u32 n : spare_values(i, place, seen, kSpare))
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

// The first values of the list of `place` that are not in the chain `seen`, by index: as many as `wanted`, if there are.
const std::vector<u32>& Automaton::spare_values(u32 i, u32 place, u32 seen, size_t wanted) {
  Spare& spare = spare_values_[pair_key(items_[i].parts[place].id, seen)];
  while (spare.looked_at < kListedAhead && spare.values.size() < wanted) {
    const u32 value = listed_value(i, place, spare.looked_at);
    if (value == kNone) break;
    u32 k = seen;
    while (k != 0 && seen_[k].item != value) k = seen_[k].parent;
    if (k == 0) spare.values.push_back(spare.looked_at);
    ++spare.looked_at;
  }
  return spare.values;
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

}  // namespace constrain
