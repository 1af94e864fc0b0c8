// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PEBS_RECORD_H
#define PMUSIM_SRC_PEBS_RECORD_H

#include <cstring>

#include "arch/pebs_fragments.h"
#include "pebs/pebs_unit.h"

namespace pmusim::pebs {

/// What a record says of the sampled data access; zeros where the counters served sample none.
struct SampledAccess {
  u64 address = 0;
  u64 data_source = 0;
  u32 access_latency = 0;       ///< cycles, load and store latency only
  u32 instruction_latency = 0;  ///< cycles, likewise
};

/// Which of a record's memory fields a counter's event fills.
enum class MemoryFacility : u8 {
  none,
  load_latency,
  store_latency,
  precise_store,  ///< address and hit/miss bits
  load_address,   ///< memory events from Haswell on
  store_address,
};

/// `enable` is IA32_PEBS_ENABLE, 0 on architectural PEBS.
MemoryFacility memory_facility(const CounterFile& counters, unsigned counter, u64 enable);

/// The load of this instruction that took longest, if it took more than `threshold` cycles.
const MemoryAccess* longest_load(const Retirement& retirement, u64 threshold);

/// The fields that the first of `served` with a memory event fills.
SampledAccess sampled_access(const AssistInput& input, u64 enable, u64 threshold);

/// The source of one access in the words of an encoding (see pmusim/arch/data_source.h).
u64 encode_data_source(DataSourceEncoding encoding, const MemoryAccess& access);

/// TSX tuning word of an instruction.
u64 tsx_word(const CpuModel& model, const Retirement& retirement);

/// Formats 0 to 3; `out` is one record, zeroed.
void write_fixed(std::span<std::byte> out, const AssistInput& input, const SampledAccess& access, u64 status);
void write_fixed_32(std::span<std::byte> out, const AssistInput& input);

/// Formats 4 to 6. `config` is the DATA_CFG in effect; `out` is one record of its layout, zeroed.
void write_adaptive(std::span<std::byte> out, const AssistInput& input, const SampledAccess& access,
                    u64 config);

/// Architectural PEBS: the fragments of one record that serves `input.served`; `out` has room for all,
/// zeroed.
ArchFragments arch_fragments(const AssistInput& input);
void write_arch(std::span<std::byte> out, const ArchFragments& fragments, const AssistInput& input,
                const SampledAccess& access);

/// Copies a layout struct to its place in a record.
template <class T>
void put(std::span<std::byte> record, u32 offset, const T& group) {
  std::memcpy(record.subspan(offset, sizeof(T)).data(), &group, sizeof(T));
}

GprGroup gpr_group(const Retirement& retirement);
u16 retire_latency(const Retirement& retirement);
/// 15:0 instruction, 47:32 access.
u64 split_latency(const SampledAccess& access);

/// Writes LBR entries newest first; places without an entry stay zero.
void put_lbr(std::span<std::byte> record, u32 offset, u32 entries, std::span<const LbrEntry> lbr);

/// Writes the first `bytes` of a state component, little-endian.
void put_component(std::span<std::byte> record, u32 offset, u32 bytes, std::span<const u64> component);

/// Which counters a counters group stores.
struct StoredCounters {
  u32 gp = 0, fixed = 0;
  bool metrics = false;
  u32 bytes() const {
    return counters_bytes(static_cast<unsigned>(std::popcount(gp) + std::popcount(fixed)), metrics);
  }
};
void put_counters(std::span<std::byte> record, u32 offset, const StoredCounters& stored,
                  const CounterFile& counters);

}  // namespace pmusim::pebs

#endif
