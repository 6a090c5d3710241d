// Building a grammar, and the interning of frames, states and texts.
#include <algorithm>

#include "plans.hpp"

namespace constrain {

namespace {

constexpr u64 kManyNames = 1'000'000;

u64 hash_frame(const Frame& f) { return hash_bytes(&f, sizeof f, 31); }

void append_utf8(std::string& out, u32 c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 63));
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

u32 hex4(std::string_view s) {
  u32 v = 0;
  for (char c : s) v = v * 16 + static_cast<u32>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  return v;
}

}  // namespace

std::string decode_json_string(std::string_view raw) {
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    char c = raw[++i];
    switch (c) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        u32 v = hex4(raw.substr(i + 1, 4));
        i += 4;
        if (v >= 0xD800 && v < 0xDC00 && i + 6 < raw.size() + 1) {
          v = 0x10000 + ((v - 0xD800) << 10) + (hex4(raw.substr(i + 3, 4)) - 0xDC00);
          i += 6;
        }
        append_utf8(out, v);
        break;
      }
      default: out += c;
    }
  }
  return out;
}

std::string encode_json_string(std::string_view utf8) {
  std::string out;
  for (char c : utf8) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<u8>(c) < 0x20) {
          constexpr char digits[] = "0123456789abcdef";
          out += "\\u00";
          out += digits[c >> 4];
          out += digits[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out;
}

Automaton::Automaton(const ByteSet& alphabet, const Limits& l) : terms(alphabet, l), limits(l) {
  std::vector<Entry> none;
  intern_state(none, false);
  intern_state(none, true);
  planner_ = std::make_unique<Planner>(*this);
}

Automaton::~Automaton() = default;

size_t Automaton::memory() const {
  return terms.memory() + frames_.size() * sizeof(Frame) + states_.size() * sizeof(Shape) +
         entries_.size() * sizeof(Entry) + progresses_.size() * sizeof(Progress) +
         (captures_.size() + seen_.size()) * sizeof(Link) + text_nodes_.size() * (sizeof(TextNode) + 16) + frame_table_.bytes() + state_table_.bytes() +
         vectors_.bytes() + planner_->bytes() + capture_table_.bytes() + seen_table_.bytes() + steps_.bytes() + unions_.bytes();
}

// ---------------------------------------------------------------- building

Gram Automaton::gram(GramKind kind, u32 a, u32 b, u32 c, u32 d) {
  if (grams_.size() >= limits.terms) throw LimitError("terms", "the grammar has too many parts");
  grams_.push_back({kind, a, b, c, d});
  return static_cast<Gram>(grams_.size() - 1);
}

Gram Automaton::lexeme(Term t) { return gram(GramKind::Lexeme, t, 0, 0, 0); }

Gram Automaton::sequence(std::vector<Gram> items) {
  if (items.empty()) return lexeme(kEpsilon);
  if (items.size() == 1) return items[0];
  u32 at = static_cast<u32>(lists_.size());
  lists_.insert(lists_.end(), items.begin(), items.end());
  return gram(GramKind::Sequence, at, static_cast<u32>(items.size()), 0, 0);
}

Gram Automaton::choice(std::vector<Gram> items) {
  if (items.size() == 1) return items[0];
  u32 at = static_cast<u32>(lists_.size());
  lists_.insert(lists_.end(), items.begin(), items.end());
  return gram(GramKind::Choice, at, static_cast<u32>(items.size()), 0, 0);
}

Gram Automaton::rule() { return gram(GramKind::Rule, kNone, 0, 0, 0); }
void Automaton::define(Gram rule, Gram body) { grams_[rule].a = body; }

Gram Automaton::repetition(Gram item, Gram separator, u32 min, u32 max) {
  return gram(GramKind::Repetition, item, separator, min, max);
}

// With conditions, every value has ways: one that advances nothing if none were given. Without, none has.
static void complete_ways(const Counting& counting, Gram value, std::vector<Way>& ways) {
  if (!counting.active()) ways.clear();
  else if (ways.empty()) ways.push_back({value, {}});
}

Gram Automaton::members(MembersDef def) {
  for (auto& c : def.classes) c.id = class_count_++;
  for (auto& m : def.members) {
    ByteSet quote;
    quote.add('"');
    Term q = terms.bytes(quote);
    m.key = terms.cat(q, terms.cat(terms.spelled(m.name, def.encoding), q));
  }
  if (def.encoding == Encoding::Json) build_keys(def);
  def.counting.prepare(def.min_count, def.max_count != kUnbounded);
  for (auto& m : def.members) complete_ways(def.counting, m.value, m.ways);
  for (auto& c : def.classes) complete_ways(def.counting, c.value, c.ways);
  def.id = static_cast<u32>(members_.size());
  def.first_member = member_count_;
  member_count_ += static_cast<u32>(def.members.size());
  members_.push_back(std::move(def));
  return gram(GramKind::Members, static_cast<u32>(members_.size() - 1), 0, 0, 0);
}

void Automaton::build_keys(MembersDef& def) {
  def.keys.emplace_back();
  for (u32 i = 0; i < def.members.size(); ++i) {
    if (!terms.alive(def.members[i].key)) continue;
    std::string text = "\"" + encode_json_string(def.members[i].name) + "\"";
    u32 node = 0;
    for (char c : text) {
      def.keys[node].below.push_back(i);
      auto& children = def.keys[node].children;
      auto it = std::lower_bound(children.begin(), children.end(), std::pair<u8, u32>{static_cast<u8>(c), 0});
      if (it != children.end() && it->first == static_cast<u8>(c)) {
        node = it->second;
      } else {
        u32 fresh = static_cast<u32>(def.keys.size());
        children.insert(it, {static_cast<u8>(c), fresh});
        def.keys.emplace_back();
        node = fresh;
      }
    }
    def.keys[node].below.push_back(i);
    def.keys[node].member = i;
  }
}

Gram Automaton::items(ItemsDef def) {
  def.counting.prepare(std::max(def.min_count, static_cast<u32>(def.prefix.size())), def.max_count != kUnbounded);
  if (def.counting.active()) {
    def.prefix_ways.resize(def.prefix.size());
    for (u32 i = 0; i < def.prefix.size(); ++i) complete_ways(def.counting, def.prefix[i], def.prefix_ways[i]);
    if (def.rest != kNone) complete_ways(def.counting, def.rest, def.rest_ways);
  } else {
    def.prefix_ways.clear();
    def.rest_ways.clear();
  }
  items_.push_back(std::move(def));
  return gram(GramKind::Items, static_cast<u32>(items_.size() - 1), 0, 0, 0);
}

void Automaton::finish(Gram start) {
  costs_.assign(grams_.size(), kUnbounded);
  // Least fixed point of "bytes of a shortest text"; what stays unbounded has none.
  do {
    for (bool changed = true; changed;) {
      changed = false;
      for (Gram g = 0; g < grams_.size(); ++g) {
        terms.deadline.check();
        u32 cost = gram_cost(g);
        if (cost < costs_[g]) {
          costs_[g] = cost;
          changed = true;
        }
      }
    }
  } while (settle_unique());
  for (auto& def : members_) refresh(def);
  for (auto& def : items_) refresh(def);
  start_ = kDead;
  if (costs_[start] == kUnbounded) return;
  Gather g;
  open_gram(g, start, kDone);
  start_ = close(g);
}

static void note_advancing(std::vector<Advancing>& list, const std::vector<Way>& ways, u32 place, u32 more = 0) {
  for (const Way& w : ways) {
    if (!w.alive) continue;
    for (u32 c : w.counters) {
      auto& places = list[c].places;
      if (more > 0) list[c].more = more;
      else if (places.empty() || places.back() != place) places.push_back(place);
    }
  }
}

void Automaton::refresh(MembersDef& def) {
  const u32 n = static_cast<u32>(def.members.size());
  def.extras = 0;
  for (auto& m : def.members) m.alive = costs_[m.value] != kUnbounded && terms.alive(m.key);
  bool same_names = true;
  for (auto& c : def.classes) {
    const bool was_alive = c.alive && c.count > 0;
    c.alive = costs_[c.value] != kUnbounded && terms.alive(c.body);
    if (c.alive && c.count == 0) {
      const bool many = terms.node(c.body).max_bytes == kUnbounded && terms.node(c.body).plain;
      // Of the spellings of a name exactly one is canonical: count those.
      const Term names = many || def.encoding != Encoding::JsonAny
                             ? c.body
                             : terms.conj(c.body, terms.any_text(Encoding::Json));
      c.count = many ? kManyNames : terms.cardinality(names, std::min<u64>(kManyNames, 4096));
    }
    if (c.alive) def.extras += c.count > 4096 ? kManyNames : c.count;
    same_names = same_names && was_alive == (c.alive && c.count > 0);
  }
  if (!same_names) planner_->forget_names(def.id);
  def.next_required.assign(n + 1, n);
  def.required_from.assign(n + 1, 0);
  def.alive_from.assign(n + 1, 0);
  for (u32 i = n; i-- > 0;) {
    def.next_required[i] = def.members[i].required ? i : def.next_required[i + 1];
    def.required_from[i] = def.required_from[i + 1] + def.members[i].required;
    def.alive_from[i] = def.alive_from[i + 1] + def.members[i].alive;
  }
  if (!def.counting.active()) return;
  for (auto& c : def.classes) refresh(c.ways);
  def.counted.clear();
  def.spare.clear();
  def.advancing.assign(def.counting.caps.size(), {});
  for (u32 i = 0; i < n; ++i) {
    MemberDef& m = def.members[i];
    refresh(m.ways);
    const bool counts = std::any_of(m.ways.begin(), m.ways.end(), [](const Way& w) { return w.alive && !w.counters.empty(); });
    if (m.alive && counts) def.counted.push_back(i);
    else if (m.alive && !m.required) def.spare.push_back(i);
    if (m.alive) note_advancing(def.advancing, m.ways, i);
  }
  for (u32 c = 0; c < def.classes.size(); ++c)
    if (def.classes[c].alive) note_advancing(def.advancing, def.classes[c].ways, kNone, c + 1);
}

void Automaton::refresh(ItemsDef& def) {
  def.reachable = def.max_count;
  for (auto& ways : def.prefix_ways) refresh(ways);
  refresh(def.rest_ways);
  def.advancing.assign(def.counting.caps.size(), {});
  for (u32 i = 0; i < def.prefix_ways.size(); ++i) note_advancing(def.advancing, def.prefix_ways[i], i);
  note_advancing(def.advancing, def.rest_ways, kNone, 1);
  if (def.unique && !def.tracked) {
    if (def.parts.empty() || !terms.alive(def.parts[0].scalar)) def.reachable = 0;
    return;
  }
  for (u32 i = 0; i < def.prefix.size(); ++i)
    if (costs_[def.prefix[i]] == kUnbounded) {
      def.reachable = std::min(def.reachable, i);
      return;
    }
  if (def.rest == kNone || costs_[def.rest] == kUnbounded)
    def.reachable = std::min(def.reachable, static_cast<u32>(def.prefix.size()));
}

// ---------------------------------------------------------------- interning

u32 Automaton::intern_frame(const Frame& f) {
  u64 h = hash_frame(f);
  u32 found = frame_table_.find(h, [&](u32 i) { return frames_[i] == f; });
  if (found != kNone) return found;
  frames_.push_back(f);
  frame_table_.insert(h, static_cast<u32>(frames_.size() - 1));
  return static_cast<u32>(frames_.size() - 1);
}

State Automaton::intern_state(std::vector<Entry>& list, bool accept) {
  if (list.size() > 1) {
    std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
      return a.frame != b.frame ? a.frame < b.frame : a.below < b.below;
    });
    size_t kept = 0;
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].frame == list[kept].frame) {
        list[kept].below = unite(list[kept].below, list[i].below);
      } else {
        list[++kept] = list[i];
      }
    }
    list.resize(kept + 1);
  }
  u64 h = hash_bytes(list.data(), list.size() * sizeof(Entry), accept ? 41 : 43);
  State found = state_table_.find(h, [&](u32 i) {
    const Shape& s = states_[i];
    return s.accept == accept && s.count == list.size() &&
           (list.empty() || std::memcmp(entries_.data() + s.at, list.data(), list.size() * sizeof(Entry)) == 0);
  });
  if (found != kNone) return found;
  if (states_.size() >= limits.states) throw LimitError("states", "the grammar needs too many parser states");
  bool captures = std::any_of(list.begin(), list.end(), [&](const Entry& e) {
    FrameKind k = frames_[e.frame].kind;
    return k == FrameKind::ClassKey || k == FrameKind::Unique || k == FrameKind::Tracked;
  });
  Shape s{static_cast<u32>(entries_.size()), static_cast<u32>(list.size()), accept, captures, kNone, kNone};
  entries_.insert(entries_.end(), list.begin(), list.end());
  states_.push_back(s);
  state_table_.insert(h, static_cast<State>(states_.size() - 1));
  return static_cast<State>(states_.size() - 1);
}

State Automaton::single(const Frame& f, State below) {
  std::vector<Entry> one{{intern_frame(f), below}};
  return intern_state(one, false);
}

State Automaton::unite(State a, State b) {
  if (a == b || b == kDead) return a;
  if (a == kDead) return b;
  if (a > b) std::swap(a, b);
  if (u32 known = unions_.get(a, b); known != kNone) return known;
  DepthGuard guard(depth_);
  check_depth(depth_);
  std::vector<Entry> both;
  for (State s : {a, b}) {
    auto e = entries(s);
    both.insert(both.end(), e.begin(), e.end());
  }
  State u = intern_state(both, states_[a].accept || states_[b].accept);
  unions_.put(a, b, u);
  return u;
}

u32 Automaton::progress(const Progress& p) {
  u64 h = hash_bytes(&p, sizeof p, 47);
  u32 found = progress_table_.find(h, [&](u32 i) { return progresses_[i] == p; });
  if (found != kNone) return found;
  progresses_.push_back(p);
  progress_table_.insert(h, static_cast<u32>(progresses_.size() - 1));
  return static_cast<u32>(progresses_.size() - 1);
}

u32 Automaton::link(IdTable& table, std::vector<Link>& links, u32 parent, u32 item) {
  u64 h = mix(mix(53, parent), item);
  u32 found = table.find(h, [&](u32 i) { return links[i].parent == parent && links[i].item == item; });
  if (found != kNone) return found;
  const Link& before = links[parent];
  Link made{parent, item, before.unknown || item == kUnknownText, before.depth + 1, before.bytes + 1};
  if (&links == &seen_ && item < kUnknownName) made.bytes += static_cast<u32>(texts_[item].size());
  links.push_back(made);
  table.insert(h, static_cast<u32>(links.size() - 1));
  return static_cast<u32>(links.size() - 1);
}

std::string Automaton::captured(u32 capture) const {
  std::string text;
  for (u32 i = capture; i != 0; i = captures_[i].parent) text += static_cast<char>(captures_[i].item);
  std::reverse(text.begin(), text.end());
  return text;
}

u32 Automaton::text_id(const std::string& s) {
  u64 h = hash_bytes(s.data(), s.size(), 59);
  u32 found = text_table_.find(h, [&](u32 i) { return texts_[i] == s; });
  if (found != kNone) return found;
  texts_.push_back(s);
  text_table_.insert(h, static_cast<u32>(texts_.size() - 1));
  return static_cast<u32>(texts_.size() - 1);
}

bool Automaton::has_bit(u32 set, u32 bit) const {
  const auto& words = bitsets_[set];
  return bit / 64 < words.size() && (words[bit / 64] >> (bit % 64) & 1);
}

u32 Automaton::with_bit(u32 set, u32 bit) {
  std::vector<u64> words = bitsets_[set];
  if (words.size() <= bit / 64) words.resize(bit / 64 + 1);
  words[bit / 64] |= u64{1} << (bit % 64);
  u64 h = hash_bytes(words.data(), words.size() * 8, 61);
  u32 found = bitset_table_.find(h, [&](u32 i) { return bitsets_[i] == words; });
  if (found != kNone) return found;
  bitsets_.push_back(std::move(words));
  bitset_table_.insert(h, static_cast<u32>(bitsets_.size() - 1));
  return static_cast<u32>(bitsets_.size() - 1);
}

}  // namespace constrain
