// Small things that every part of the kernel needs: ids, byte sets, hashes, typed failures, limits.
//
// Nothing here knows of terms, states or tokens.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace constrain {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using u128 = unsigned __int128;

constexpr u32 kNone = 0xFFFFFFFFu;
constexpr u32 kUnbounded = 0xFFFFFFFFu;

// A limit was met: `limit` names it. Becomes LimitExceeded in Python.
struct LimitError : std::runtime_error {
  std::string limit;
  LimitError(std::string name, const std::string& message) : std::runtime_error(message), limit(std::move(name)) {}
};

// 256 bits, one per byte.
struct ByteSet {
  std::array<u64, 4> word{};
  bool has(u8 b) const { return word[b >> 6] >> (b & 63) & 1; }
  void add(u8 b) { word[b >> 6] |= u64{1} << (b & 63); }
  void add_range(int lo, int hi) {
    for (int b = lo; b <= hi; ++b) add(static_cast<u8>(b));
  }
  bool empty() const { return !(word[0] | word[1] | word[2] | word[3]); }
  int count() const {
    return std::popcount(word[0]) + std::popcount(word[1]) + std::popcount(word[2]) + std::popcount(word[3]);
  }
  bool operator==(const ByteSet& o) const { return word == o.word; }
  ByteSet operator&(const ByteSet& o) const {
    ByteSet r;
    for (int i = 0; i < 4; ++i) r.word[i] = word[i] & o.word[i];
    return r;
  }
  ByteSet operator|(const ByteSet& o) const {
    ByteSet r;
    for (int i = 0; i < 4; ++i) r.word[i] = word[i] | o.word[i];
    return r;
  }
  static ByteSet all() {
    ByteSet r;
    r.word.fill(~u64{0});
    return r;
  }
  template <class F>
  void each(F&& f) const {
    for (int i = 0; i < 4; ++i)
      for (u64 w = word[i]; w; w &= w - 1) f(static_cast<u8>(i * 64 + std::countr_zero(w)));
  }
};

inline u64 mix(u64 h, u64 v) {
  u128 p = static_cast<u128>(h ^ (v + 0x9E3779B97F4A7C15ull)) * 0xD6E8FEB86659FD93ull;
  return static_cast<u64>(p) ^ static_cast<u64>(p >> 64);
}

inline u64 hash_bytes(const void* data, size_t n, u64 seed = 0x243F6A8885A308D3ull) {
  const u8* p = static_cast<const u8*>(data);
  u64 h = mix(seed, n);
  for (; n >= 8; p += 8, n -= 8) {
    u64 v;
    std::memcpy(&v, p, 8);
    h = mix(h, v);
  }
  u64 v = 0;
  if (n) std::memcpy(&v, p, n);
  return mix(h, v);
}

// Open addressing from a 64-bit hash to an id; equality is decided by the caller. Never shrinks, never erases.
class IdTable {
 public:
  IdTable() : slots_(64, kNone), hashes_(64) {}
  template <class Same>
  u32 find(u64 h, Same&& same) const {
    for (size_t i = h & mask();; i = (i + 1) & mask()) {
      u32 id = slots_[i];
      if (id == kNone) return kNone;
      if (hashes_[i] == static_cast<u32>(h >> 32) && same(id)) return id;
    }
  }
  void insert(u64 h, u32 id) {
    if ((++used_) * 2 > slots_.size()) grow();
    place(h, id);
  }
  size_t bytes() const { return slots_.size() * 8 + full_.size() * 8; }

 private:
  size_t mask() const { return slots_.size() - 1; }
  void place(u64 h, u32 id) {
    size_t i = h & mask();
    while (slots_[i] != kNone) i = (i + 1) & mask();
    slots_[i] = id;
    hashes_[i] = static_cast<u32>(h >> 32);
    full_.push_back({h, id});
  }
  void grow() {
    auto old = std::move(full_);
    full_.clear();
    full_.reserve(old.size() * 2 + 1);
    slots_.assign(slots_.size() * 2, kNone);
    hashes_.assign(slots_.size(), 0);
    for (auto& [h, id] : old) place(h, id);
  }
  std::vector<u32> slots_, hashes_;
  std::vector<std::pair<u64, u32>> full_;
  size_t used_ = 0;
};

// A memo from two 32-bit keys to a value.
class PairMemo {
 public:
  PairMemo() : keys_(256, ~u64{0}), values_(256) {}
  u32 get(u32 a, u32 b) const {
    u64 k = key(a, b);
    for (size_t i = slot(k);; i = (i + 1) & (keys_.size() - 1)) {
      if (keys_[i] == k) return values_[i];
      if (keys_[i] == ~u64{0}) return kNone;
    }
  }
  void put(u32 a, u32 b, u32 v) {
    if (++used_ * 2 > keys_.size()) grow();
    place(key(a, b), v);
  }
  size_t bytes() const { return keys_.size() * 12; }

 private:
  static u64 key(u32 a, u32 b) { return u64{a} << 32 | b; }
  size_t slot(u64 k) const { return mix(k, 1) & (keys_.size() - 1); }
  void place(u64 k, u32 v) {
    size_t i = slot(k);
    while (keys_[i] != ~u64{0} && keys_[i] != k) i = (i + 1) & (keys_.size() - 1);
    keys_[i] = k;
    values_[i] = v;
  }
  void grow() {
    auto k = std::move(keys_);
    auto v = std::move(values_);
    keys_.assign(k.size() * 2, ~u64{0});
    values_.assign(k.size() * 2, 0);
    for (size_t i = 0; i < k.size(); ++i)
      if (k[i] != ~u64{0}) place(k[i], v[i]);
  }
  std::vector<u64> keys_;
  std::vector<u32> values_;
  size_t used_ = 0;
};

// A point in time that long work looks at; `cancelled` may be set from another thread.
struct Deadline {
  using Clock = std::chrono::steady_clock;
  Clock::time_point at = Clock::time_point::max();
  u32 ticks = 0;
  void check() {
    if ((++ticks & 1023) == 0 && at != Clock::time_point::max() && Clock::now() > at)
      throw LimitError("deadline_s", "the deadline passed while compiling");
  }
};

// Sums and products of lengths: kUnbounded stands for "there is none"; what is only too large stays below it.
inline u32 saturating_add(u32 a, u32 b) {
  if (a == kUnbounded || b == kUnbounded) return kUnbounded;
  return a >= kUnbounded - 1 - b ? kUnbounded - 1 : a + b;
}
inline u32 saturating_mul(u32 a, u32 b) {
  if (a == 0 || b == 0) return 0;
  if (a == kUnbounded || b == kUnbounded) return kUnbounded;
  u64 p = u64{a} * b;
  return p >= kUnbounded ? kUnbounded - 1 : static_cast<u32>(p);
}
inline u64 mulmod(u64 a, u64 b, u64 m) { return static_cast<u64>(static_cast<u128>(a) * b % m); }

struct Limits {
  u32 terms = 4'000'000;       // interned regular terms of one grammar
  u32 states = 4'000'000;      // interned parser states of one grammar
  u32 liveness = 400'000;      // derivatives visited to decide one emptiness question
  u32 completion = 1u << 26;   // bytes of a completion that is written out
  u32 depth = 20'000;          // nesting of frames that one expansion may open
  u32 unique_bytes = 1u << 20; // text of the values of one array that must all differ
  u32 unique_values = 2'000;   // values listed to see whether enough different ones are left
  u32 differences = 100'000;   // states visited to see whether an item can still differ
  u32 plans = 500'000;         // remembered answers of how a container with conditions is completed
};

}  // namespace constrain
