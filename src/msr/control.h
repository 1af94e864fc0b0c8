// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_CONTROL_H
#define PMUSIM_MSR_CONTROL_H

#include <array>

#include "msr/row.h"
#include "pmusim/arch/msr.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// The registers of one logical processor that steer the PMU or measure time but belong to no counter, LBR or
/// PEBS unit: DEBUGCTL, MISC_ENABLE, PERF_CAPABILITIES, the TSC family, LVTPC and the mode of its APIC,
/// off-core filters.
///
/// Clocks are functions of the core cycle in which they are read: nothing is counted between.
class ControlRegisters {
 public:
  explicit ControlRegisters(const CpuModel& model);

  /// TSC as it stands in a cycle, under the present TSC_ADJUST.
  u64 tsc_at(u64 cycle) const;

  u64 debugctl() const { return debugctl_; }
  /// What hardware does to DEBUGCTL by itself: a legacy LBR freeze clears LBR, #DB clears LBR and BTF.
  void clear_debugctl(u64 mask) { debugctl_ &= ~mask; }

  /// AMD's EFER.
  u64 efer() const { return efer_; }

  u64 lvtpc() const { return lvtpc_; }
  /// A write of LVTPC: its delivery status is not software's to set.
  void set_lvtpc(u64 value) { lvtpc_ = kept_of_lvt(value); }
  /// Indirect branch prediction barriers that software has asked for (PRED_CMD.IBPB) since construction.
  u64 prediction_barriers() const { return prediction_barriers_; }
  void mask_lvtpc() { lvtpc_ |= msr::lvtpc::MASKED; }

  /// Whether the registers of the local APIC are MSRs.
  bool in_x2apic_mode() const { return apic_mode() == (msr::apic_base::ENABLE | msr::apic_base::X2APIC); }
  /// The register of the local APIC that is in memory at this address, by its number in x2APIC mode; 0 where
  /// none is.
  u32 xapic_register(u64 address) const {
    if (apic_mode() != msr::apic_base::ENABLE) return 0;
    const u64 offset = address - (apic_base_ & msr::apic_base::PAGE);
    return offset < 0x1000 ? xapic_register_at(offset) : 0;
  }
  u32 read_xapic(u32 number) const;
  void write_xapic(u32 number, u32 value);
  /// The entry of the local APIC that IBS interrupts through.
  u64 ibs_lvt() const { return extended_lvt_.front(); }

  /// OFFCORE_RSP_0 and 1, or OMR_0 to 3 on parts that have those.
  std::array<u64, 4> off_core_filters() const {
    return model_->omr != 0 ? omr_ : std::array<u64, 4>{offcore_[0], offcore_[1]};
  }

  const CpuModel& model() const { return *model_; }
  /// The processor is halted between two cycles: APERF and MPERF stand still.
  void stand_still(u64 since, u64 until);
  void add_to(StateHash& hash) const;
  static RowFamilies<ControlRegisters> registers(Vendor vendor);

 private:
  static u64 kept_of_lvt(u64 value) {
    return value & (msr::lvtpc::VECTOR | msr::lvtpc::DELIVERY_MODE | msr::lvtpc::MASKED);
  }
  void reset_entries();
  u32 xapic_register_at(u64 offset) const;
  u64 apic_mode() const { return apic_base_ & (msr::apic_base::ENABLE | msr::apic_base::X2APIC); }
  static Rows<ControlRegisters> clock_registers();
  static Rows<ControlRegisters> switch_registers();
  static Rows<ControlRegisters> processor_registers();
  static Rows<ControlRegisters> apic_registers();
  static u64 apic_base_after_reset(const CpuModel& model);
  bool takes_apic_base(u64 value) const;
  static Rows<ControlRegisters> filter_registers();
  static Rows<ControlRegisters> amd_registers();
  /// A clock that software can set: its value was `value` in `cycle`.
  struct Origin {
    u64 cycle = 0, value = 0;
    void add_to(StateHash& hash) const { hash.add(cycle, value); }
  };

  const CpuModel* model_;
  u64 tsc_offset_ = 0, tsc_adjust_ = 0;
  Origin mperf_{}, aperf_{};
  u64 debugctl_ = 0, misc_enable_ = 0, lvtpc_ = msr::lvtpc::MASKED;
  u64 apic_base_ = 0;
  u64 tsx_force_abort_ = 0, spec_ctrl_ = 0, prediction_barriers_ = 0;
  u32 tsc_aux_ = 0;
  std::array<u64, 2> offcore_{}, snoop_{};
  std::array<u64, 4> omr_{};
  u64 efer_ = 0;
  std::array<u64, msr::EXTENDED_LVTS> extended_lvt_{msr::lvtpc::MASKED, msr::lvtpc::MASKED,
                                                    msr::lvtpc::MASKED, msr::lvtpc::MASKED};
};

}  // namespace pmusim

#endif
