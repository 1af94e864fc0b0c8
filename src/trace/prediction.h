// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_PREDICTION_H
#define PMUSIM_TRACE_PREDICTION_H

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <map>
#include <vector>

#include "pmusim/base/bus.h"

/// The state that encoder and decoder of a chunk keep alike, so that only what it does not foresee is stored.
/// All of it starts empty in each chunk.
namespace pmusim::trace {

/// The blocks that followed a block, the latest first.
class SuccessorList {
 public:
  static constexpr std::size_t capacity = 16;

  std::size_t size() const { return ids_.size(); }
  u32 operator[](std::size_t rank) const { return ids_[rank]; }
  /// Where `id` stands, `size()` if it is not there.
  std::size_t rank(u32 id) const {
    return static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
  }
  void move_to_front(std::size_t rank) {
    std::rotate(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(rank),
                ids_.begin() + static_cast<std::ptrdiff_t>(rank) + 1);
  }
  void add(u32 id) {
    if (ids_.size() == capacity) ids_.pop_back();
    ids_.insert(ids_.begin(), id);
  }

 private:
  boost::container::small_vector<u32, 3> ids_;
};

/// The addresses that one operand of one instruction accessed.
class AddressPredictor {
 public:
  u64 prediction() const { return last_ + stride_; }
  void update(u64 address) {
    stride_ = seen_ ? address - last_ : 0;
    last_ = address;
    seen_ = true;
  }

 private:
  u64 last_ = 0, stride_ = 0;
  bool seen_ = false;
};

/// Prediction state of a chunk.
struct Prediction {
  std::vector<SuccessorList> successors;   // by block id
  std::vector<AddressPredictor> operands;  // two per instruction context
  std::vector<u32> register_masks;         // what the instruction changed last, by instruction context
  std::map<u32, Registers> registers;      // by thread

  void fit(std::size_t blocks, std::size_t contexts) {
    successors.resize(blocks);
    operands.resize(2 * contexts);
    register_masks.resize(contexts);
  }
};

/// Bit 16 of a mask of changed registers; bits 15..0 are the GPRs.
inline constexpr u32 flags_changed = 1u << 16;

}  // namespace pmusim::trace

#endif
