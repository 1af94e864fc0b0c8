// SPDX-License-Identifier: MIT
#include "driver/amd/branch_sampling.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/kernel_address.h"
#include "driver/x86/branch_filter.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd {
namespace {

using perf::Event;
namespace m = msr::amd;

constexpr u64 taken_branches = 0xC4;  // the one event with which the length of an interval is known
constexpr u32 samp_records = 16;
/// A target that no branch has: what lies behind it is of before.
constexpr u64 poison = ~u64{1};

/// Where the newest record is: the buffer wraps only as it gets full.
u32 newest(u64 control) {
  const auto next = static_cast<u32>(field(control, 19, 16));
  return (next == 0 ? samp_records : next) - 1;
}

Failure<KernelError> refuse_sampling(std::string text) {
  return Failure(KernelError(EINVAL, std::move(text)));
}

}  // namespace

Result<Done, KernelError> BranchSampling::init(Event& event) const {
  const perf::Attr& attr = event.attr;
  constexpr u64 levels = perf::branch::USER | perf::branch::KERNEL | perf::branch::HV;
  if (!event.is_sampling() || attr.freq != 0)
    return refuse_sampling("branch_sample_type: branch sampling takes a fixed period");
  if (attr.type != static_cast<u32>(perf::EventType::raw) || attr.config != taken_branches)
    return refuse_sampling("config: branch sampling takes the event of taken branches alone (rc4)");
  if (attr.sample_period <= samp_records)
    return refuse_sampling(fmt::format("sample_period: branch sampling takes one above {}", samp_records));
  if ((attr.branch_sample_type & ~levels) != perf::branch::ANY)
    return refuse_sampling("branch_sample_type: branch sampling has no filter but that of privilege levels");
  data_of(event).branch_software_filter = requested_classes(attr.branch_sample_type);
  return Done{};
}

i64 BranchSampling::counted(i64 left) const { return left > samp_records ? left - samp_records : left; }

void BranchSampling::add(const Event& event) {
  if (!uses_branch_stack(event)) return;
  request_ = event.attr.branch_sample_type;
  ++users_;
}

void BranchSampling::remove(const Event& event) {
  if (uses_branch_stack(event)) --users_;
}

void BranchSampling::enable() {
  if (users_ == 0 || active_) return;
  active_ = true;
  access_.wrmsr(m::DEBUG_EXTN_CTL, m::brs::ONES | m::brs::ENABLE);
}

/// An interrupt that waits for records goes out.
void BranchSampling::disable() {
  if (!active_) return;
  active_ = false;
  const u64 control = access_.read(m::DEBUG_EXTN_CTL);
  if ((control & m::brs::ENABLE) != 0) access_.wrmsr(m::DEBUG_EXTN_CTL, control & ~m::brs::ENABLE);
}

void BranchSampling::reset() {
  access_.wrmsr(m::DEBUG_EXTN_CTL, m::brs::ONES);
  access_.wrmsr(m::LBR_TO0, poison);
}

void BranchSampling::read(const perf::SampleSink&) {
  branches_.clear();
  if (users_ == 0) return;
  const u64 control = access_.read(m::DEBUG_EXTN_CTL);
  if ((control & m::brs::VALID) == 0) return;
  for (u32 left = newest(control) + 1; left != 0; --left) {
    const u32 at = m::STRIDE * (left - 1);
    perf::BranchEntry branch;
    branch.to = access_.read(m::LBR_TO0 + at);
    if (branch.to == poison) return;
    branch.to = canonical(branch.to);
    branch.from = access_.read(m::LBR_FROM0 + at);
    if (is_wanted(branch)) branches_.push_back(branch);
  }
}

/// Of the kernel is what ends there; without it both ends are in user code.
bool BranchSampling::is_wanted(const perf::BranchEntry& branch) const {
  if ((request_ & perf::branch::KERNEL) == 0 &&
      (is_kernel_address(branch.from) || is_kernel_address(branch.to)))
    return false;
  return (request_ & perf::branch::USER) != 0 || is_kernel_address(branch.to);
}

void BranchSampling::context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId) {
  if (direction != perf::PmuDriver::SwitchDirection::in || users_ == 0) return;
  access_.wrmsr(m::LBR_TO0 + m::STRIDE * newest(access_.read(m::DEBUG_EXTN_CTL)), poison);
}

}  // namespace pmusim::driver::amd
