// SPDX-License-Identifier: MIT
#include "pmu/sequencer.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {

// CPUs of one model share what is derived from it, as copies do.
Machine::Machine(const CpuModel& model, unsigned cpus) : memory_(std::make_shared<Memory>()) {
  cpus_.reserve(cpus);
  for (unsigned n = 0; n < cpus; ++n)
    cpus_.push_back(n == 0 ? Pmu(model, memory_, n) : Pmu(cpus_.front(), memory_, n));
}
Machine::Machine(const std::vector<CpuModel>& models) : memory_(std::make_shared<Memory>()) {
  cpus_.reserve(models.size());
  for (const CpuModel& model : models) cpus_.push_back(Pmu(model, memory_, cpus()));
}
Machine::Machine(const Topology& topology) : memory_(std::make_shared<Memory>()) {
  cpus_.reserve(topology.cpus.size());
  for (u32 n = 0; n < topology.cpus.size(); ++n) {
    first_of_core_.push_back(topology.first_of_core(n));
    const u32 alike = topology.cpus_of(topology.cpus[n].type).front();
    cpus_.push_back(alike == n ? Pmu(topology.model(n), memory_, n) : Pmu(cpus_[alike], memory_, n));
  }
  pair_threads();
}
Machine::Machine(const Machine& other)
    : memory_(std::make_shared<Memory>(*other.memory_)), first_of_core_(other.first_of_core_) {
  cpus_.reserve(other.cpus_.size());
  for (const Pmu& cpu : other.cpus_) cpus_.push_back(Pmu(cpu, memory_, cpu.number()));
  pair_threads();
}
void Machine::pair_threads() {
  for (unsigned n = 0; n < first_of_core_.size(); ++n)
    if (const unsigned first = first_of_core_[n]; first != n)
      cpus_[n].sequencer_->pair_with(*cpus_[first].sequencer_);
}
Machine& Machine::operator=(const Machine& other) {
  const bool alike = memory_ != nullptr && cpus() == other.cpus() && first_of_core_ == other.first_of_core_;
  if (!alike) return *this = Machine(other);
  *memory_ = *other.memory_;
  for (unsigned n = 0; n < cpus(); ++n) cpus_[n].assign_all_but_memory(other.cpus_[n]);
  return *this;
}
Machine::Machine(Machine&& other) noexcept = default;
Machine& Machine::operator=(Machine&& other) noexcept = default;
Machine::~Machine() = default;

bool Machine::map_memory(u64 address, u64 bytes) { return memory_->map(address, bytes); }
bool Machine::map_memory_at(u64 address, u64 physical, u64 bytes) {
  return memory_->map({.linear = address, .physical = physical}, bytes);
}
bool Machine::map_memory(u64 address, std::span<std::byte> bytes, AddressSpace space) {
  return memory_->map(Memory::Place::at(address, space), bytes);
}
bool Machine::unmap_memory(u64 address, AddressSpace space) { return memory_->unmap(address, space); }
std::span<std::byte> Machine::memory(u64 address, u64 bytes) { return memory_->at(address, bytes); }

void Machine::add_to(StateHash& hash) const {
  hash.add(cpus());
  for (const Pmu& cpu : cpus_) hash.add(*cpu.sequencer_);
  hash.add(*memory_);
}
u64 Machine::state_hash() const {
  StateHash hash;
  add_to(hash);
  return hash.value();
}

}  // namespace pmusim
