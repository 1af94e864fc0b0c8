// SPDX-License-Identifier: MIT
// Branch records as Linux takes them from the stack of Zen 4 (arch/x86/events/amd/lbr.c).
#include "driver/amd/lbr.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "driver/x86/event_data.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd {
namespace {

using perf::Event;
namespace m = msr::amd;
namespace wanted = perf::branch;

/// What one bit of a request keeps; the register takes the complement.
struct SelectRow {
  u64 request, keeps;
};
constexpr u64 near_relative_call = bit(3), near_indirect_call = bit(4), near_return = bit(5), far = bit(8);
constexpr SelectRow select_rows[] = {
    {wanted::KERNEL, bit(0)},
    {wanted::USER, bit(1)},
    {wanted::ANY, bits(8, 2)},
    {wanted::ANY_CALL, near_relative_call | near_indirect_call | far},
    {wanted::ANY_RETURN, near_return | far},
    {wanted::IND_CALL, near_indirect_call},
    {wanted::CALL, near_relative_call},
    {wanted::COND, bit(2)},
    {wanted::IND_JUMP, bit(6)},
};
constexpr u64 filter_bits = bits(8, 0);
constexpr u64 refused_requests = wanted::ABORT_TX | wanted::IN_TX | wanted::NO_TX | wanted::CALL_STACK |
                                 wanted::NO_FLAGS | wanted::NO_CYCLES;

/// An erratum (1452): such a record is of no branch.
constexpr u64 to_invalid = bit(61);

/// perf's word for how a branch was speculated (PERF_BR_*), by the bits V and SPEC of its record.
u64 speculation_of(u64 to) {
  constexpr u64 wrong_path = 1, not_speculative = 2, correct_path = 3;
  if ((to & m::lbr::TO_VALID) == 0) return wrong_path;
  return (to & m::lbr::TO_SPECULATIVE) != 0 ? correct_path : not_speculative;
}

}  // namespace

Result<Done, KernelError> Lbr::init(Event& event) const {
  const u64 requested = event.attr.branch_sample_type;
  const auto refuse = [](std::string text) {
    return Failure(KernelError(EOPNOTSUPP, "branch_sample_type: " + std::move(text)));
  };
  if (const u64 refused = requested & refused_requests; refused != 0)
    return refuse(
        fmt::format("this CPU's last-branch records have no {:#x} (call stacks, transactions, or "
                    "leaving out flags or cycles)",
                    refused));
  u64 kept = 0;
  for (const SelectRow& row : select_rows)
    if ((requested & row.request) != 0) kept |= row.keeps;
  EventData& data = data_of(event);
  data.branch_config = kept ^ filter_bits;
  data.branch_software_filter = requested_classes(requested);
  if (!perf::has(cpu_.kernel, change::user_branches_start_in_user_code))
    data.branch_software_filter |= branch_class::KERNEL_SOURCE;
  return Done{};
}

void Lbr::add(const Event& event) {
  if (!uses_branch_stack(event)) return;
  filtered_ = true;
  select_ = data_of(event).branch_config;
  request_ = data_of(event).branch_software_filter;
  if (users_++ == 0 && event.time_running == 0) reset();
}

void Lbr::remove(const Event& event) {
  if (!uses_branch_stack(event)) return;
  filtered_ = false;
  --users_;
}

void Lbr::enable() {
  if (users_ == 0) return;
  if (filtered_) access_.wrmsr(m::LBR_SELECT, select_);
  if (cpu_.lbr_freezes)
    access_.wrmsr(msr::DEBUGCTL, access_.read(msr::DEBUGCTL) | msr::debugctl::FREEZE_LBRS_ON_PMI);
  access_.wrmsr(m::DEBUG_EXTN_CTL, access_.read(m::DEBUG_EXTN_CTL) | m::debug_extn::LBRSE);
}

void Lbr::disable() {
  if (users_ == 0) return;
  access_.wrmsr(m::DEBUG_EXTN_CTL, access_.read(m::DEBUG_EXTN_CTL) & ~m::debug_extn::LBRSE);
  if (cpu_.lbr_freezes)
    access_.wrmsr(msr::DEBUGCTL, access_.read(msr::DEBUGCTL) & ~msr::debugctl::FREEZE_LBRS_ON_PMI);
}

void Lbr::reset() {
  if (cpu_.branch_entries == 0) return;
  for (u32 i = 0; i < cpu_.branch_entries; ++i) {
    access_.wrmsr(m::LBR_FROM0 + m::STRIDE * i, 0);
    access_.wrmsr(m::LBR_TO0 + m::STRIDE * i, 0);
  }
  access_.wrmsr(m::LBR_SELECT, 0);
}

void Lbr::read(const perf::SampleSink& code) {
  if (users_ == 0) return;
  branches_.clear();
  for (u32 i = 0; i < cpu_.branch_entries; ++i) {
    const u64 from = access_.read(m::LBR_FROM0 + m::STRIDE * i);
    const u64 to = access_.read(m::LBR_TO0 + m::STRIDE * i);
    if ((to & (m::lbr::TO_VALID | m::lbr::TO_SPECULATIVE)) == 0 || (to & to_invalid) != 0) continue;
    perf::BranchEntry& branch = branches_.emplace_back();
    branch.from = canonical(from & m::lbr::ADDRESS);
    branch.to = canonical(to & m::lbr::ADDRESS);
    branch.mispred = (from & m::lbr::FROM_MISPREDICTED) != 0;
    branch.predicted = (from & m::lbr::FROM_MISPREDICTED) == 0;
    branch.spec = speculation_of(to) & 3;
  }
  filter_.apply(branches_, request_, code);
}

void Lbr::context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task) {
  if (direction != perf::PmuDriver::SwitchDirection::in) return;
  filter_.set_address_space(task.pid);
  if (users_ != 0) reset();
}

}  // namespace pmusim::driver::amd
