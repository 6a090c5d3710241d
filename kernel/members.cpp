// Which members of an object may come next, and how far an array is.
#include <algorithm>

#include "plans.hpp"

namespace constrain {

// ---------------------------------------------------------------- members: what may come next

u64 Automaton::extras_left(const MembersDef& def, u32 extras) const {
  u64 used = 0;
  for (u32 i = extras; i != 0; i = seen_[i].parent) ++used;
  return def.extras > used ? def.extras - used : 0;
}

bool Automaton::closable(const MembersDef& def, const Progress& p) const {
  if (p.count < def.min_count || p.count > def.max_count) return false;
  if (def.counting.active() && !def.counting.hold(vectors_.get(p.counters, def.counting.caps.size()), p.count)) return false;
  if (!def.any_order) return def.next_required[p.pos] == def.members.size();
  for (u32 i = 0; i < def.members.size(); ++i)
    if (def.members[i].required && !has_bit(p.seen, i)) return false;
  return true;
}

bool Automaton::eligible(const MembersDef& def, u32 progress, u32 i) {
  const Progress p = progresses_[progress];
  if (!def.members[i].alive || p.count >= def.max_count) return false;
  if (def.counting.active()) {
    if (def.any_order ? has_bit(p.seen, i) : i < p.pos || i > def.next_required[p.pos]) return false;
    u32 known = eligible_.get(progress, def.first_member + i);
    if (known == kNone) {
      known = !choices(def.id, next_progress(def, p, i), def.members[i].value, def.members[i].ways).empty();
      eligible_.put(progress, def.first_member + i, known);
    }
    return known;
  }
  if (!def.any_order) {
    if (i < p.pos || i > def.next_required[p.pos]) return false;
    if (def.max_count != kUnbounded && p.count + 1 + def.required_from[i + 1] > def.max_count) return false;
    return def.min_count <= p.count + 1 ||
           def.alive_from[i + 1] + extras_left(def, p.written) >= def.min_count - p.count - 1;
  }
  if (has_bit(p.seen, i)) return false;
  if (def.max_count == kUnbounded) return true;  // nothing that is left can be used up by this choice
  u32 missing = 0;
  for (u32 k = 0; k < def.members.size(); ++k)
    missing += k != i && def.members[k].required && !has_bit(p.seen, k);
  return p.count + 1 + missing <= def.max_count;
}

bool Automaton::any_eligible(const MembersDef& def, u32 progress, const KeyNode& node) {
  const auto& below = node.below;
  size_t first = def.any_order ? 0
                               : static_cast<size_t>(std::lower_bound(below.begin(), below.end(),
                                                                      progresses_[progress].pos) - below.begin());
  for (size_t k = first; k < below.size(); ++k) {
    if (eligible(def, progress, below[k])) return true;
    if (!def.any_order && below[k] > def.next_required[progresses_[progress].pos]) return false;
  }
  return false;
}

bool Automaton::extras_allowed(const MembersDef& def, const Progress& p) const {
  if (p.count >= def.max_count) return false;
  if (!def.any_order)  // declared names are over then: what is missing must be made up by other names
    return def.next_required[p.pos] == def.members.size() && extras_left(def, p.written) + p.count >= def.min_count;
  if (def.max_count == kUnbounded) return true;
  u32 missing = 0;
  for (u32 k = 0; k < def.members.size(); ++k) missing += def.members[k].required && !has_bit(p.seen, k);
  return p.count + 1 + missing <= def.max_count;
}

// With conditions: whether the object can be completed behind one more name of the class, whichever it is.
bool Automaton::class_allowed(const MembersDef& def, u32 c, const Progress& p) {
  if (!def.counting.active()) return true;
  if (planner_->names_left(def.id, c, p.written) == 0) return false;
  Progress q = next_progress(def, p, kNone);
  q.written = link(seen_table_, seen_, p.written, kUnknownName + c);
  return !choices(def.id, q, def.classes[c].value, def.classes[c].ways).empty();
}

bool Automaton::has_next(const MembersDef& def, u32 m, u32 id) {
  for (u32 i = def.any_order ? 0 : progresses_[id].pos; i < def.members.size(); ++i) {
    if (eligible(def, id, i)) return true;
    if (!def.any_order && i > def.next_required[progresses_[id].pos]) break;
  }
  if (!extras_allowed(def, progresses_[id])) return false;
  // Names that are not known here (a mask looks ahead) take one each of what is left.
  if (extras_left(def, progresses_[id].written) == 0) return false;
  for (u32 c = 0; c < def.classes.size(); ++c)
    if (def.classes[c].alive && terms.alive(class_key(m, c, progresses_[id].written)) &&
        class_allowed(def, c, progresses_[id]))
      return true;
  return false;
}

Progress Automaton::next_progress(const MembersDef& def, const Progress& p, u32 member) {
  Progress q = p;
  q.count = def.counting.after(p.count);
  if (!def.any_order) q.pos = member == kNone ? static_cast<u32>(def.members.size()) : member + 1;
  else if (member != kNone) q.seen = with_bit(p.seen, member);
  return q;
}

Progress Automaton::with_name(Progress p, const std::string& raw) {
  const std::string name = decode_json_string(std::string_view(raw).substr(1, raw.size() - 2));
  p.written = link(seen_table_, seen_, p.written, text_id(name));
  return p;
}

Term Automaton::class_key(u32 m, u32 c, u32 extras) {
  const u32 id = members_[m].classes[c].id;
  if (u32 known = class_keys_.get(id, extras); known != kNone) return known;
  ByteSet quote;
  quote.add('"');
  Term body = members_[m].classes[c].body;
  const Encoding encoding = members_[m].encoding;
  std::vector<std::string> plain;
  std::vector<Term> other;
  for (u32 i = extras; i != 0; i = seen_[i].parent) {
    if (seen_[i].item >= kUnknownName) continue;
    const std::string name = texts_[seen_[i].item];
    if (encoding == Encoding::Json) plain.push_back(encode_json_string(name));
    else other.push_back(terms.spelled(name, encoding));
  }
  if (!plain.empty()) other.push_back(terms.literals(std::move(plain)));
  if (!other.empty()) body = terms.conj(body, terms.complement(terms.alt(std::move(other))));
  Term q = terms.bytes(quote);
  Term key = terms.cat(q, terms.cat(body, q));
  class_keys_.put(id, extras, key);
  return key;
}

bool Automaton::name_unknown(const Frame& f) const {
  return (f.kind == FrameKind::ClassKey || f.kind == FrameKind::Unique) && seen_[progresses_[f.b].written].unknown;
}

State Automaton::after_key(const Frame& key, u32 member, State below) {
  Frame f{FrameKind::AfterKey, key.a, key.b, member};
  return expand(single(f, below));
}

State Automaton::after_class_unknown(const Frame& key, State below) {
  Progress p = next_progress(members_[key.a], progresses_[key.b], kNone);
  const bool told_apart = members_[key.a].counting.active();
  p.written = link(seen_table_, seen_, p.written, told_apart ? kUnknownName + key.c : kUnknownText);
  return single({FrameKind::AfterClass, key.a, progress(p), key.c}, below);
}

State Automaton::after_unique_unknown(const Frame& item, State below) {
  if (items_[item.a].tracked) return item_end(item.a, below);
  const Progress p = with_value(item, kUnknownText);
  return single({FrameKind::Items, item.a, progress(p)}, below);
}

// ---------------------------------------------------------------- items

bool Automaton::closable(const ItemsDef& def, const Progress& p) const {
  if (p.count < def.min_count) return false;
  return !def.counting.active() || def.counting.hold(vectors_.get(p.counters, def.counting.caps.size()), p.count);
}

Progress Automaton::with_item(const ItemsDef& def, const Progress& p) const {
  Progress q = p;
  q.count = def.counting.after(p.count);
  return q;
}

Progress Automaton::with_value(const Frame& unique, u32 value) {
  const ItemsDef& def = items_[unique.a];
  const Progress p = progresses_[unique.b];
  Progress q = unique.kind == FrameKind::Tracked ? p : with_item(def, p);
  q.written = link(seen_table_, seen_, p.written, value);
  if (seen_[q.written].bytes > limits.unique_bytes)
    throw LimitError("unique_bytes", "an array whose items must differ has become too long");
  if (unique.kind == FrameKind::Tracked || !def.counting.active()) return q;
  return with_way(def.counting, q, def.ways(p.count)[unique.c]);
}

}  // namespace constrain
