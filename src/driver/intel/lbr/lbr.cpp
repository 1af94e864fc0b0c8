// SPDX-License-Identifier: MIT
#include "driver/intel/lbr/lbr.h"

#include "driver/intel/lbr/registers.h"
#include "driver/x86/constraint.h"
#include "driver/x86/linux_changes.h"
#include "perf/context.h"

namespace pmusim::driver {
namespace {

using perf::Event;
constexpr u64 xsave_lbr = bit(lbr_component::NUMBER);

/// Its stack is in its own PEBS records: no need to read registers for it.
bool has_stack_in_records(const Event& event, const Enumeration& cpu) {
  return event.attr.precise_ip != 0 && (cpu.pebs_baseline || cpu.arch_pebs());
}

bool wants_user_call_stack(const Event& event) {
  constexpr u64 both = perf::branch::CALL_STACK | perf::branch::USER;
  return (event.attr.branch_sample_type & both) == both;
}

bool is_logged(const Event& event) { return (event.attr.branch_sample_type & perf::branch::COUNTERS) != 0; }

bool in_logged_group(const Event& event) {
  if (is_logged(*event.leader)) return true;
  for (const Event* sibling : event.leader->siblings)
    if (is_logged(*sibling)) return true;
  return false;
}

/// Counters of a group's logged events in the order of the group, which is that of the counter words' fields.
std::vector<unsigned> logged_counters(const Event& event) {
  constexpr int fields = 4;
  std::vector<unsigned> counters;
  const auto place = [&](const Event& member) {
    if (is_logged(member) && data_of(member).index >= 0 && data_of(member).index < fields)
      counters.push_back(counter_of(member));
  };
  place(*event.leader);
  for (const Event* sibling : event.leader->siblings) place(*sibling);
  return counters;
}

}  // namespace

TaskStacks::TaskStacks() : saved_(std::make_unique<SavedStacks>()) {}
TaskStacks::~TaskStacks() = default;

LbrDriver::LbrDriver(RegisterAccess& access, const Enumeration& enumeration, LbrOptions options)
    : access_(access),
      cpu_(enumeration),
      options_(options),
      traits_(lbr_traits(enumeration)),
      decoder_(traits_),
      stacks_(options.task_stacks != nullptr ? *options.task_stacks->saved_ : own_stacks_) {}

void LbrDriver::set_up() {
  if (traits_.entries == 0) return;
  if (traits_.architectural) {
    if (access_.wrmsr(msr::ARCH_LBR_DEPTH, traits_.entries) != Fault::none) traits_ = {};
    set_up_xsaves();
  } else {
    if (cpu_.hypervisor) probe_lbr(access_.probe(), traits_);
    const u64 debugctl = access_.read(msr::DEBUGCTL);
    access_.wrmsr(msr::DEBUGCTL, debugctl & ~msr::debugctl::LBR);
  }
  reset();
}

void LbrDriver::set_up_xsaves() {
  constexpr u32 leaf = 0xD;
  if (traits_.entries == 0 || access_.probe().cpuid(0, 0).eax < leaf) return;
  const bool listed = (access_.probe().cpuid(leaf, 1).ecx & xsave_lbr) != 0;
  xsave::ComponentTable components{};
  components[lbr_component::NUMBER] = xsave::component_of(access_.probe().cpuid(leaf, lbr_component::NUMBER));
  image_ = xsave::compacted_layout(components, xsave_lbr);
  const bool expected_size = components[lbr_component::NUMBER].bytes == lbr_component::bytes(traits_.entries);
  if (!listed || !expected_size) return;
  const auto xss = access_.rdmsr(msr::XSS);
  if (!xss.ok() || access_.wrmsr(msr::XSS, *xss | xsave_lbr) != Fault::none) return;
  constexpr u64 page = 4096;
  xsaves_ = access_.probe().map_memory(options_.xsave_address, page) &&
            access_.xsaves(options_.xsave_address, xsave_lbr) == Fault::none;
}

/// Where a release keeps them with a task's events, there is no place for those of the CPU.
bool LbrDriver::keeps_call_stacks(const Event& event) const {
  const bool of_cpu = event.context != nullptr && event.context->task() == nullptr;
  return wants_user_call_stack(event) && (!of_cpu || has(cpu_.kernel, change::call_stacks_of_cpu_events));
}

/// Where a task's events are exchanged for those that another has inherited from the same, later releases go
/// on counting them for the thread that had them first; and the idle one has no place to keep a stack.
void LbrDriver::count_call_stack_user(const Event& event, int difference) {
  if (!keeps_call_stacks(event)) return;
  const u32 tid = has(cpu_.kernel, change::call_stacks_by_target) ? data_of(event).target : 0;
  const auto users = call_stack_users_.try_emplace(tid, 0).first;
  users->second += static_cast<unsigned>(difference);
  if (users->second == 0) call_stack_users_.erase(users);
}

unsigned LbrDriver::call_stack_users(u32 tid) const {
  const auto users = [&](u32 of) {
    const auto found = call_stack_users_.find(of);
    return found == call_stack_users_.end() ? 0 : found->second;
  };
  if (!has(cpu_.kernel, change::call_stacks_by_target)) return users(0);
  return tid == 0 ? 0 : users(0) + users(tid);
}

void LbrDriver::add(const Event& event) {
  if (!uses_lbr(event)) return;
  // A guest brings its own filter: an event for it has none to force on the others.
  if (users_ == 0 || !has_flag(event, driver_flag::GUEST_LBR)) {
    select_ = data_of(event).branch_config;
    request_ = data_of(event).branch_software_filter;
  }
  count_call_stack_user(event, +1);
  if (has_stack_in_records(event, cpu_)) ++pebs_users_;
  if (++users_ == 1 && event.time_running == 0) reset();
}

void LbrDriver::remove(const Event& event) {
  if (!uses_lbr(event)) return;
  count_call_stack_user(event, -1);
  if (has_stack_in_records(event, cpu_)) --pebs_users_;
  --users_;
  if (event.is_leader() && in_logged_group(event)) reset();
}

void LbrDriver::enable(EnableMode mode) {
  constexpr unsigned streamlined_freeze = 4;  // acknowledging the status has unfrozen the records
  if (users_ == 0 || (mode == EnableMode::after_pmi && cpu_.perfmon_version >= streamlined_freeze)) return;
  if (!traits_.architectural && mode == EnableMode::full && traits_.filter != BranchFilterMap::none)
    access_.wrmsr(msr::LBR_SELECT, select_ & low_bits(10));
  const u64 old = access_.read(msr::DEBUGCTL);
  // A freeze would lose the calls and returns around an interrupt, and with them the balance of the stack.
  u64 debugctl = old & ~msr::debugctl::FREEZE_LBRS_ON_PMI;
  if (!call_stack_mode()) debugctl |= msr::debugctl::FREEZE_LBRS_ON_PMI;
  if (!traits_.architectural) debugctl |= msr::debugctl::LBR;
  if (debugctl != old) access_.wrmsr(msr::DEBUGCTL, debugctl);
  if (traits_.architectural) access_.wrmsr(msr::ARCH_LBR_CTL, select_ | lbr_ctl::LBREN);
}

void LbrDriver::disable() {
  if (users_ == 0) return;
  if (traits_.architectural) {
    access_.wrmsr(msr::ARCH_LBR_CTL, 0);
    return;
  }
  constexpr u64 ours = msr::debugctl::LBR | msr::debugctl::FREEZE_LBRS_ON_PMI;
  const u64 debugctl = access_.read(msr::DEBUGCTL);
  access_.wrmsr(msr::DEBUGCTL, debugctl & ~ours);
}

void LbrDriver::reset() {
  if (traits_.entries == 0) return;
  LbrRegisters(access_, traits_).reset();
  last_task_ = 0;
  last_save_ = 0;
}

void LbrDriver::read_image(std::vector<LbrEntry>& out) {
  out.resize(traits_.entries);
  if (access_.xsaves(options_.xsave_address, xsave_lbr) != Fault::none) out.clear();
  const u64 entries = options_.xsave_address + image_[StateComponent::lbr] + lbr_component::ENTRIES;
  if (access_.read_memory(entries, std::as_writable_bytes(std::span(out))) != Fault::none) out.clear();
}

void LbrDriver::read_in_pmi(const perf::SampleSink& code) {
  at_interrupt_.clear();
  if (users_ == pebs_users_) return;
  const LbrRegisters registers(access_, traits_);
  if (traits_.architectural) {
    if (xsaves_)
      read_image(records_);
    else
      registers.read_records(records_, ReadExtent::used, InfoRead::read);
    decoder_.decode<LbrEntry>(records_, at_interrupt_);
  } else {
    const InfoRead info = info_needed() ? InfoRead::read : InfoRead::skip;
    registers.read_records(records_, call_stack_mode() ? ReadExtent::used : ReadExtent::all, info);
    decode_registers(traits_, records_, info, at_interrupt_);
    hardware_index_ = registers.top();
  }
  filter_.apply(at_interrupt_, request_, code);
}

/// A member that is logged and asks for no branches of its own samples those of its leader.
const perf::BranchStack* LbrDriver::stack(const Event& event) {
  if (!uses_lbr(event) && !is_logged(event)) return nullptr;
  return &present(at_interrupt_, event);
}

const perf::BranchStack& LbrDriver::decode_records(const Event& event,
                                                   std::span<const pebs::LbrRecord> records, RecordAge age,
                                                   const perf::SampleSink& code) {
  decoder_.decode(records, of_record_);
  const bool unknown = traits_.architectural || age == RecordAge::unknown;
  hardware_index_ = unknown ? ~u64{0} : LbrRegisters(access_, traits_).top();
  filter_.apply(of_record_, request_, code);
  // Linux has one stack: who overflows beside the record gets the record's branches.
  at_interrupt_ = of_record_;
  return present(of_record_, event);
}

PlainBranches LbrDriver::plain_branches(const Event& event, RecordAge age) const {
  const bool index_unknown = traits_.architectural || age == RecordAge::unknown;
  if (!index_unknown || in_logged_group(event)) return {};
  if (BranchFilter::keeps_all(request_)) return {.decoder = &decoder_};
  if (!traits_.type_known || !BranchFilter::keeps_all_typed(request_)) return {};
  return {.decoder = &decoder_, .typed = true, .user = (request_ & branch_class::KERNEL) == 0};
}

const perf::BranchStack& LbrDriver::present(std::span<const perf::BranchEntry> branches, const Event& event) {
  presented_ = {branches, hardware_index_, {}};
  if (!in_logged_group(event)) return presented_;
  const std::vector<unsigned> counters = logged_counters(event);
  logged_.entries.assign(branches.begin(), branches.end());
  logged_.counters.clear();
  for (perf::BranchEntry& entry : logged_.entries) {
    u64 word = 0;
    for (unsigned k = 0; k < counters.size(); ++k)
      word |= field(entry.reserved, 2 * counters[k] + 1, 2 * counters[k]) << (2 * k);
    logged_.counters.push_back(word);
    entry.reserved = 0;
  }
  presented_ = {logged_.entries, hardware_index_, logged_.counters};
  return presented_;
}

void LbrDriver::save(SavedStack& saved) {
  const LbrRegisters registers(access_, traits_);
  saved.valid = true;
  if (xsaves_) {
    saved.image.resize(image_.bytes);
    saved.valid = access_.xsaves(options_.xsave_address, xsave_lbr) == Fault::none &&
                  access_.read_memory(options_.xsave_address, saved.image) == Fault::none;
    return;
  }
  saved.top = registers.top();
  registers.read_records(saved.records, ReadExtent::used, InfoRead::read);
}

void LbrDriver::restore(const SavedStack& saved) {
  if (!xsaves_) {
    LbrRegisters(access_, traits_).write_records(saved.top, saved.records);
    return;
  }
  const bool restored = access_.write_memory(options_.xsave_address, saved.image) == Fault::none &&
                        access_.xrstors(options_.xsave_address, xsave_lbr) == Fault::none;
  if (!restored) reset();
}

bool LbrDriver::still_there(u32 tid, const SavedStack& saved) const {
  if (last_task_ != tid || last_save_ != saved.number) return false;
  return !traits_.lost_in_deep_cstate || LbrRegisters(access_, traits_).source_at(saved.top) != 0;
}

void LbrDriver::context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task) {
  if (direction == perf::PmuDriver::SwitchDirection::in) filter_.set_address_space(task.pid);
  if (users_ == 0) return;
  const auto known = stacks_.by_task.find(task.tid);
  if (direction == perf::PmuDriver::SwitchDirection::out) {
    if (call_stack_users(task.tid) == 0) {
      if (known != stacks_.by_task.end()) known->second.valid = false;
      return;
    }
    SavedStack& saved = stacks_.by_task[task.tid];
    save(saved);
    last_task_ = task.tid;
    last_save_ = saved.number = ++stacks_.saves;
    return;
  }
  if (known == stacks_.by_task.end() || call_stack_users(task.tid) == 0 || !known->second.valid) {
    reset();
    return;
  }
  if (!still_there(task.tid, known->second)) restore(known->second);
  known->second.valid = false;
}

}  // namespace pmusim::driver
