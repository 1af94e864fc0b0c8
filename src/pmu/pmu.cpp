// SPDX-License-Identifier: MIT
#include "pmusim/pmu/pmu.h"

#include <utility>

#include "pmu/sequencer.h"

namespace pmusim {

Pmu::Pmu(CpuModel model) : Pmu(std::move(model), std::make_shared<Memory>(), 0) {}
Pmu::Pmu(CpuModel model, std::shared_ptr<Memory> memory, unsigned number)
    : memory_(std::move(memory)),
      sequencer_(std::make_unique<Sequencer>(std::move(model), *memory_, number)) {}
Pmu::Pmu(const Pmu& other) : Pmu(other, std::make_shared<Memory>(*other.memory_), other.number()) {}
Pmu::Pmu(const Pmu& other, std::shared_ptr<Memory> memory, unsigned number)
    : memory_(std::move(memory)), sequencer_(std::make_unique<Sequencer>(*other.sequencer_)) {
  sequencer_->connect(*memory_, number);
}
void Pmu::assign_all_but_memory(const Pmu& other) {
  *sequencer_ = *other.sequencer_;
  sequencer_->connect(*memory_, other.number());
}
Pmu& Pmu::operator=(const Pmu& other) {
  if (sequencer_ == nullptr) return *this = Pmu(other);
  assign_all_but_memory(other);
  *memory_ = *other.memory_;  // into what is there: snapshots are restored often
  return *this;
}
Pmu::Pmu(Pmu&& other) noexcept = default;
// The memory stays and gets the contents: other CPUs may be at it.
Pmu& Pmu::operator=(Pmu&& other) noexcept {
  if (this == &other) return *this;
  if (memory_ == nullptr)
    memory_ = std::move(other.memory_);
  else if (memory_ != other.memory_)
    *memory_ = std::move(*other.memory_);
  Sequencer* const sibling = sequencer_ != nullptr ? sequencer_->sibling() : nullptr;
  sequencer_ = std::move(other.sequencer_);
  sequencer_->connect(*memory_, number());
  if (sibling != nullptr && sibling != sequencer_.get()) sequencer_->pair_with(*sibling);
  return *this;
}
Pmu::~Pmu() = default;

void Pmu::retire(const Retirement& retirement) { sequencer_->retire(retirement); }
void Pmu::wait_until(u64 cycle, const InterruptFrame& frame) { sequencer_->wait_until(cycle, frame); }
void Pmu::halt_until(u64 cycle, const InterruptFrame& frame) { sequencer_->halt_until(cycle, frame); }
void Pmu::take_interrupts(const InterruptFrame& frame) { sequencer_->take_interrupts(frame); }

BlockTotals Pmu::totals(std::span<const Retirement> execution, u64 since, BlockBranches branches) const {
  BlockTotals block;
  block.sums_ = std::make_shared<const BlockSums>(sequencer_->totals(execution, since, branches));
  return block;
}
u64 Pmu::headroom(const BlockTotals& block, u64 at_most) const {
  return block.sums_ != nullptr ? sequencer_->headroom(*block.sums_, at_most) : 0;
}
u64 Pmu::advance(const BlockTotals& block, u64 at_most, const Registers* registers) {
  return block.sums_ != nullptr ? sequencer_->advance(*block.sums_, at_most, registers) : 0;
}
u64 Pmu::quiet_instructions(u32 most) const { return sequencer_->quiet_instructions(most); }
bool Pmu::records_branches() const { return sequencer_->records_branches(); }
void Pmu::log_branch(const Retirement& branch) { sequencer_->log_branch(branch); }

void Pmu::set_extended_state(const ExtendedState* state) { sequencer_->set_extended_state(state); }
void Pmu::reset() { sequencer_->reset(); }
void Pmu::warm_reset() { sequencer_->warm_reset(); }
void Pmu::deep_sleep() { sequencer_->deep_sleep(); }
void Pmu::debug_exception() { sequencer_->debug_exception(); }
void Pmu::set_pmi_handler(PmiHandler* handler) { sequencer_->set_pmi_handler(handler); }
void Pmu::set_observer(Observer* observer) {
  sequencer_->set_observer(observer);
  if (observer != nullptr) observer->on_attach(*this);
}
void Pmu::set_retirement_observer(RetirementObserver* observer) {
  sequencer_->set_retirement_observer(observer);
}
void Pmu::set_user_rdpmc(UserRdpmc right) { sequencer_->set_user_rdpmc(right); }
void Pmu::set_vm_mode(VmMode mode) { sequencer_->set_vm_mode(mode); }
void Pmu::set_xsave_control(XsaveControl control) { sequencer_->set_xsave_control(control); }

FaultOr<u64> Pmu::rdmsr(u32 address) { return sequencer_->rdmsr(address); }
Fault Pmu::wrmsr(u32 address, u64 value) { return sequencer_->wrmsr(address, value); }
FaultOr<u64> Pmu::rdpmc(u32 ecx, Cpl cpl) { return sequencer_->rdpmc(ecx, cpl); }
CpuidResult Pmu::cpuid(u32 leaf, u32 subleaf) { return sequencer_->cpuid(leaf, subleaf); }
Fault Pmu::read_memory(u64 address, std::span<std::byte> out) {
  return sequencer_->read_memory(address, out);
}
Fault Pmu::write_memory(u64 address, std::span<const std::byte> in) {
  return sequencer_->write_memory(address, in);
}
bool Pmu::map_memory(u64 address, u64 bytes) { return memory_->map(address, bytes); }
bool Pmu::map_memory_at(u64 address, u64 physical, u64 bytes) {
  return memory_->map({.linear = address, .physical = physical}, bytes);
}
bool Pmu::map_memory(u64 address, std::span<std::byte> bytes, AddressSpace space) {
  return memory_->map(Memory::Place::at(address, space), bytes);
}
bool Pmu::unmap_memory(u64 address, AddressSpace space) { return memory_->unmap(address, space); }
std::span<std::byte> Pmu::memory(u64 address, u64 bytes) { return memory_->at(address, bytes); }
Fault Pmu::xsaves(u64 address, u64 features) {
  return save(SaveInstruction::xsaves, {.address = address, .features = features});
}
Fault Pmu::xrstors(u64 address, u64 features) {
  return restore(RestoreInstruction::xrstors, {.address = address, .features = features});
}
FaultOr<u64> Pmu::xgetbv(u32 ecx) { return sequencer_->xgetbv(ecx); }
Fault Pmu::xsetbv(u32 ecx, u64 value) { return sequencer_->xsetbv(ecx, value); }
Fault Pmu::save(SaveInstruction which, const XsaveOperands& operands) {
  return sequencer_->save(which, operands);
}
Fault Pmu::restore(RestoreInstruction which, const XsaveOperands& operands) {
  return sequencer_->restore(which, operands);
}

const CpuModel& Pmu::model() const { return sequencer_->model(); }
unsigned Pmu::number() const { return sequencer_->number(); }
const RegisterList& Pmu::registers() const { return sequencer_->registers(); }
const ExtendedState& Pmu::extended_state() const { return sequencer_->xsave().state(); }
u64 Pmu::now() const { return sequencer_->now(); }
u64 Pmu::tsc() const { return sequencer_->tsc(); }
u64 Pmu::acr_reload_count(unsigned counter) const { return sequencer_->acr().reload_count(counter); }
u64 Pmu::assists(AssistOutcome outcome) const { return sequencer_->pebs().assists(outcome); }
void Pmu::add_to(StateHash& hash) const { hash.add(*sequencer_, *memory_); }
u64 Pmu::state_hash() const {
  StateHash hash;
  add_to(hash);
  return hash.value();
}
u64 Pmu::overflow(u64 counters, const Retirement& at) { return sequencer_->overflow(counters, at); }
u64 Pmu::running_counters() const { return sequencer_->counters().running(); }
std::vector<CountedEvent> Pmu::counted_events() const { return sequencer_->counters().counted_events(); }
u64 Pmu::interrupting_counters() const { return sequencer_->counters().interrupting() | precise_counters(); }
u64 Pmu::precise_counters() const { return sequencer_->pebs().enabled(sequencer_->counters()); }
void Pmu::request_pmi() { sequencer_->request_pmi(); }
bool Pmu::interrupt(const InterruptFrame& frame) { return sequencer_->interrupt(frame); }
bool Pmu::pmi_pending() const { return sequencer_->pmi_pending(); }
bool Pmu::in_pmi_handler() const { return sequencer_->in_pmi_handler(); }
u64 Pmu::prediction_barriers() const { return sequencer_->control().prediction_barriers(); }

}  // namespace pmusim
