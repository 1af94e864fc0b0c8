// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_STEP_H
#define PMUSIM_FORMATS_STEP_H

#include <array>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/arch/branch.h"
#include "pmusim/base/types.h"

namespace pmusim::formats {

/// User-mode code lies from here on, and below `code_end`.
inline constexpr u64 code_begin = 4096, code_end = u64{1} << 47;
constexpr bool is_code_address(u64 address) { return address >= code_begin && address < code_end; }

inline constexpr std::size_t max_instruction_bytes = 15;

/// The bytes of one instruction.
class Code {
 public:
  /// Up to max_instruction_bytes; more have no room.
  void push_back(std::byte byte) {
    if (!full()) bytes_[size_++] = byte;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == bytes_.size(); }
  std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, max_instruction_bytes> bytes_{};
  std::size_t size_ = 0;
};

struct Access {
  u64 address = 0;
  u16 bytes = 0;  ///< 0: the source does not tell
  bool load = false, store = false;
};

/// One retired instruction, as a source without code bytes tells it.
struct Step {
  u64 ip = 0;
  u8 length = 0;                   ///< 0: the source does not tell
  std::optional<BranchKind> kind;  ///< nothing: the source does not tell
  bool taken = false;              ///< where the kind is known
  boost::container::static_vector<Access, 8> accesses;
};

/// A source of steps. Errors: damaged; the sentence has the offset.
class StepReader {
 public:
  StepReader() = default;
  StepReader(const StepReader&) = delete;
  StepReader& operator=(const StepReader&) = delete;
  virtual ~StepReader() = default;
  virtual Result<std::optional<Step>, Error> next() = 0;
  /// What was left out so far, and counted.
  virtual std::vector<std::string> left_out() const = 0;
};

}  // namespace pmusim::formats

#endif
