// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_OUTCOME_H
#define PMUSIM_LINUX_HOST_OUTCOME_H

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/kernel_events.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/session/record.h"
#include "pmusim/session/session.h"

/// What a driver makes of a program under one set-up, for two drivers to be held against each other.
namespace pmusim::linux_driver {

/// One cell of the matrix: what is asked for, in perf's terms.
struct Setup {
  std::string name, text;
  std::string events;
  bool samples = true;  ///< false: counts only
  u64 period = 0, frequency = 0;
  u64 branches = 0;
  u64 interrupt_registers = 0;
  bool call_graph = false, addresses = false, weight = false, raw = false;
  /// Events of the CPU (of each, on a machine), of the first task and whoever it starts, or of that task
  /// alone. On a machine events of `task` that sample, and those of `task_by_cpu`, are one for each CPU.
  enum class Whose : u8 { cpu, task, task_by_cpu, task_alone };
  Whose whose = Whose::cpu;
  bool operated = false;  ///< events are read, switched, given other periods and closed as ticks pass
  /// Not by way of a recording, which leaves out what is sampled before the first branch of a stack.
  bool scripted = false;
  bool switches = false;           ///< context switches are recorded
  bool many_cpus = false;          ///< of machines alone
  unsigned since_release = 0;      ///< of the kernels that have it: 6 << 8 | 16
  std::optional<Vendor> vendor{};  ///< whose models alone have it
};
/// The set-ups of `compare`, those of AMD's models alone at the end.
const std::vector<Setup>& setups();

/// A core of so many MHz, whose time-stamp counter stays as it is: a short program lasts for many ticks.
void slow_down(CpuModel& model, u32 core_mhz);

/// A processor, or a machine of many CPUs with the order in which threads run there.
struct Target {
  Target(CpuModel lone) : name(lone.name), model(std::move(lone)) {}  // NOLINT(google-explicit-constructor)
  Target(Topology many, Schedule order)
      : name(many.name), model(many.types.front()), machine(std::move(many)), schedule(order) {}

  std::string name;
  CpuModel model;  ///< the first of a machine
  std::optional<Topology> machine;
  Schedule schedule = Schedule::spread;
};

struct Write {
  u32 address = 0;
  u64 value = 0;
  u64 cycle = 0;
  u32 cpu = 0;
};

/// Notes each write of a register of one CPU.
class WriteLog final : public Observer {
 public:
  explicit WriteLog(u32 cpu) : cpu_(cpu) {}
  void on_register_write(const observed::RegisterWrite& write) override {
    writes.push_back({.address = write.address, .value = write.value, .cycle = write.cycle, .cpu = cpu_});
  }

  std::vector<Write> writes;

 private:
  u32 cpu_;
};

struct Outcome {
  std::optional<std::string> refusal;
  std::vector<KernelCount> counts;
  std::vector<std::byte> records;  ///< those of each ring, one behind the other
  std::vector<Write> writes;  ///< from the opening of the events on, those of each CPU one behind the other
  std::vector<std::string> warnings;
};

/// The set-up as `record` takes it. Errors: the model has no such event, or the core model does not know it.
Result<RecordOptions, Error> options_of(const Setup& setup, const CpuModel& model);
/// The same for each kind of core of a machine.
Result<std::vector<RecordOptions>, Error> options_of(const Setup& setup, const Target& target);

/// The release as which this project's driver is compared: the kernel's, or the newest before it that it
/// knows; the oldest for older ones.
perf::Kernel emulated_release();

/// Of the kernel's driver; boots the kernel, so once in a process. `between`, if there is one, makes what
/// stands between the kernel and the Pmu from when it has booted.
using BusBetween = std::function<std::unique_ptr<Bus>(Pmu&)>;
Result<Outcome, Error> kernel_outcome(const std::string& trace, const Target& target, const Setup& setup,
                                      const std::vector<RecordOptions>& options,
                                      const BusBetween& between = {});
/// Of this project's.
Result<Outcome, Error> session_outcome(const std::string& trace, const Target& target, const Setup& setup,
                                       const std::vector<RecordOptions>& options);

}  // namespace pmusim::linux_driver

#endif
