// SPDX-License-Identifier: MIT
// What an event may ask of the LBR (Linux: intel_pmu_setup_lbr_filter).
#include <fmt/format.h>

#include <bit>
#include <cerrno>

#include "driver/intel/lbr/lbr.h"
#include "driver/x86/linux_changes.h"
#include "perf/context.h"

namespace pmusim::driver {
namespace {

using perf::Event;
namespace branch = perf::branch;

Failure<KernelError> refuse_branches(int error_number, std::string message) {
  return Failure(KernelError(error_number, "branch_sample_type: " + std::move(message)));
}

/// What one request bit sets in the filter register. LBR_SELECT values are of the kinds to keep; the register
/// takes the complement.
struct FilterRow {
  u64 request;
  u32 nehalem, sandy_bridge, haswell, architectural;
};
constexpr FilterRow filter_rows[] = {
    {branch::USER, 0x2, 0x2, 0x2, 0x4},
    {branch::KERNEL, 0x1, 0x1, 0x1, 0x2},
    {branch::ANY, 0x1FC, 0x1FC, 0x1FC, 0x7F0000},
    {branch::ANY_CALL, 0x1D8, 0x118, 0x118, 0x580000},
    {branch::ANY_RETURN, 0x1E0, 0x120, 0x120, 0x600000},
    {branch::IND_CALL, 0x50, 0x10, 0x10, 0x100000},
    {branch::COND, 0x4, 0x4, 0x4, 0x10000},
    {branch::CALL_STACK, 0, 0, 0x238, 0x380008},
    {branch::IND_JUMP, 0x40, 0x40, 0x40, 0x40000},
    {branch::CALL, 0, 0x8, 0x8, 0x80000},
};

u32 filter_bits(const FilterRow& row, BranchFilterMap map) {
  switch (map) {
    case BranchFilterMap::nehalem:
      return row.nehalem;
    case BranchFilterMap::sandy_bridge:
      return row.sandy_bridge;
    case BranchFilterMap::haswell:
      return row.haswell;
    case BranchFilterMap::architectural:
    case BranchFilterMap::none:  // whose requests have no bits: nobody asks
      break;
  }
  return row.architectural;
}

/// Requests that this part's CPUID.1CH:EBX leaves without a filter. Types are not looked at where privileges
/// already fail.
u64 unsupported_requests(const LbrTraits& traits) {
  if (!traits.architectural) return 0;
  if ((traits.filter_features & lbr_leaf::EBX_CPL_FILTER) == 0) return branch::USER | branch::KERNEL;
  if ((traits.filter_features & lbr_leaf::EBX_BRANCH_FILTER) == 0)
    return branch::ANY | branch::ANY_RETURN | branch::ANY_CALL | branch::IND_CALL | branch::COND |
           branch::IND_JUMP | branch::CALL;
  return 0;
}

constexpr u64 excluded_by_call_stack = branch::ANY | branch::ANY_CALL | branch::ANY_RETURN |
                                       branch::IND_CALL | branch::ABORT_TX | branch::IN_TX | branch::NO_TX |
                                       branch::COND;
constexpr u64 no_info_mark = bit(63);

bool has(const Event& event, u64 request) { return (event.attr.branch_sample_type & request) != 0; }

/// A counting event that is read in another's samples has no samples of its own.
bool only_read(const Event& event) {
  return !event.is_sampling() && (event.attr.sample_type & perf::sample::READ) != 0;
}

/// COUNTERS alone adds the event's counts to the stacks of its leader and needs no stack of its own.
bool wants_stack(const Event& event) {
  return (event.attr.branch_sample_type & ~(branch::PLM_ALL | branch::COUNTERS)) != 0 && !only_read(event);
}

}  // namespace

unsigned LbrDriver::branch_counter_count() const {
  return static_cast<unsigned>(std::bit_width(traits_.event_counters));
}

Result<Done, KernelError> LbrDriver::init(Event& event) const {
  data_of(event).branch_config = data_of(event).branch_software_filter = 0;
  if (event.context != nullptr && event.context->task() != nullptr)
    data_of(event).target = event.context->task()->tid;
  if (wants_stack(event))
    if (auto result = set_filter(event); !result.ok()) return result;
  if (has(event, branch::COUNTERS))
    if (auto result = set_event_logging(event); !result.ok()) return result;
  return Done{};
}

Result<Done, KernelError> LbrDriver::set_filter(Event& event) const {
  const u64 requested = event.attr.branch_sample_type;
  if (traits_.entries == 0) return refuse_branches(EOPNOTSUPP, "this CPU has no last-branch records");
  if (has(event, branch::CALL_STACK)) {
    if (!traits_.call_stack) return refuse_branches(EOPNOTSUPP, "this CPU's LBR has no call-stack mode");
    if (has(event, excluded_by_call_stack))
      return refuse_branches(EINVAL,
                             fmt::format("call_stack cannot be combined with other kinds of branches ({:#x})",
                                         requested & excluded_by_call_stack));
  }
  u64 software = requested_classes(requested);
  if (!perf::has(cpu_.kernel, change::user_branches_start_in_user_code))
    software |= branch_class::KERNEL_SOURCE;
  u64 hardware = 0;
  if (traits_.filter != BranchFilterMap::none) {
    if (const u64 missing = requested & unsupported_requests(traits_); missing != 0)
      return refuse_branches(EOPNOTSUPP, fmt::format("this CPU's LBR cannot filter by {:#x}", missing));
    for (const FilterRow& row : filter_rows)
      if (requested & row.request) hardware |= filter_bits(row, traits_.filter);
    if (traits_.architectural) {
      software |= branch_class::TYPE_SAVE;
    } else {
      hardware ^= low_bits(9);
      constexpr u64 no_info = branch::NO_FLAGS | branch::NO_CYCLES;
      if ((requested & no_info) == no_info && traits_.info_base != 0) hardware |= no_info_mark;
    }
  }
  data_of(event).branch_config = hardware;
  data_of(event).branch_software_filter = software;
  return Done{};
}

Result<Done, KernelError> LbrDriver::set_event_logging(Event& event) const {
  constexpr u64 loggable = msr::evtsel::EVENT | msr::evtsel::UMASK;
  if (traits_.event_counters == 0) return refuse_branches(EINVAL, "this CPU's LBR does not log events");
  if ((event.attr.config & ~loggable) != 0)
    return refuse_branches(
        EINVAL, fmt::format("only plain events can be logged: config {:#x} has bits beside event and umask",
                            event.attr.config));
  const Event& leader = *event.leader;
  unsigned logged = 1;  // itself
  bool call_stack = has(event, branch::CALL_STACK);
  const auto look_at = [&](const Event& other) {
    if (&other == &event) return;
    logged += has(other, branch::COUNTERS);
    call_stack |= has(other, branch::CALL_STACK);
  };
  look_at(leader);
  for (const Event* sibling : leader.siblings) look_at(*sibling);
  if (call_stack) return refuse_branches(EINVAL, "events cannot be logged in a group with a call stack");
  if (logged > branch_counter_count())
    return refuse_branches(EINVAL,
                           fmt::format("more than {} logged events in one group", branch_counter_count()));
  if (!uses_lbr(leader))
    return refuse_branches(EINVAL, "the group leader of a logged event needs a branch stack");
  data_of(event).config |= msr::evtsel::BR_CNTR;
  data_of(event).dynamic_constraint &= traits_.event_counters;
  return Done{};
}

bool LbrDriver::info_needed() const {
  return traits_.filter != BranchFilterMap::none && (select_ & no_info_mark) == 0;
}

}  // namespace pmusim::driver
