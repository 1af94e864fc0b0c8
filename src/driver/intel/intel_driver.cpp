// SPDX-License-Identifier: MIT
#include "driver/intel/intel_driver.h"

#include <algorithm>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/counters/topdown.h"
#include "driver/intel/scheduling/acr_group.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver {

using perf::Event;

IntelDriver::IntelDriver(Bus& bus, DriverOptions options)
    : access_(bus),
      options_(options),
      cpu_(enumerate(bus, options.kernel)),
      traits_(std::make_unique<const CoreTraits>(core_traits(cpu_))),
      constraints_(cpu_),
      counters_(access_, cpu_),
      apic_(access_),
      debug_store_(access_, options.debug_store_address),
      pebs_(access_, debug_store_, cpu_, *this, options.pebs),
      lbr_(access_, cpu_, options.lbr),
      bts_(access_, debug_store_, cpu_, options.bts),
      registers_(access_, options.register_buffer_address) {
  counters_.reset();
  apic_.set_up();
  freeze_counters_in_smm();
  registers_.set_up();
  lbr_.set_up();
  pebs_usable_ = pebs_.available() && pebs_.set_up() == Fault::none;
}

IntelDriver::~IntelDriver() = default;

/// What firmware does in system management mode is not the system's to count.
void IntelDriver::freeze_counters_in_smm() {
  if (cpu_.perfmon_version < 2 || (cpu_.perf_capabilities & msr::perf_cap::SMM_FREEZE) == 0) return;
  const u64 debugctl = access_.read(msr::DEBUGCTL);
  access_.wrmsr(msr::DEBUGCTL, debugctl | msr::debugctl::FREEZE_WHILE_SMM);
}

DriverStatistics IntelDriver::statistics() const {
  DriverStatistics statistics = statistics_;
  statistics.faults = access_.faults();
  return statistics;
}

namespace {

/// As sysfs has it.
const char* pmu_name(const Enumeration& cpu) {
  if (!cpu.hybrid) return "cpu";
  return cpu.low_power ? "cpu_lowpower" : cpu.atom ? "cpu_atom" : "cpu_core";
}

}  // namespace

perf::PmuCapabilities IntelDriver::capabilities() const {
  perf::PmuCapabilities capabilities;
  capabilities.name = pmu_name(cpu_);
  capabilities.names_core = true;
  capabilities.interrupts = apic_.reachable();
  if (perf::simd_abi(options_.kernel) == perf::SimdAbi::none) {
    capabilities.extended_registers = pebs_usable_ && (cpu_.pebs_baseline || cpu_.arch_pebs());
  } else {
    capabilities.extended_registers = (registers_.available() & perf::register_set::XMM) != 0;
    capabilities.simd_registers =
        capabilities.extended_registers && (registers_.available() & ~perf::register_set::XMM) != 0;
  }
  capabilities.mediated_guests =
      cpu_.perfmon_version >= 4 && (cpu_.perf_capabilities & msr::perf_cap::FW_WRITE) != 0;
  capabilities.branch_entries = lbr_.entries();
  capabilities.branch_counter_count = lbr_.branch_counter_count();
  capabilities.branch_counter_width = lbr_.branch_counter_width();
  capabilities.max_precise = pebs_usable_ ? pebs_.max_precise() : 0;
  return capabilities;
}

void IntelDriver::destroy(Event& event) {
  remove(event);
  if (!has_flag(event, driver_flag::BRANCH_HARDWARE)) return;
  data_of(event).flags &= ~driver_flag::BRANCH_HARDWARE;
  --(has_flag(event, driver_flag::BRANCH_TRACE) ? open_traces_ : open_stacks_);
}

void IntelDriver::disable() {
  if (disable_depth_++ != 0) return;
  enabled_ = false;
  counters_.disable_all();
  bts_.stop();
  pebs_.disable_all();
  lbr_.disable();
}

void IntelDriver::enable() {
  if (--disable_depth_ != 0) return;
  const bool added = new_placements_ != 0;
  if (added) apply_placements();
  enabled_ = true;
  if (added) exercise_counters();
  if (owners_[3] == nullptr || owners_[3]->hw.stopped) claim_counter_from_microcode(0);
  pebs_.enable_all();
  lbr_.enable(LbrDriver::EnableMode::full);
  counters_.enable_all();
  bts_.start();
}

void IntelDriver::exercise_counters() {
  const std::span<const u64> events = traits_->counter_exercise;
  if (events.empty()) return;
  const auto counting = [&](unsigned n) { return owners_[n] != nullptr && !owners_[n]->hw.stopped; };
  for (unsigned n = 0; n < events.size(); ++n)
    if (counting(n)) update(*owners_[n]);
  counters_.exercise(events);
  for (unsigned n = 0; n < events.size(); ++n) {
    if (counting(n)) {
      set_period(*owners_[n]);
      const EventData& data = data_of(*owners_[n]);
      if (data.extra_register != 0) access_.wrmsr(data.extra_register, data.extra_config);
    }
    counters_.resume(n);
  }
}

/// 1: GP 3 is the PMU's before anything is written to it. 0: microcode has it for transactions.
void IntelDriver::claim_counter_from_microcode(u64 claim) {
  if (!cpu_.tsx_force_abort || claim == gp3_claim_) return;
  access_.wrmsr(msr::TSX_FORCE_ABORT, claim);
  gp3_claim_ = claim;
}

/// `visit(leader, members)` for every group on the PMU. Members that are off are not among them.
template <class Visit>
void IntelDriver::for_each_group(Visit visit) {
  for (auto first = placements_.begin(); first != placements_.end();) {
    const Event* leader = first->event->leader;
    const auto last =
        std::find_if(first, placements_.end(), [&](const Placement& p) { return p.event->leader != leader; });
    visit(*leader, std::span(first, last));
    first = last;
  }
}

/// Group positions become counters: known only now that every member has its place. Where members are off,
/// the positions of later ones shift.
void IntelDriver::name_reload_causes() {
  for_each_group([](const Event& leader, std::span<Placement> members) {
    if (!in_acr_group(leader)) return;
    for (const Placement& member : members) {
      u64 causes = 0;
      for (const unsigned position : set_bits(member.event->attr.config2))
        if (position < members.size()) causes |= bit(static_cast<unsigned>(members[position].counter));
      data_of(*member.event).reload_causes = causes;
    }
  });
}

/// Of groups of which a precise member has READ, whoever of them is on the PMU.
u64 IntelDriver::recorded_counters() const {
  u64 counters = 0;
  for (const Placement& p : placements_)
    if (counts_from_records(*p.event)) counters |= bit(static_cast<unsigned>(p.counter));
  return counters;
}

/// Causes may have moved though the event stays where it is.
bool IntelDriver::restarts_reloads(const Event& event) const {
  if (!in_acr_group(event)) return false;
  return !perf::has(options_.kernel, change::reloads_restart_if_changed) ||
         counters_.reload_causes(counter_of(event)) != data_of(event).reload_causes;
}

/// Counters that change hands are stopped before anything is written to them; so are members of ACR groups,
/// whose causes may have moved.
void IntelDriver::vacate_moved_counters() {
  const std::size_t settled = placements_.size() - new_placements_;
  for (Placement& p : std::span(placements_).first(settled)) {
    const bool moves = data_of(*p.event).index != p.counter;
    const bool joined_by_metrics =
        has_metrics(*p.event) && !has_flag(*p.event, driver_flag::SLOTS_WITH_METRICS);
    const bool restarts = restarts_reloads(*p.event);
    if (!moves && !joined_by_metrics && !restarts) continue;
    p.restart = !p.event->hw.stopped;
    p.preset = p.event->hw.stopped && perf::has(options_.kernel, change::stopped_events_preset);
    if (moves)
      leave_counter(*p.event);
    else
      stop(*p.event, StopMode::update);
  }
}

void IntelDriver::apply_placements() {
  if (std::ranges::any_of(placements_, [](const Placement& p) { return p.counter == 3; }))
    claim_counter_from_microcode(1);
  name_reload_causes();
  pebs_.record_counters(recorded_counters());
  vacate_moved_counters();
  const std::size_t settled = placements_.size() - new_placements_;
  for (std::size_t i = 0; i < placements_.size(); ++i) {
    Placement& p = placements_[i];
    Event& event = *p.event;
    if (data_of(event).index != p.counter) take_counter(event, p.counter);
    if (std::exchange(p.preset, false)) set_period(event);
    if (i >= settled || std::exchange(p.restart, false)) start(event, StartMode::reload);
  }
  new_placements_ = 0;
}

void IntelDriver::take_counter(Event& event, int counter) {
  data_of(event).index = data_of(event).last_index = counter;
  const auto n = static_cast<unsigned>(counter);
  if (counter::is_metric(n)) {
    metrics_[n - counter::METRICS] = &event;
    return;
  }
  if (n != counter::GUEST_LBR) owners_[n] = &event;
}

void IntelDriver::leave_counter(Event& event) {
  if (data_of(event).index < 0) return;
  stop(event, StopMode::update);
  const auto n = counter_of(event);
  if (counter::is_metric(n)) {
    metrics_[n - counter::METRICS] = nullptr;
  } else if (n != counter::GUEST_LBR) {
    owners_[n] = nullptr;
  }
  data_of(event).index = -1;
}

void IntelDriver::start(Event& event, StartMode mode) {
  if (!event.hw.stopped || data_of(event).index < 0) return;
  if (mode == StartMode::reload) set_period(event);
  event.hw.stopped = data_of(event).up_to_date = false;
  enable_event(event);
}

void IntelDriver::stop(Event& event, StopMode mode) {
  if (data_of(event).index < 0) return;
  if (!event.hw.stopped) {
    const bool drains =
        counts_from_records(event) && !perf::has(options_.kernel, change::snapshots_as_in_7_3);
    if (drains) drain(DrainTrigger::event_disable, nullptr);
    disable_event(event);
    event.hw.stopped = true;
  }
  if (mode == StopMode::update && !data_of(event).up_to_date) {
    update(event);
    data_of(event).up_to_date = true;
  }
}

void IntelDriver::read(Event& event) {
  if (data_of(event).index < 0 || data_of(event).up_to_date) return;
  if (has_flag(event, driver_flag::BRANCH_TRACE)) {
    drain_branch_trace();
    return;
  }
  if (counts_from_records(event) && perf::has(options_.kernel, change::snapshots_as_in_7_3)) {
    drain(DrainTrigger::read, nullptr);
    return;
  }
  if (has_flag(event, driver_flag::TOPDOWN)) {
    while_stopped([&] {
      if (counts_from_records(event)) drain(DrainTrigger::read, nullptr);
      update(event);
    });
    return;
  }
  const bool reloads = has_flag(event, pebs_flag::AUTO_RELOAD);
  if (reloads || counts_from_records(event)) drain(DrainTrigger::read, nullptr);
  if (!reloads) update(event);
}

/// Slots have brought their metrics with them.
void IntelDriver::read_member(Event& event) {
  if (!has_flag(event, driver_flag::METRIC)) read(event);
}

/// What consists of several registers is looked at while nothing counts.
template <class Look>
void IntelDriver::while_stopped(Look look) {
  const bool was_enabled = enabled_;
  if (was_enabled) disable();
  look();
  if (was_enabled) enable();
}

void IntelDriver::drain(DrainTrigger trigger, const InterruptFrame* frame) {
  while_stopped([&] { pebs_.drain(trigger, owners_, frame); });
}

void IntelDriver::drain_branch_trace() {
  while_stopped([&] { bts_.drain(*sink_, nullptr); });
}

/// Records of either buffer do not say whose they are.
/// The PMU is stopped only where it keeps something of a task.
void IntelDriver::context_switch(SwitchDirection direction, perf::TaskId task) {
  const bool stops = bts_.active() || pebs_.all_large() || lbr_.in_use();
  if (stops) disable();
  if (direction == SwitchDirection::out && bts_.active()) drain_branch_trace();
  if (direction == SwitchDirection::out && pebs_.all_large()) drain(DrainTrigger::context_switch, nullptr);
  lbr_.context_switch(direction, task);
  if (stops) enable();
}

const perf::BranchStack* IntelDriver::interrupt_branches(const Event& event) { return lbr_.stack(event); }

/// A kernel keeps a task's registers in the CPU until it needs them for itself: what an interrupt finds there
/// are those of user mode, too.
const perf::ExtendedRegisters* IntelDriver::live_registers(const Event& event) {
  if (!in_interrupt_) return nullptr;
  return &registers_.read(perf::needed_registers(event.attr));
}

namespace {

RecordAge record_age(const Event& event) {
  return has_flag(event, pebs_flag::LARGE) ? RecordAge::unknown : RecordAge::now;
}

}  // namespace

const perf::BranchStack& IntelDriver::decode_branches(const Event& event,
                                                      std::span<const pebs::LbrRecord> records) {
  return lbr_.decode_records(event, records, record_age(event), *sink_);
}

PlainBranches IntelDriver::plain_branches(const Event& event) const {
  return lbr_.plain_branches(event, record_age(event));
}

}  // namespace pmusim::driver
