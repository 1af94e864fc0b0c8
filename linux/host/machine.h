// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_MACHINE_H
#define PMUSIM_LINUX_HOST_MACHINE_H

#include <functional>
#include <string>
#include <vector>

#include "glue/interface.h"
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

/// An emulated processor and its memory, under the one kernel that a process has. The kernel's state is the
/// program's: a machine boots once in a process, and two at a time cannot be.
class KernelMachine final : public PmiHandler {
 public:
  explicit KernelMachine(const CpuModel& model);
  ~KernelMachine() override;
  KernelMachine(const KernelMachine&) = delete;
  KernelMachine& operator=(const KernelMachine&) = delete;

  /// The machine of this process.
  static KernelMachine& present();

  /// The kernel's init_hw_perf_events(). 0, or a negative errno value.
  int boot();
  kernel_pmu description() const;
  const CpuModel& model() const { return pmu_.model(); }
  Pmu& pmu() { return pmu_; }
  perf::TscToNs clock() const { return clock_; }
  /// perf time in ns, as the kernel is to see it.
  u64 now() const { return now_ns_; }
  void set_time(u64 now_ns);
  void set_time_from_pmu() { set_time(clock_(pmu_.tsc())); }

  /// Where the kernel's accesses go: the Pmu, if nobody comes in between.
  Bus& bus() { return *bus_; }
  void set_bus(Bus* bus) { bus_ = bus != nullptr ? bus : &pmu_; }

  std::function<void(const Access&)> on_access = [](const Access&) {};
  std::function<void(const std::string&)> on_print = [](const std::string&) {};
  /// Bytes of the running program.
  std::function<std::vector<std::byte>(u64 address, std::size_t bytes)> read_user = [](u64, std::size_t) {
    return std::vector<std::byte>();
  };

  void handle_pmi(const InterruptFrame& frame) override;
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
  void restore(const Image& image);

 private:
  Pmu pmu_;
  Bus* bus_ = &pmu_;
  perf::TscToNs clock_;
  u64 now_ns_ = 0;
  std::vector<Trap> traps_;
};

/// As the kernel's side takes it.
kernel_frame frame_of(const InterruptFrame& frame);

/// "WARN at arch/x86/events/intel/ds.c:1234"
std::string text_of(const Trap& trap);

}  // namespace pmusim::linux_driver

#endif
