#ifndef PMUSIM_PERF_SAMPLE_DATA_H
#define PMUSIM_PERF_SAMPLE_DATA_H

#include <optional>
#include <span>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/perf/abi.h"

namespace pmusim::perf {

struct Event;

/// The all-NA data source word: what a sample carries when the PMU knows nothing of the access.
inline constexpr u64 data_source_na = 0x1e05080021;

/// A branch stack as a driver hands it over: newest first. `counters` is empty or one word per entry.
struct BranchStack {
  std::span<const BranchEntry> entries;
  u64 hw_index = ~u64{0};
  std::span<const u64> counters;
};

/// Registers beyond the general ones, in the pieces in which XSAVE areas and PEBS records hold them. A piece
/// is whole or empty; an empty one reads 0, be it unknown or in its initial state.
struct ExtendedRegisters {
  std::span<const std::byte> xmm;       ///< XMM0 to XMM15, 16 bytes each
  std::span<const std::byte> ymm_high;  ///< bits 255:128 of YMM0 to YMM15, 16 bytes each
  std::span<const std::byte> zmm_high;  ///< bits 511:256 of ZMM0 to ZMM15, 32 bytes each
  std::span<const std::byte> hi16_zmm;  ///< ZMM16 to ZMM31, 64 bytes each
  std::span<const std::byte> opmask;    ///< k0 to k7, 8 bytes each
  std::span<const std::byte> egpr;      ///< R16 to R31, 8 bytes each
  u64 shadow_stack_pointer = 0;         ///< of user mode
};

/// The count of one event as it was when a sample was taken.
struct CountAtSample {
  const Event* event = nullptr;
  u64 count = 0;
};

/// What a PMU driver knows about one sample. What it leaves empty the core fills with the ABI's default.
/// Spans and pointers are borrowed for the duration of the call that passes the sample.
struct SampleData {
  u64 period = 0;           ///< events since the previous sample
  std::optional<u64> ip;    ///< if it differs from the interrupted one
  std::optional<Cpl> cpl;   ///< of the code at `ip`, if not that of the interrupted code
  bool exact_ip = false;    ///< sets PERF_RECORD_MISC_EXACT_IP
  std::optional<u64> time;  ///< perf time in ns, if taken at the record (PEBS TSC)
  std::optional<u64> address;
  std::optional<u64> physical_address;
  u64 data_source = data_source_na;
  u64 weight = 0;  ///< WEIGHT or WEIGHT_STRUCT word
  u64 transaction = 0;
  const BranchStack* branches = nullptr;          ///< with none the stack is written empty
  std::optional<std::span<const u64>> callchain;  ///< with context markers
  /// Of the sampled code, if not those of the interrupt: for REGS_INTR and, where that is user code,
  /// REGS_USER.
  const Registers* registers = nullptr;
  const ExtendedRegisters* extended = nullptr;       ///< for REGS_INTR
  const ExtendedRegisters* user_extended = nullptr;  ///< for REGS_USER
  std::span<const std::byte> raw;
  /// For READ: counts that were recorded with the sample. Events that are not in it are read now.
  std::span<const CountAtSample> counts;
};

/// Privilege level of the code that was sampled.
inline Cpl sampled_level(const SampleData& data, const InterruptFrame& frame) {
  return data.cpl.value_or(frame.cpl);
}

}  // namespace pmusim::perf

#endif
