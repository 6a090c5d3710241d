// Whether enough different values are left, and shortest texts made of them.
//
// The values of each place are listed, shortest first, as far as anybody asks. Values that later places need are excluded
// like those that came: a place with more unseen values than places left never matters, for the others a matching of
// places and values decides.
// Source: Kuhn 1955, "The Hungarian method" (augmenting paths).
#include <algorithm>
#include <unordered_set>

#include "plans.hpp"

namespace constrain {

namespace {

constexpr u32 kDeepestText = 200;  // arrays inside of each other in a text that is written out
constexpr size_t kMostEdges = 4'000'000;

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
