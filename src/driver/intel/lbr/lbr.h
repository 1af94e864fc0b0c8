// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_LBR_LBR_H
#define PMUSIM_SRC_DRIVER_INTEL_LBR_LBR_H

#include <map>
#include <span>
#include <vector>

#include "driver/intel/enumeration.h"
#include "driver/intel/lbr/decoder.h"
#include "driver/x86/branch_filter.h"
#include "driver/x86/event_data.h"
#include "driver/x86/register_access.h"
#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/types.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// Which hardware filter a part has, if any: the same request sets different bits.
enum class BranchFilterMap : u8 { none, nehalem, sandy_bridge, haswell, architectural };

/// What the LBR of a processor can do, as start-up finds it (Linux: intel_pmu_lbr_init_*).
struct LbrTraits {
  unsigned entries = 0;  ///< 0: no usable LBR
  bool architectural = false;
  BranchFilterMap filter = BranchFilterMap::none;
  u32 from_base = 0, to_base = 0, info_base = 0;  ///< info_base 0: no INFO registers
  bool packed = false;                            ///< format 0: source and target in one register
  bool flags_in_from = false;                     ///< formats 3, 4, 6: mispredict flag above the address
  bool tsx = false;                               ///< transaction flags beside the mispredict flag
  bool cycles_in_to = false;                      ///< format 6
  bool sign_quirk = false;                        ///< format 4 without TSX: Linux's lbr_from_signext_quirk
  bool double_abort = false;                      ///< Haswell records an abort twice
  bool call_stack = false;
  // Fields of architectural records and of the LBR group of PEBS records.
  bool mispredict_known = false, cycles_known = false, type_known = false;
  bool lost_in_deep_cstate = false;
  u32 filter_features = 0;  ///< CPUID.1CH:EBX
  u32 event_counters = 0;   ///< GP counters that BR_CNTR can count
};

/// Whether records were taken off the hardware just now, or may be older than what TOS says.
enum class RecordAge : u8 { now, unknown };

/// What a task takes along.
struct SavedStack {
  std::vector<LbrEntry> records;  ///< newest first; empty where `image` is used
  std::vector<std::byte> image;   ///< of XSAVES
  u64 top = 0;
  bool valid = false;
  u64 number = 0;  ///< which save it was
};

struct SavedStacks {
  std::map<u32, SavedStack> by_task;
  u64 saves = 0;
};

/// The LBR part of the driver: programs the hardware filter, reads every record format into perf's branch
/// entries, filters them, and keeps call stacks apart between tasks.
///
/// Order of calls: `set_up` once; `init` per opened event; `add` and `remove` as events come and go;
/// `disable` and `enable` with the PMU; in an interrupt `read_in_pmi` before the status is acknowledged,
/// which lets recording go on, then `stack` per sample, then `enable(EnableMode::after_pmi)`.
class LbrDriver {
 public:
  /// `access` must outlive the driver.
  LbrDriver(RegisterAccess& access, const Enumeration& enumeration, LbrOptions options = {});
  LbrDriver(const LbrDriver&) = delete;
  LbrDriver& operator=(const LbrDriver&) = delete;

  /// Probes registers that a hypervisor may have left out, sets the depth, and clears everything.
  void set_up();

  const LbrTraits& traits() const { return traits_; }
  /// sysfs caps/branches, caps/branch_counter_nr and caps/branch_counter_width.
  unsigned entries() const { return traits_.entries; }
  unsigned branch_counter_count() const;
  unsigned branch_counter_width() const { return traits_.event_counters != 0 ? 2 : 0; }

  /// For events with a branch_sample_type: checks it and sets in their data `branch_config` (the filter
  /// register's value; bit 63 marks that INFO need not be read) and `branch_software_filter`; for logged
  /// events (COUNTERS) also the BR_CNTR bit of `config` and `dynamic_constraint`. Call it when `config` is
  /// final. Errors: EOPNOTSUPP what this LBR cannot do, EINVAL what no LBR can.
  [[nodiscard]] Result<Done, KernelError> init(perf::Event& event) const;
  /// True for events whose samples need the LBR. Two fit together only with equal branch_config.
  static bool uses_lbr(const perf::Event& event) { return uses_branch_stack(event); }

  void add(const perf::Event& event);
  void remove(const perf::Event& event);
  bool in_use() const { return users_ != 0; }

  enum class EnableMode : u8 { full, after_pmi };
  void enable(EnableMode mode);
  void disable();
  /// Makes all records zero.
  void reset();

  /// Takes the records at an interrupt; `code` reads what the software filter has to decode.
  void read_in_pmi(const perf::SampleSink& code);
  /// What `read_in_pmi` took, for a sample of `event`. Null for an event that does not use the LBR. Valid
  /// until the next call.
  const perf::BranchStack* stack(const perf::Event& event);
  /// Translates and filters the LBR group of a PEBS record. Valid until the next call.
  const perf::BranchStack& decode_records(const perf::Event& event, std::span<const pebs::LbrRecord> records,
                                          RecordAge age, const perf::SampleSink& code);
  /// When decode_records() does nothing but translate: the filter lets all pass, there are no logged counts
  /// and no index of the newest.
  PlainBranches plain_branches(const perf::Event& event, RecordAge age) const;

  /// A task leaves (before its events are removed) or enters (after they are added): call stacks go with it,
  /// everything else is forgotten, because records do not say whose they are.
  void context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task);
  /// Mappings changed: what the software filter knows of code is void.
  void forget_code() { filter_.invalidate(); }

 private:
  /// A stack of an event in whose group counts are logged.
  struct Logged {
    std::vector<perf::BranchEntry> entries;
    std::vector<u64> counters;
  };

  Result<Done, KernelError> set_filter(perf::Event& event) const;
  Result<Done, KernelError> set_event_logging(perf::Event& event) const;
  void set_up_xsaves();
  bool call_stack_mode() const { return (request_ & branch_class::CALL_STACK) != 0; }
  bool keeps_call_stacks(const perf::Event& event) const;
  void count_call_stack_user(const perf::Event& event, int difference);
  /// How many events on the PMU want the call stack of this thread.
  unsigned call_stack_users(u32 tid) const;
  bool info_needed() const;
  void read_image(std::vector<LbrEntry>& out);
  const perf::BranchStack& present(std::span<const perf::BranchEntry> branches, const perf::Event& event);
  void save(SavedStack& saved);
  void restore(const SavedStack& saved);
  bool still_there(u32 tid, const SavedStack& saved) const;

  RegisterAccess& access_;
  Enumeration cpu_;
  LbrOptions options_;
  LbrTraits traits_;
  LbrDecoder decoder_;
  bool xsaves_ = false;
  xsave::Layout image_;  // of XSAVES of component 15
  BranchFilter filter_;

  unsigned users_ = 0, pebs_users_ = 0;
  std::map<u32, unsigned> call_stack_users_;  // by the thread that an event is for; of the CPU's: 0
  u64 select_ = 0;                            // filter register of the newest user
  u64 request_ = 0;                           // software filter of the newest user
  u64 hardware_index_ = 0;
  std::vector<LbrEntry> records_;
  std::vector<perf::BranchEntry> at_interrupt_, of_record_;  // with event counts in the reserved bits
  Logged logged_;
  perf::BranchStack presented_;

  SavedStacks own_stacks_;
  SavedStacks& stacks_;
  u32 last_task_ = 0;  // whose records are in the registers, as save number `last_save_` of all
  u64 last_save_ = 0;
};

}  // namespace pmusim::driver

#endif
