// SPDX-License-Identifier: MIT
#include "pmu/sequencer.h"

#include <array>
#include <boost/endian/arithmetic.hpp>
#include <cstring>
#include <utility>

#include "pmusim/arch/msr.h"

namespace pmusim {

Sequencer::Sequencer(CpuModel model, Memory& memory, unsigned number)
    : Sequencer(std::make_shared<const CpuModel>(std::move(model)), memory, number) {}

Sequencer::Sequencer(const std::shared_ptr<const CpuModel>& model, Memory& memory, unsigned number)
    : Sequencer(model, std::make_shared<const PmuRegisters>(*model), memory, number) {}

Sequencer::Sequencer(std::shared_ptr<const CpuModel> model, std::shared_ptr<const PmuRegisters> registers,
                     Memory& memory, unsigned number)
    : model_(std::move(model)),
      registers_(std::move(registers)),
      counters_(*model_),
      control_(*model_),
      lbr_(*model_),
      pebs_(*model_),
      acr_(*model_),
      xsave_(*model_),
      ibs_(*model_),
      branch_sampling_(*model_),
      memory_(&memory),
      number_(number) {}

// The order of a cycle.
//
// Time passes first: clocks run up to the cycle of the retirement, and a PMI that has become due is taken at
// the boundary before it, whose handler may take time of its own. Then the instruction retires, and its
// vector and other extended registers change. Counters count it; the LBR takes its branch, with the events
// logged up to and including it, and its own overflow cannot freeze it any more; IBS looks whether it tagged
// it; overflows reload, set status, arm PEBS and ask for PMIs; counters of the core's other thread that count
// for both have their turn; last, the assists that have waited for such an instruction write their record,
// for which microcode may take time.
void Sequencer::retire(const Retirement& r) {
  pass_time(r.cycle, r.cpl);
  if (pmi_due() && is_drained_for(r)) deliver_pmi(frame_before(r));
  if (now() > r.cycle) return retire_late(r);
  if (r.extended != nullptr) write_extended(*r.extended);

  Counted counted = counters_.retire(r);
  if (counters_.logged_by_lbr() != 0) lbr_.count_events(counted.occurred & counters_.logged_by_lbr());
  if (r.taken) {
    log_branch(r, counted);
    store_branch(r);
    if (branch_sampling_.is_recording()) sample_branch(r);
  }
  if (ibs_.is_active()) follow_ibs(r, counted);
  apply_overflows(counted.overflowed);
  if (is_watched()) [[unlikely]]
    sibling_->see_retirement(r);
  u64 assist_cycles = 0;
  if (pebs_.busy()) {
    const u64 served = pebs_.due(counted.occurred | occurred_while_waiting_, r, counters_);
    if (served != 0) assist_cycles = write_pebs_record(r, served);
  }

  occurred_while_waiting_ = 0;
  remember(r.registers);
  retirement_observer_.notify(&RetirementObserver::on_retirement, r);
  if (assist_cycles != 0) pass_time(now() + assist_cycles, r.cpl);
  if (pmi_due() && model_->policies.pmi_boundary == 1 && is_drained_for(r)) deliver_pmi(frame_after(r));
}

void Sequencer::retire_late(const Retirement& r) {
  Retirement late = r;
  late.cycle = now();
  retire(late);
}

// What was in flight when the PMI came due may retire first.
bool Sequencer::is_drained_for(const Retirement& next) const {
  return model_->policies.pmi_drain == 0 || next.cycle >= due_cycle() + next.latency_cycles;
}

void Sequencer::remember(const Registers* registers) {
  registers_known_ = registers != nullptr;
  if (registers_known_) last_registers_ = *registers;
}

void Sequencer::write_extended(const ExtendedChange& change) {
  xsave_.write(change);
  extended_known_ = true;
}

void Sequencer::set_extended_state(const ExtendedState* state) {
  xsave_.set_state(state != nullptr ? *state : ExtendedState{});
  extended_known_ = state != nullptr;
}

void Sequencer::pass_time(u64 cycle, Cpl cpl) {
  if (is_watched()) [[unlikely]]
    return pass_time_on_core(cycle, cpl);
  while (counters_.now() < cycle) {
    const Counted counted = counters_.pass_time(cycle, cpl);
    occurred_while_waiting_ |= counted.occurred;
    apply_overflows(counted.overflowed);
  }
}

void Sequencer::wait_until(u64 cycle, const InterruptFrame& frame) {
  while (now() < cycle) {
    const u64 due = due_cycle();
    pass_time(due <= cycle ? std::max(due, now() + 1) : cycle, frame.cpl);
    if (pmi_due()) deliver_pmi(frame);
  }
}

void Sequencer::halt_until(u64 cycle, const InterruptFrame& frame) {
  while (now() < cycle) {
    const u64 due = due_cycle(), until = due <= cycle ? std::max(due, now() + 1) : cycle;
    control_.stand_still(now(), until);
    counters_.stand_still(until);
    if (pmi_due()) deliver_pmi(frame);
  }
}

void Sequencer::take_interrupts(const InterruptFrame& frame) {
  pmi_.hasten(now());
  ibs_interrupt_.hasten(now());
  if (pmi_due()) deliver_pmi(frame);
}

// A record taken in is an event of its own.
void Sequencer::log_branch(const Retirement& r, Counted& counted) {
  Branch branch = Branch::of(r);
  if (keeps_last_branch()) {
    branch.fused_bytes = 0;  // nothing fuses meanwhile
    lbr_.keep_last(branch);
  }
  if (!lbr_.record(branch, lbr_gate())) return;
  observer_.notify(&Observer::on_lbr_record, {now(), r.ip, r.next_ip, r.branch, r.mispredicted});
  counted |= counters_.count_late(Signal::lbr_insert, r);
}

// An op that is tagged is an event of its own, too.
void Sequencer::follow_ibs(const Retirement& r, Counted& counted) {
  if (ibs_.retire(r)) request_ibs_interrupt();
  const IbsUnit::Tags tags = ibs_.take_tags();
  for (u32 n = 0; n < tags.ops; ++n) counted |= counters_.count_late(Signal::ibs_tagged, r);
  for (u32 n = 0; n < tags.retired; ++n) counted |= counters_.count_late(Signal::ibs_tagged_retired, r);
}

void Sequencer::store_branch(const Retirement& r) {
  if (!PebsUnit::traces(r, control_.debugctl())) return;
  const BtsOutcome outcome = pebs_.trace(*memory_, r, control_.debugctl());
  const bool written = outcome.outcome == AssistOutcome::wrote;
  observer_.notify(&Observer::on_bts_record,
                   {now(), r.ip, r.next_ip, written, outcome.outcome, outcome.address});
  if (outcome.interrupt) request_pmi(model_->policies.pmi_skid_cycles, observed::PmiCause::bts_threshold);
}

/// The interrupt that the overflow has asked for goes out with the last record.
void Sequencer::sample_branch(const Retirement& r) {
  if (branch_sampling_.record(Branch::of(r)))
    request_pmi(model_->policies.pmi_skid_cycles, observed::PmiCause::overflow);
}

u64 Sequencer::overflow(u64 counters, const Retirement& at) {
  const u64 wrapped = counters & counters_.running();
  for (const unsigned counter : set_bits(wrapped)) counters_.set_wrapped(counter);
  apply_overflows(wrapped);
  const u64 sampled = wrapped & pebs_.waiting();
  if (sampled != 0) write_pebs_record(at, sampled);
  return wrapped;
}

void Sequencer::apply_overflows(u64 overflowed, u64 cycle) {
  if (overflowed == 0) return;
  const u64 precise = overflowed & pebs_.enabled(counters_);
  const AcrUnit::Reloads reloads = acr_.reloads(overflowed, counters_);
  const u64 with_status = overflowed & ~reloads.without_status;
  const u64 already_set = model_->policies.pmi_repeat == 0 ? counters_.status() : 0;
  const u64 asking = overflowed & ~precise & ~already_set & counters_.interrupting();
  const u64 interrupting = asking & ~branch_sampling_.hold(asking);
  if (observer_) tell_overflows(overflowed, {with_status, precise, interrupting}, cycle);

  for (const AcrUnit::Reload& reload : reloads.values)
    reload_counter(reload.counter, reload.value, observed::ReloadCause::acr, cycle);
  acr_.count(reloads);
  counters_.set_status(with_status);
  if (precise != 0) arm_assists(precise, cycle);
  if (interrupting != 0) request_pmi(model_->policies.pmi_skid_cycles, observed::PmiCause::overflow, cycle);
}

u64 Sequencer::assist_cycles(u32 record_bytes) const {
  constexpr u64 line_bytes = 64;
  const Policies& policies = model_->policies;
  return policies.pebs_assist_cycles +
         policies.pebs_assist_line_cycles * ((record_bytes + line_bytes - 1) / line_bytes);
}

u64 Sequencer::write_pebs_record(const Retirement& r, u64 served) {
  std::array<LbrEntry, 64> entries;
  const unsigned records = lbr_.render(entries);
  const Assist assist = pebs_.write(*memory_, {.retirement = r,
                                               .served = served,
                                               .tsc = tsc(),
                                               .counters = counters_,
                                               .lbr = std::span(entries).first(records),
                                               .lbr_control = lbr_.control(),
                                               .lbr_depth = lbr_.depth(),
                                               .last_event = lbr_.last_exception(),
                                               .extended = extended_known_ ? &xsave_.state() : nullptr});
  observer_.notify(&Observer::on_pebs_record,
                   {now(), served, r.ip, assist.outcome, assist.address, assist.bytes});
  for (const Assist::Reload& reload : assist.reloads)
    reload_counter(reload.counter, reload.value, observed::ReloadCause::pebs, now());
  counters_.clear_status(assist.clear_status);
  const u64 taken = assist_cycles(assist.bytes);
  if (assist.raise_status == 0) return taken;
  counters_.set_status(assist.raise_status);
  request_pmi(static_cast<u32>(model_->policies.pebs_pmi_skid_cycles + taken),
              observed::PmiCause::pebs_threshold);
  return taken;
}

void Sequencer::reload_counter(unsigned counter, u64 value, observed::ReloadCause cause, u64 cycle) {
  counters_.set_value(counter, value);
  observer_.notify(&Observer::on_reload, {cycle, counter, value, cause});
}

void Sequencer::arm_assists(u64 overflowed, u64 cycle) {
  for (const unsigned counter : set_bits(pebs_.arm(overflowed, counters_, cycle)))
    observer_.notify(&Observer::on_assist_armed, {cycle, counter});
}

// Freezing acts when a PMI is asked for, not when it is delivered (SDM vol. 3, freeze on PMI).
void Sequencer::request_pmi(u32 skid_cycles, observed::PmiCause cause, u64 cycle) {
  const observed::PmiFate fate = pmi_.request(cycle, skid_cycles, pmi_masked(), model_->policies);
  observer_.notify(&Observer::on_pmi_request, {cycle, cause, fate, pmi_.due_cycle()});
  const u64 debugctl = control_.debugctl();
  if ((debugctl & msr::debugctl::FREEZE_LBRS_ON_PMI) != 0) freeze_lbr(cycle);
  if ((debugctl & msr::debugctl::FREEZE_PERFMON_ON_PMI) != 0) freeze_counters(cycle);
}

/// At a write of LVTPC: the handler may have served already what a request that waits was for.
void Sequencer::drop_served_pmi() {
  if (model_->policies.pmi_while_masked == 2 && model_->has_global_control() && counters_.status() == 0)
    pmi_.acknowledge();
}

void Sequencer::freeze_lbr(u64 cycle) {
  const bool streamlined = model_->freeze == FreezeStyle::streamlined;
  const bool ran = streamlined ? (counters_.status() & msr::status::LBR_FRZ) == 0
                               : (control_.debugctl() & msr::debugctl::LBR) != 0;
  if (!ran) return;
  if (streamlined)
    counters_.set_status(msr::status::LBR_FRZ);
  else
    control_.clear_debugctl(msr::debugctl::LBR);
  observer_.notify(&Observer::on_freeze, {cycle, observed::FrozenUnit::lbr});
}

void Sequencer::freeze_counters(u64 cycle) {
  const bool streamlined = model_->freeze == FreezeStyle::streamlined;
  const bool ran =
      streamlined ? (counters_.status() & msr::status::CTR_FRZ) == 0 : counters_.global_ctrl() != 0;
  if (!ran) return;
  if (streamlined)
    counters_.set_status(msr::status::CTR_FRZ);
  else
    counters_.clear_global_ctrl();
  observer_.notify(&Observer::on_freeze, {cycle, observed::FrozenUnit::counters});
}

// A fixed vector waits for RFLAGS.IF. An SMI goes to system management code, which is not modelled, and what
// the other modes of delivery ask for reaches no handler either.
bool Sequencer::take_interrupt(InterruptFrame frame, PmiLine& line, u64 entry) {
  constexpr u64 interrupts_enabled = bit(9);
  if (handler_ == nullptr) return false;
  const u64 mode = entry & msr::lvtpc::DELIVERY_MODE;
  if (mode == msr::lvtpc::FIXED && (frame.registers.rflags & interrupts_enabled) == 0) return false;
  line.acknowledge();
  if (&line == &pmi_ && model_->pmi_masks_lvtpc) control_.mask_lvtpc();
  if (mode != msr::lvtpc::FIXED && mode != msr::lvtpc::NMI) return true;
  frame.extended = extended_known_ ? &xsave_.state() : nullptr;

  const u64 occurred = std::exchange(occurred_while_waiting_, 0);
  const bool known = registers_known_;
  const Registers registers = last_registers_;
  handling_ = true;
  observer_.notify(&Observer::on_pmi_delivery, {now(), frame.registers.rip, frame.cpl});
  handler_->handle_pmi(frame);
  observer_.notify(&Observer::on_pmi_return, {now()});
  handling_ = false;
  registers_known_ = known;
  last_registers_ = registers;
  occurred_while_waiting_ |= occurred;
  return true;
}

/// One interrupt, that of the counters before that of IBS: a boundary takes one.
bool Sequencer::deliver_pmi(const InterruptFrame& frame) {
  const bool of_counters = pmi_.deliverable(now(), pmi_masked());
  if (of_counters && take_interrupt(frame, pmi_, control_.lvtpc())) return true;
  return ibs_interrupt_.deliverable(now(), ibs_masked()) &&
         take_interrupt(frame, ibs_interrupt_, control_.ibs_lvt());
}

/// When the first interrupt that is on its way may be taken.
u64 Sequencer::due_cycle() const {
  const u64 never = ~u64{0};
  const u64 counters = pmi_.pending() && !pmi_masked() ? pmi_.due_cycle() : never;
  const u64 ibs = ibs_interrupt_.pending() && !ibs_masked() ? ibs_interrupt_.due_cycle() : never;
  return std::min(counters, ibs);
}

/// Freezing is for the interrupts of counters. An entry that is masked loses the interrupt; the sample stays
/// valid.
void Sequencer::request_ibs_interrupt() {
  if (ibs_masked()) return;
  const observed::PmiFate fate =
      ibs_interrupt_.request(now(), model_->policies.pmi_skid_cycles, false, model_->policies);
  observer_.notify(&Observer::on_pmi_request,
                   {now(), observed::PmiCause::ibs_sample, fate, ibs_interrupt_.due_cycle()});
}

bool Sequencer::interrupt(const InterruptFrame& frame) {
  if (handling_) return false;
  if (pmi_.pending() && !pmi_masked()) return take_interrupt(frame, pmi_, control_.lvtpc());
  if (ibs_interrupt_.pending() && !ibs_masked())
    return take_interrupt(frame, ibs_interrupt_, control_.ibs_lvt());
  return false;
}

InterruptFrame Sequencer::frame_after(const Retirement& r) const {
  InterruptFrame frame{.cpl = r.taken ? r.cpl_after : r.cpl, .registers_known = registers_known_};
  if (registers_known_) frame.registers = last_registers_;
  frame.registers.rip = r.next_ip;
  return frame;
}

InterruptFrame Sequencer::frame_before(const Retirement& r) const {
  InterruptFrame frame{.cpl = r.cpl, .registers_known = registers_known_};
  if (registers_known_) frame.registers = last_registers_;
  frame.registers.rip = r.ip;
  return frame;
}

void Sequencer::reset() {
  Sequencer fresh(model_, registers_, *memory_, number_);
  static_cast<void>(fresh.counters_.pass_time(now(), Cpl::kernel));
  fresh.handler_ = handler_;
  *this = std::move(fresh);
  connect(*memory_, number_);
}

void Sequencer::warm_reset() {
  const LbrStack lbr = lbr_.after_warm_reset();
  reset();
  lbr_ = lbr;
  derive();
}

void Sequencer::debug_exception() {
  const u64 before = control_.debugctl();
  control_.clear_debugctl(before & ~debugctl_after_debug_exception(before));
  lbr_.on_debug_exception();
}

FaultOr<u64> Sequencer::rdmsr(u32 address) {
  const FaultOr<u64> value = registers_->read(address, now(), counters_, lbr_, control_, pebs_, acr_, xsave_,
                                              ibs_, branch_sampling_);
  if (!value.ok()) [[unlikely]]
    note_fault({.access = observed::AccessInstruction::rdmsr,
                .address = address,
                .rule = registers_->rule_of_read(address, counters_, lbr_, control_, pebs_, acr_, xsave_,
                                                 ibs_, branch_sampling_)});
  return value;
}

Written Sequencer::write_register(u32 address, u64 value) {
  const Written written = registers_->write(address, value, now(), counters_, lbr_, control_, pebs_, acr_,
                                            xsave_, ibs_, branch_sampling_);
  if (address == msr::X2APIC_LVTPC && written.fault == Fault::none) drop_served_pmi();
  if (!written.steers) return written;
  derive();
  if (branch_sampling_.take_release()) request_pmi(0, observed::PmiCause::overflow);
  return written;
}

Fault Sequencer::wrmsr(u32 address, u64 value) {
  const Written written = write_register(address, value);
  if (written.of_core && sibling_) sibling_->write_register(address, value);
  if (pebs_.held() != 0 && written.fault == Fault::none) tell_load(address);
  if (written.fault == Fault::none) {
    observer_.notify(&Observer::on_register_write, {now(), address, value});
    return Fault::none;
  }
  note_fault({.access = observed::AccessInstruction::wrmsr,
              .address = address,
              .value = value,
              .fault = written.fault,
              .rule = registers_->rule_of_write(address, value, counters_, lbr_, control_, pebs_, acr_,
                                                xsave_, ibs_, branch_sampling_)});
  return written.fault;
}

/// A write to a counter, by whatever alias.
void Sequencer::tell_load(u32 address) {
  const u32 storage = registers_->find(address)->storage;
  const u32 gp = storage - msr::PMC0, fixed = storage - msr::FIXED_CTR0;  // huge below the first
  if (gp < first_fixed) pebs_.loaded(gp);
  if (fixed < counter_slots - first_fixed) pebs_.loaded(first_fixed + fixed);
}

Fault Sequencer::read_xapic(u32 number, std::span<std::byte> out) const {
  const boost::endian::little_uint32_t word = control_.read_xapic(number);
  if (out.size() != sizeof word) return Fault::pf;
  std::memcpy(out.data(), &word, sizeof word);
  return Fault::none;
}

Fault Sequencer::write_xapic(u32 number, std::span<const std::byte> in) {
  boost::endian::little_uint32_t word;
  if (in.size() != sizeof word) return Fault::pf;
  std::memcpy(&word, in.data(), sizeof word);
  control_.write_xapic(number, word);
  if (number == msr::X2APIC_LVTPC) drop_served_pmi();
  observer_.notify(&Observer::on_register_write, {now(), number, word});
  return Fault::none;
}

// What units have to know of each other's registers. (The owner of the register that was written has derived
// its own.)
void Sequencer::derive() {
  pebs_.follow_enables(counters_);
  counters_.set_filters(event_filters());
}

EventFilters Sequencer::event_filters() const {
  return {.off_core = control_.off_core_filters(),
          .front_end = pebs_.front_end_filter(),
          .load_latency_cycles = pebs_.latency_threshold(),
          .pebs_in_use = (pebs_.enabled(counters_) & model_->counters()) != 0,
          .svme = (control_.efer() & msr::amd::efer::SVME) != 0,
          .in_guest = vm_mode_ == VmMode::guest};
}

bool Sequencer::is_derived() const {
  return counters_.is_derived() && lbr_.is_derived() && acr_.is_derived() &&
         counters_.filters() == event_filters();
}

CpuidResult Sequencer::cpuid(u32 leaf, u32 subleaf) const {
  constexpr unsigned initial_apic_id_shift = 24;
  CpuidResult result = xsave_.cpuid(leaf, subleaf);
  if (leaf == 1) result.ebx |= number_ << initial_apic_id_shift;
  return result;
}

FaultOr<u64> Sequencer::rdpmc(u32 ecx, Cpl cpl) {
  const FaultOr<u64> value = counters_.rdpmc(ecx, cpl, user_rdpmc_ == UserRdpmc::allowed);
  if (!value.ok())
    note_fault(
        {.access = observed::AccessInstruction::rdpmc,
         .address = ecx,
         .rule = counters_.has_rdpmc(ecx) ? observed::FaultRule::privileged : observed::FaultRule::exists});
  return value;
}

FaultOr<u64> Sequencer::xgetbv(u32 ecx) {
  const FaultOr<u64> value = xsave_.xgetbv(ecx);
  if (!value.ok())
    note_fault({.access = observed::AccessInstruction::xgetbv,
                .address = ecx,
                .fault = value.error(),
                .rule = xsave_.is_enabled() ? observed::FaultRule::exists : observed::FaultRule::enabled});
  return value;
}

Fault Sequencer::xsetbv(u32 ecx, u64 value) {
  const Fault fault = xsave_.xsetbv(ecx, value);
  if (fault != Fault::none)
    note_fault({.access = observed::AccessInstruction::xsetbv,
                .address = ecx,
                .value = value,
                .fault = fault,
                .rule = xsave_.rule_of_xsetbv(ecx, value)});
  return fault;
}

void Sequencer::note_fault(observed::AccessFault fault) {
  using observed::AccessInstruction;
  fault.cycle = now();
  if (fault.rule == observed::FaultRule::reserved) {
    const bool of_xcr0 = fault.access == AccessInstruction::xsetbv;
    const Register* const of_msr = registers_->find(fault.address);
    fault.bits = fault.value & ~(of_xcr0 ? model_->xcr0 : of_msr->writable | of_msr->ignored);
  }
  last_fault_ = fault;
  observer_.notify(&Observer::on_access_fault, fault);
}

void Sequencer::tell_overflows(u64 overflowed, const OverflowKinds& kinds, u64 cycle) const {
  const auto among = [](unsigned counter, u64 counters) { return (counters & bit(counter)) != 0; };
  for (const unsigned counter : set_bits(overflowed))
    observer_.notify(&Observer::on_overflow, {.cycle = cycle,
                                              .counter = counter,
                                              .sets_status = among(counter, kinds.with_status),
                                              .asks_for_pmi = among(counter, kinds.interrupting),
                                              .writes_record = among(counter, kinds.precise)});
}

}  // namespace pmusim
