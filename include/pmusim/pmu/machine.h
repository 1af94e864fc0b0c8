// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_MACHINE_H
#define PMUSIM_PMU_MACHINE_H

#include <memory>
#include <span>
#include <vector>

#include "pmusim/pmu/pmu.h"

/// Several CPUs that share memory, for whoever has a driver that runs on each of them:
///
/// @code
/// using namespace pmusim;
/// Machine machine(*find_cpu_model("skylake"), 2);
/// if (!machine.map_memory(0x10000, 0x1000)) return;  // DS areas and their buffers
/// for (unsigned n = 0; n < machine.cpus(); ++n)      // one driver each: a Pmu is a Bus
///   static_cast<void>(machine.cpu(n).wrmsr(msr::DS_AREA, 0x10000 + n * 0x100));
/// const Machine snapshot = machine;
/// machine.cpu(1).retire({.ip = 0x401000, .next_ip = 0x401001, .cycle = 1, .signals =
/// {Signal::instruction}}); machine = snapshot;
/// @endcode
namespace pmusim {

/// Logical processors at one memory. Each has registers, LVT, PMI handler and clock of its own: a Pmu that is
/// constructed is such a processor alone. Nothing else is shared, and CPUID shows no topology: each CPU
/// presents itself as a package of its own.
///
/// Time passes on a CPU as instructions retire there. How the CPUs' cycles relate is the caller's to say.
///
/// A Machine is a value: a copy is a snapshot of all CPUs with the memory, which the copy's CPUs share, and
/// what holds of a Pmu's handler and observers holds of theirs. A snapshot that is assigned leaves references
/// to CPUs as they are if it has as many CPUs; a machine that is moved takes its CPUs with it. A CPU is not
/// to be moved out of its machine.
class Machine {
 public:
  /// `cpus` CPUs of one model, numbered from 0.
  explicit Machine(const CpuModel& model, unsigned cpus = 1);
  /// A CPU of each model, in their order: a hybrid part has several of two models.
  explicit Machine(const std::vector<CpuModel>& models);
  Machine(const Machine& other);
  Machine& operator=(const Machine& other);
  Machine(Machine&& other) noexcept;  ///< what has been moved from can be assigned to, and nothing else
  Machine& operator=(Machine&& other) noexcept;
  ~Machine();

  unsigned cpus() const { return static_cast<unsigned>(cpus_.size()); }
  /// `number` is below cpus(); std::out_of_range otherwise.
  Pmu& cpu(unsigned number) { return cpus_.at(number); }
  const Pmu& cpu(unsigned number) const { return cpus_.at(number); }

  // The memory, which every CPU sees; what these do is said where Pmu has them.
  [[nodiscard]] bool map_memory(u64 address, u64 bytes);
  [[nodiscard]] bool map_memory_at(u64 address, u64 physical, u64 bytes);
  [[nodiscard]] bool map_memory(u64 address, std::span<std::byte> bytes,
                                AddressSpace space = AddressSpace::both);
  bool unmap_memory(u64 address, AddressSpace space = AddressSpace::both);
  std::span<std::byte> memory(u64 address, u64 bytes);

  /// What Pmu::add_to adds of each CPU, and the memory once. Two machines of the same models with equal
  /// hashes behave alike from then on.
  void add_to(StateHash& hash) const;
  u64 state_hash() const;

 private:
  std::shared_ptr<Memory> memory_;
  std::vector<Pmu> cpus_;  // at *memory_
};

}  // namespace pmusim

#endif
