// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_MACHINE_H
#define PMUSIM_LINUX_HOST_MACHINE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "glue/interface.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/pmu.h"

/// The machine that the kernel's driver runs on.
namespace pmusim::linux_driver {

/// An access of the kernel to its processor, with the place in its code.
struct Access {
  enum class Kind : u8 { rdmsr, wrmsr, rdpmc };
  Kind kind = Kind::rdmsr;
  u32 address = 0;
  u64 value = 0;
  bool faulted = false;
  u64 caller = 0;  ///< address in the kernel's code
};

/// What the kernel has to say about itself when it should have nothing: WARN, BUG.
struct Trap {
  std::string file;
  unsigned line = 0;
  bool is_warning = true;
};

/// A CPU of the machine: its PMU, and what of it the kernel sees.
class KernelCpu final : public PmiHandler {
 public:
  KernelCpu(u32 number, Pmu& pmu, perf::TscToNs clock) : number_(number), pmu_(pmu), clock_(clock) {}

  u32 number() const { return number_; }
  Pmu& pmu() const { return pmu_; }
  const CpuModel& model() const { return pmu_.model(); }
  /// perf time in ns, as the kernel is to see it here.
  u64 now() const { return now_ns_; }
  void set_time(u64 now_ns);
  /// Where the PMU's clock stands, in ns.
  u64 time_of_pmu() const { return clock_(pmu_.tsc()); }

  /// Where the kernel's accesses go: the Pmu, if nobody comes in between.
  Bus& bus() const { return bus_ != nullptr ? *bus_ : pmu_; }
  void set_bus(Bus* bus) { bus_ = bus; }

  /// The kernel handles it on this CPU, whichever has run its code until now.
  void handle_pmi(const InterruptFrame& frame) override;

 private:
  u32 number_;
  Pmu& pmu_;
  perf::TscToNs clock_;
  Bus* bus_ = nullptr;
  u64 now_ns_ = 0;
};

/// The kernel's code runs on this CPU for as long as this lives, and then where it did before.
class OnCpu {
 public:
  explicit OnCpu(u32 cpu) : before_(linux_enter_cpu(cpu)) {}
  ~OnCpu() { linux_enter_cpu(before_); }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

 private:
  u32 before_;
};

/// Emulated processors and their memory, under the one kernel that a process has. The kernel's state is the
/// program's: a machine boots once in a process, and two at a time cannot be.
class KernelMachine final {
 public:
  /// One CPU: the first thread of its core, of which nobody sees the second.
  explicit KernelMachine(const CpuModel& model);
  /// Throws std::runtime_error for more CPUs than the kernel is made for.
  explicit KernelMachine(Topology topology);
  ~KernelMachine();
  KernelMachine(const KernelMachine&) = delete;
  KernelMachine& operator=(const KernelMachine&) = delete;

  /// The machine of this process.
  static KernelMachine& present();

  /// The kernel's init_hw_perf_events() on the first CPU, and the start of all others that are online. 0, or
  /// a negative errno value.
  int boot();
  u32 cpus() const { return static_cast<u32>(cpus_.size()); }
  KernelCpu& cpu(u32 number) const { return *cpus_.at(number); }
  const Topology& topology() const { return topology_; }
  /// That runs the kernel's code.
  KernelCpu& running() const { return *running_; }
  /// It does from now on, and its variables are so much further than linked.
  void run_on(u32 cpu, unsigned long variables);

  perf::TscToNs clock() const { return clock_; }
  // of the CPU that runs the kernel's code
  kernel_pmu description() const;
  const CpuModel& model() const { return running().model(); }
  Pmu& pmu() const { return running().pmu(); }
  u64 now() const { return running().now(); }
  void set_time(u64 now_ns) { running().set_time(now_ns); }

  std::function<void(const Access&)> on_access = [](const Access&) {};
  std::function<void(const std::string&)> on_print = [](const std::string&) {};
  /// Bytes of the running program.
  std::function<std::vector<std::byte>(u64 address, std::size_t bytes)> read_user = [](u64, std::size_t) {
    return std::vector<std::byte>();
  };

  /// A WARN or BUG of the kernel.
  void trapped(const Trap& trap) { traps_.push_back(trap); }
  /// The bytes at a physical address.
  std::byte* physical(u64 address) const;
  const std::vector<Trap>& traps() const { return traps_; }
  void forget_traps() { traps_.clear(); }

  /// All that the kernel keeps: its variables and its memory, of which `Image` is a copy.
  struct Image {
    std::vector<std::byte> variables, pages, page_structures, entry_area;
  };
  Image image() const;
  /// On the CPU on which the image was taken.
  void restore(const Image& image);

 private:
  KernelMachine(Topology topology, Machine hardware, u32 threads_per_core);
  std::span<std::byte> entry_areas() const;

  Topology topology_;
  u32 threads_per_core_;
  Machine hardware_;
  perf::TscToNs clock_;
  std::vector<std::unique_ptr<KernelCpu>> cpus_;
  KernelCpu* running_;
  std::vector<Trap> traps_;
};

/// As the kernel's side takes it.
kernel_frame frame_of(const InterruptFrame& frame);

/// "WARN at arch/x86/events/intel/ds.c:1234"
std::string text_of(const Trap& trap);

}  // namespace pmusim::linux_driver

#endif
