#include "counters.hpp"

namespace constrain {

void Counting::prepare(u32 least_enough, bool bounded) {
  enough = std::max(least_enough, 1u);
  last = enough;
  for (const auto& condition : conditions)
    for (const Bound& b : condition) {
      if (b.counter == kNone) {
        last = std::max(last, b.least);
        continue;
      }
      if (caps.size() <= b.counter) caps.resize(b.counter + 1, 0);
      caps[b.counter] = std::max(caps[b.counter], b.least);
    }
  if (bounded) last = 0;
}

bool Counting::hold(const std::vector<u32>& counts, u32 count, std::span<const u64> settled) const {
  for (size_t k = 0; k < conditions.size(); ++k) {
    const auto& condition = conditions[k];
    if (has(settled, k)) continue;
    if (std::none_of(condition.begin(), condition.end(), [&](const Bound& b) { return holds(b, counts, count); }))
      return false;
  }
  return true;
}

void Counting::settle(std::vector<u32>& counts, u32& count) const {
  u32 done = enough;
  std::vector<u32> visible(caps.size(), 0);  // the highest bound of a condition that is still open
  for (const auto& condition : conditions) {
    const bool for_good = std::any_of(condition.begin(), condition.end(),
                                      [&](const Bound& b) { return b.reached && holds(b, counts, count); });
    if (for_good) continue;
    for (const Bound& b : condition) {
      u32& highest = b.counter == kNone ? done : visible[b.counter];
      highest = std::max(highest, b.least);
    }
  }
  for (size_t i = 0; i < caps.size(); ++i)
    if (counts[i] >= visible[i]) counts[i] = caps[i];
  if (count >= done) count = std::max(count, last);
}

bool Counting::moves(const Way& way, const std::vector<u32>& counts) const {
  return std::any_of(way.counters.begin(), way.counters.end(), [&](u32 c) { return counts[c] < caps[c]; });
}

std::vector<u32> Counting::steps_ahead(u32 count, u32 min) const {
  std::vector<u32> found{0};
  if (min > count) found.push_back(min - count);
  for (const auto& condition : conditions)
    for (const Bound& b : condition)
      if (b.counter == kNone && b.least > count) found.push_back(b.least - count);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

u32 CountVectors::id_of(std::vector<u32> counts) {
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  if (counts.empty()) return 0;
  const u64 h = hash_bytes(counts.data(), counts.size() * sizeof(u32), 67);
  const u32 found = table_.find(h, [&](u32 i) { return vectors_[i] == counts; });
  if (found != kNone) return found;
  vectors_.push_back(std::move(counts));
  table_.insert(h, static_cast<u32>(vectors_.size() - 1));
  return static_cast<u32>(vectors_.size() - 1);
}

std::vector<u32> CountVectors::get(u32 id, size_t size) const {
  std::vector<u32> counts = vectors_[id];
  counts.resize(size, 0);
  return counts;
}

size_t CountVectors::bytes() const {
  size_t bytes = table_.bytes();
  for (const auto& v : vectors_) bytes += sizeof v + v.size() * sizeof(u32);
  return bytes;
}

}  // namespace constrain
