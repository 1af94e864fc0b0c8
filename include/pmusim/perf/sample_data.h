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

/// Registers that only events with attr.sample_simd_regs_enabled can sample. What is not known reads 0.
struct ExtendedRegisters {
  static constexpr std::size_t words_per_vector = 8;
  std::span<const u64> vectors;     ///< ZMM0 low to high, ZMM1, ...: 8 words each, however few are sampled
  std::span<const u64> predicates;  ///< k0, k1, ...
  std::span<const u64> egpr;        ///< R16, R17, ...
  u64 shadow_stack_pointer = 0;
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
  bool exact_ip = false;    ///< sets PERF_RECORD_MISC_EXACT_IP
  std::optional<u64> time;  ///< perf time in ns, if taken at the record (PEBS TSC)
  std::optional<u64> address;
  std::optional<u64> physical_address;
  u64 data_source = data_source_na;
  u64 weight = 0;  ///< WEIGHT or WEIGHT_STRUCT word
  u64 transaction = 0;
  const BranchStack* branches = nullptr;          ///< with none the stack is written empty
  std::optional<std::span<const u64>> callchain;  ///< with context markers
  const Registers* registers = nullptr;           ///< for REGS_INTR, if not those of the interrupt
  std::span<const std::byte> xmm;                 ///< XMM0 to XMM15, or empty
  ExtendedRegisters extended;  ///< for REGS_INTR; without `vectors`, `xmm` is their low half
  std::span<const std::byte> raw;
  /// For READ: counts that were recorded with the sample. Events that are not in it are read now.
  std::span<const CountAtSample> counts;
};

}  // namespace pmusim::perf

#endif
