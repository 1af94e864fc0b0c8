// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_PROGRAM_H
#define PMUSIM_TRACE_PROGRAM_H

#include <vector>

#include "pmusim/trace/block.h"

namespace pmusim::trace {

/// What can be asked about a program that is watched, whether it comes out of a trace or runs.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// What is known of it beside control flow; always the same.
  virtual const Contents& contents() const = 0;
  /// Code bytes known at an address of a process, as far as they were executed up to now (at most `bytes`;
  /// shorter or empty where unknown). What a driver's software filter reads as user memory.
  virtual std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const = 0;
  /// The same of memory of any kind, of which a trace knows nothing.
  virtual std::vector<std::byte> memory(u32, u64, std::size_t) const { return {}; }

 protected:
  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;
};

}  // namespace pmusim::trace

#endif
