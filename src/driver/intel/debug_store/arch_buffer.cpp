// SPDX-License-Identifier: MIT
#include "driver/intel/debug_store/arch_buffer.h"

#include <bit>

#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver {

namespace base = pebs::base_register;
namespace index = pebs::index_register;

namespace {

constexpr u64 one_record = 16;

/// The register counts in units of 16 bytes.
u64 threshold_field(u64 threshold) { return to_field(threshold / 16, 58, 36); }

}  // namespace

Fault ArchPebsBuffer::set_up() {
  if (!access_.probe().map_memory_at(place_.linear, place_.physical, place_.bytes)) return Fault::pf;
  const auto size = static_cast<u64>(std::countr_zero(place_.bytes / 4096));
  return access_.wrmsr(msr::PEBS_BASE, place_.physical | (size & base::SIZE));
}

bool ArchPebsBuffer::change_threshold(u64 bytes) {
  const FaultOr<u64> now = access_.rdmsr(msr::PEBS_INDEX);
  if (!now.ok()) return true;
  const u64 old = *now & index::THRESHOLD;
  if ((*now & index::ENABLE) != 0 && old == threshold_field(bytes)) return true;
  // One record that is left of an event whose interrupt has not come is nobody's: it goes, as in Linux.
  const bool collected = old > threshold_field(one_record);
  if (collected && (*now & index::WRITE_OFFSET) != 0) return false;
  access_.wrmsr(msr::PEBS_INDEX, index::ENABLE | threshold_field(bytes));
  return true;
}

bool ArchPebsBuffer::holds_records() const {
  const FaultOr<u64> now = access_.rdmsr(msr::PEBS_INDEX);
  return !now.ok() || (*now & index::WRITE_OFFSET) != 0;
}

std::span<std::byte> ArchPebsBuffer::take(u64 threshold) {
  const FaultOr<u64> now = access_.rdmsr(msr::PEBS_INDEX);
  if (!now.ok()) return {};
  const u64 used = *now & index::WRITE_OFFSET;
  if (used == 0 && (*now & index::FULL) == 0) return {};
  access_.wrmsr(msr::PEBS_INDEX, index::ENABLE | threshold_field(threshold));
  return access_.memory(place_.linear, used);
}

}  // namespace pmusim::driver
