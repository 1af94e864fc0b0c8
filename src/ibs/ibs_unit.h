// SPDX-License-Identifier: MIT
#ifndef PMUSIM_IBS_IBS_UNIT_H
#define PMUSIM_IBS_IBS_UNIT_H

#include <array>
#include <utility>

#include "ibs/random_bits.h"
#include "msr/row.h"
#include "pmusim/arch/msr.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// Bits of a sample that an instruction with this signal sets.
inline u64 if_signal(const Retirement& r, Signal signal, u64 mask) {
  return r.signals.has(signal) ? mask : 0;
}

/// AMD's instruction-based sampling (APM vol. 2, 13.3): two units, each of which counts, tags one thing,
/// writes down what became of it, asks for an interrupt and stands still until software writes its control
/// register again.
///
/// The fetch unit counts fetches: 32 bytes of code, aligned, or what is left of them behind a branch target.
/// The op unit counts core cycles or dispatched ops. Both see the path that retires alone, so that no fetch
/// is aborted, and no tag flushed but on the ops that a policy adds. Addresses of memory are taken to be
/// physical ones, too, in pages of 4 KiB.
class IbsUnit {
 public:
  explicit IbsUnit(const CpuModel& model) : model_(&model) {}

  /// Whether a unit counts or has a tag out.
  bool is_active() const { return fetch_counts() || op_counts(); }
  /// An instruction retires. True: a sample has become valid, and asks for an interrupt.
  bool retire(const Retirement& retirement);
  /// Ops that were tagged, and that retired with a tag, since the last call.
  struct Tags {
    u32 ops = 0, retired = 0;
  };
  Tags take_tags() { return std::exchange(tags_, {}); }

  void add_to(StateHash& hash) const;
  static RowFamilies<IbsUnit> registers(Vendor vendor);

 private:
  static Rows<IbsUnit> fetch_registers();
  static Rows<IbsUnit> op_registers();

  bool has(u32 capability) const { return (model_->amd.cpuid_8000001b_eax & capability) != 0; }
  bool fetch_counts() const { return (fetch_ctl_ & (ibs::fetch::EN | ibs::fetch::VAL)) == ibs::fetch::EN; }
  bool op_counts() const { return (op_ctl_ & (ibs::op::EN | ibs::op::VAL)) == ibs::op::EN; }

  // fetch.cpp
  bool fetch_block(const Retirement& r, u64 address);
  bool sample_fetch(const Retirement& r, u64 address);
  void write_fetch_ctl(u64 value);
  u64 read_fetch_ctl() const;

  // op.cpp
  bool retire_op(const Retirement& r);
  bool is_tagged(const Retirement& r);
  void dispatch_wrong_path(const Retirement& branch);
  void restart_op_count(u64 cycle);
  bool sample_op(const Retirement& r);
  bool passes_filters() const;
  u64 op_data_of(const Retirement& r) const;
  void look_at_memory(const Retirement& r);
  u64 data_source(CacheLevel level) const;
  u64 op_period() const;
  u64 op_count_at(u64 cycle) const;
  void write_op_ctl(u64 value, u64 cycle);
  u64 read_op_ctl(u64 cycle) const;

  static constexpr u64 physical_address = bits(51, 0);

  const CpuModel* model_;
  RandomBits random_;

  u64 fetch_ctl_ = 0;  // without the count
  u32 fetch_count_ = 0;
  u64 fetch_linear_ = 0, fetch_physical_ = 0, fetch_extension_ = 0;
  u64 next_fetch_ = 0;  // where the block ends that was fetched last; 0: nothing was

  u64 op_ctl_ = 0;  // without the count
  u64 op_count_ = 0;
  u64 op_counted_from_ = 0;  // cycle mode: when the count was that
  u64 op_rip_ = 0, op_data_ = 0, op_data2_ = 0, op_data3_ = 0, op_linear_ = 0, op_physical_ = 0,
      branch_target_ = 0;
  Tags tags_;
};

}  // namespace pmusim

#endif
