// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_OUTCOME_H
#define PMUSIM_LINUX_HOST_OUTCOME_H

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/kernel_events.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/session/record.h"

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
  enum class Whose : u8 { cpu, task };
  Whose whose = Whose::cpu;  ///< events of the CPU, or of the first task and whoever it starts
  bool operated = false;     ///< events are read, switched, given other periods and closed as ticks pass
  /// Not by way of a recording, which leaves out what is sampled before the first branch of a stack.
  bool scripted = false;
  unsigned since_release = 0;      ///< of the kernels that have it: 6 << 8 | 16
  std::optional<Vendor> vendor{};  ///< whose models alone have it
};
/// The set-ups of `compare`, those of AMD's models alone at the end.
const std::vector<Setup>& setups();

/// A core of so many MHz, whose time-stamp counter stays as it is: a short program lasts for many ticks.
void slow_down(CpuModel& model, u32 core_mhz);

struct Write {
  u32 address = 0;
  u64 value = 0;
  u64 cycle = 0;
};

/// Notes each write of a register.
class WriteLog final : public Observer {
 public:
  explicit WriteLog(std::vector<Write>& writes) : writes_(writes) {}
  void on_register_write(const observed::RegisterWrite& write) override {
    writes_.push_back({.address = write.address, .value = write.value, .cycle = write.cycle});
  }

 private:
  std::vector<Write>& writes_;
};

struct Outcome {
  std::optional<std::string> refusal;
  std::vector<KernelCount> counts;
  std::vector<std::byte> records;
  std::vector<Write> writes;  ///< from the opening of the events on
  std::vector<std::string> warnings;
};

/// The set-up as `record` takes it. Errors: the model has no such event, or the core model does not know it.
Result<RecordOptions, Error> options_of(const Setup& setup, const CpuModel& model);

/// The release as which this project's driver is compared: the kernel's, or the newest before it that it
/// knows; the oldest for older ones.
perf::Kernel emulated_release();

/// Of the kernel's driver; boots the kernel, so once in a process. `between`, if there is one, makes what
/// stands between the kernel and the Pmu from when it has booted.
using BusBetween = std::function<std::unique_ptr<Bus>(Pmu&)>;
Result<Outcome, Error> kernel_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                      const RecordOptions& options, const BusBetween& between = {});
/// Of this project's.
Result<Outcome, Error> session_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                       const RecordOptions& options);

}  // namespace pmusim::linux_driver

#endif
