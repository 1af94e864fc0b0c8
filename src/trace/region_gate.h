// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_REGION_GATE_H
#define PMUSIM_TRACE_REGION_GATE_H

#include <optional>
#include <span>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// Where a function of an ELF file stands in the file: by its linked name, or demangled, with or without
/// its parameters. Nothing if there is none.
std::optional<u64> file_offset_of_function(const std::string& file, const std::string& name);

/// Says, as a program runs, whether it is in the region that is to be recorded.
///
/// Marks are the SSC marks of Intel's instruction emulators (SDE): `mov ebx, N` followed by the NOP
/// 64 67 90, with N = 0x111 to start and 0x222 to stop.
class RegionGate {
 public:
  explicit RegionGate(Region region) : region_(std::move(region)), decides_(!region_.is_everything()) {
    if (region_.start_symbol.empty() && !region_.marks) begin();
  }

  /// False: there is nothing to decide, and nobody needs to ask.
  bool decides() const { return decides_; }

  /// Functions that can still begin or end the region are looked for in each file that is mapped executable.
  void mapped(const Mapping& mapping);
  /// Where the region begins, as far as it is mapped and it does with a function.
  const std::vector<u64>& starts() const { return starts_; }

  /// A thread is at this address.
  void reach(u64 address);
  /// A thread has executed this block; the recording has so many bytes by now.
  void executed(std::span<const std::byte> code, u64 instructions, u64 file_bytes);
  /// Whether a trace of the region has it: who and what there is belongs to its beginning, what was executed
  /// before does not.
  bool admits(const SideBandRecord& record) const;

  bool is_open() const { return state_ == State::inside; }
  bool is_over() const { return state_ == State::after; }
  /// Why nothing was recorded; empty where the region is open, and the program executed nothing in it.
  std::string why_not_begun() const;

 private:
  enum class State : u8 { before, skipping, inside, after };
  void begin();
  void obey_marks(std::span<const std::byte> code);

  Region region_;
  const bool decides_;  // asked for each block
  State state_ = State::before;
  std::vector<u64> starts_, stops_;
  u64 executed_ = 0;  // since the region began
};

}  // namespace pmusim::trace

#endif
