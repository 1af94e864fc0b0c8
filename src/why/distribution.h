// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_DISTRIBUTION_H
#define PMUSIM_SRC_WHY_DISTRIBUTION_H

#include <algorithm>
#include <bit>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::why {

/// How often a number came: exact below 64, and within 1/32 above, so that it stays small.
class Distribution {
 public:
  /// Numbers first..last came so often.
  struct Bucket {
    u64 first = 0, last = 0, count = 0;
  };

  void add(u64 value, u64 times = 1) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    counts_[bucket] += times;
    count_ += times;
    sum_ += value * times;
    max_ = std::max(max_, value);
  }
  Distribution& operator+=(const Distribution& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t n = 0; n < other.counts_.size(); ++n) counts_[n] += other.counts_[n];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
    return *this;
  }

  u64 count() const { return count_; }
  u64 sum() const { return sum_; }
  u64 max() const { return max_; }
  /// The smallest number that `percent` of 100 of all do not exceed; 0 of none.
  u64 percentile(unsigned percent) const {
    u64 seen = 0;
    for (std::size_t n = 0; n < counts_.size(); ++n)
      if ((seen += counts_[n]) * 100 >= count_ * percent && seen != 0) return std::min(last_of(n), max_);
    return max_;
  }
  /// Those that are not empty, in order.
  std::vector<Bucket> buckets() const {
    std::vector<Bucket> all;
    for (std::size_t n = 0; n < counts_.size(); ++n)
      if (counts_[n] != 0) all.push_back({n == 0 ? 0 : last_of(n - 1) + 1, last_of(n), counts_[n]});
    return all;
  }

 private:
  static constexpr u64 exact = 64, steps = 32;
  static std::size_t bucket_of(u64 value) {
    if (value < exact) return static_cast<std::size_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 6;
    return static_cast<std::size_t>(exact + (shift - 1) * steps + (value >> shift) - steps);
  }
  static u64 last_of(std::size_t bucket) {
    if (bucket < exact) return bucket;
    const u64 beyond = bucket - exact, shift = beyond / steps + 1;
    return ((beyond % steps + steps + 1) << shift) - 1;
  }

  std::vector<u64> counts_;
  u64 count_ = 0, sum_ = 0, max_ = 0;
};

}  // namespace pmusim::why

#endif
