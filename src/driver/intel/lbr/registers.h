// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_LBR_REGISTERS_H
#define PMUSIM_SRC_DRIVER_INTEL_LBR_REGISTERS_H

#include <span>
#include <vector>

#include "driver/intel/lbr/lbr.h"

namespace pmusim::driver {

/// What the enumeration says of the LBR, before any register is touched.
LbrTraits lbr_traits(const Enumeration& cpu);

/// Takes back what the registers of a hypervisor's guest do not really have: no LBR at all if an entry does
/// not hold what is written to it, no hardware filter if LBR_SELECT does not.
void probe_lbr(Bus& bus, LbrTraits& traits);

enum class InfoRead : u8 { skip, read };
/// All N, or up to the first that is empty.
enum class ReadExtent : u8 { all, used };

/// The LBR registers as a list of records, newest first: INFO and FROM as they stand in the registers.
class LbrRegisters {
 public:
  LbrRegisters(RegisterAccess& access, const LbrTraits& traits) : access_(access), traits_(traits) {}

  u64 top() const { return traits_.architectural ? 0 : read(msr::LBR_TOS); }
  void read_records(std::vector<LbrEntry>& out, ReadExtent extent, InfoRead info) const;
  /// Puts `records` back with the newest at `top`; entries that are left over become zero.
  void write_records(u64 top, std::span<const LbrEntry> records) const;
  /// Source of the entry at `top`; 0 where there is none.
  u64 source_at(u64 top) const { return read_from(slot(top, 0)); }
  void reset() const;

 private:
  u64 read(u32 address) const { return access_.read(address); }
  void write(u32 address, u64 value) const;
  u64 read_from(unsigned slot) const;
  LbrEntry read_entry(unsigned slot, InfoRead info) const;
  void write_entry(unsigned slot, const LbrEntry& entry) const;
  unsigned slot(u64 top, unsigned age) const {
    return traits_.architectural ? age : static_cast<unsigned>(top - age) & (traits_.entries - 1);
  }

  RegisterAccess& access_;
  const LbrTraits& traits_;
};

/// Branches of records that `LbrRegisters` read; nothing but addresses where `info` was skipped.
void decode_registers(const LbrTraits& traits, std::span<const LbrEntry> records, InfoRead info,
                      std::vector<perf::BranchEntry>& out);

}  // namespace pmusim::driver

#endif
