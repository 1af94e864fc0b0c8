// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_CPU_H
#define PMUSIM_SRC_CAPI_CPU_H

#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "capi/error.h"
#include "capi/exact_count.h"
#include "capi/watcher.h"
#include "pmusim/explore/explore.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/replay/replay.h"
#include "pmusim/trap/trap.h"

/// What a processor of C was at a moment.
struct pmusim_snapshot {
  pmusim::Pmu pmu;
  std::vector<std::unique_ptr<pmusim::capi::ExactCount>> exact_counts;
  std::map<pmusim::u64, pmusim::u64> regions;  ///< address to bytes
  pmusim_fault last_fault{};
  pmusim::u64 next_ip = 0;
};

/// A processor as C has it: a Pmu, and the callbacks that stand for the interfaces of C++.
struct pmusim_cpu final : private pmusim::PmiHandler, private pmusim::RetirementObserver {
 public:
  explicit pmusim_cpu(pmusim::CpuModel model);
  pmusim_cpu(const pmusim_cpu&) = delete;
  pmusim_cpu& operator=(const pmusim_cpu&) = delete;
  ~pmusim_cpu() override = default;

  pmusim::Pmu& pmu() { return pmu_; }
  const pmusim::Pmu& pmu() const { return pmu_; }

  /// What its software's accesses go through: the Pmu, or the run of a search, which knows where they are.
  pmusim::Bus& bus();
  /// The search that runs a scenario on it, or null.
  void set_run(pmusim::explore::Cpu* run) { run_ = run; }
  bool explored() const { return run_ != nullptr; }
  /// A place for a PMI in front of what does not go through bus(), or behind it.
  void pass_boundary();

  /// Privileged instructions of the calling thread. Throws Misuse.
  void enable_trap(pmusim::TrapOptions options);
  void disable_trap();
  const pmusim::Trap* trap() const { return trap_.get(); }
  pmusim::Trap* trap() { return trap_.get(); }

  void set_pmi_handler(pmusim_pmi_handler handler, void* context);
  void set_observer(pmusim_observer observer, pmusim::u64 kinds, void* context);
  /// Whether one of its callbacks is running, and whether that is its observer.
  bool in_callback() const { return handlers_ != 0 || in_observer() || explored(); }
  bool in_observer() const { return watcher_.calling(); }

  /// Where the instructions that come next begin, if they do not say it.
  pmusim::u64 next_ip() const { return next_ip_; }
  void set_next_ip(pmusim::u64 ip) { next_ip_ = ip; }
  /// Retires an instruction, and goes on behind it.
  void retire(const pmusim::Retirement& retirement);
  void wait(pmusim::u64 cycles, pmusim::Cpl cpl);
  void set_poll(pmusim_poll callback, void* context);
  /// Once so many instructions have been fed, it is asked whether more are to be.
  static constexpr pmusim::u64 poll_interval = 65536;
  /// Throws Misuse where the answer is no. `fed` instructions have retired.
  void poll(pmusim::u64 fed) const;
  /// Throws Misuse for what is no code, and from within itself.
  pmusim::u64 run_code(const pmusim::CodeRun& run);

  bool map(pmusim::u64 address, pmusim::u64 bytes);
  bool map(pmusim::u64 address, std::span<std::byte> bytes);
  bool unmap(pmusim::u64 address);
  const std::map<pmusim::u64, pmusim::u64>& regions() const { return regions_; }

  /// Returns its number. Throws Misuse for an event that cannot be counted.
  pmusim::u32 begin_exact_count(const pmusim::capi::TrueEvent& event);
  std::span<const std::unique_ptr<pmusim::capi::ExactCount>> exact_counts() const { return exact_counts_; }

  pmusim_snapshot snapshot() const;
  void restore(const pmusim_snapshot& snapshot);

  /// The status that a fault is to C; keeps it for pmusim_last_fault. `error_code` is that of a page fault.
  int status(pmusim::Fault fault, pmusim::u32 error_code = 0);
  /// The same of an access to a register, and keeps why for pmusim_last_error.
  int status_of_access(pmusim::Fault fault);
  int status_of_access(const pmusim::FaultOr<pmusim::u64>& read, pmusim::u64& value);
  /// Keeps why for pmusim_last_error.
  void explain(const pmusim::observed::AccessFault& fault) noexcept {
    pmusim::capi::set_last_fault(speaker_, fault);
  }
  const pmusim_fault& last_fault() const { return last_fault_; }

 private:
  void handle_pmi(const pmusim::InterruptFrame& frame) noexcept override;
  void on_retirement(const pmusim::Retirement& retirement) override;
  void attach_retirements();

  pmusim::Pmu pmu_;
  std::shared_ptr<const pmusim::Pmu> speaker_;  // of the same model: says why accesses fault
  pmusim::capi::Watcher watcher_;
  std::vector<std::unique_ptr<pmusim::capi::ExactCount>> exact_counts_;
  std::map<pmusim::u64, pmusim::u64> regions_;
  std::optional<pmusim::CodeRunner> code_;
  bool running_code_ = false;
  pmusim::explore::Cpu* run_ = nullptr;
  std::unique_ptr<pmusim::Trap> trap_;
  std::thread::id trapped_thread_;
  pmusim_pmi_handler pmi_handler_ = nullptr;
  void* pmi_context_ = nullptr;
  pmusim_poll poll_ = nullptr;
  void* poll_context_ = nullptr;
  pmusim_fault last_fault_{};
  pmusim::u64 next_ip_ = 0x401000;
  int handlers_ = 0;  // that run, one in the other
};

namespace pmusim::capi {

/// Bits of the error code that a page fault pushes (SDM vol. 3, page-fault exceptions).
inline constexpr u32 page_fault_write = 2, page_fault_user = 4;

/// Throws Misuse for what is no privilege.
Cpl cpl_of(int privilege);
inline u32 privilege_of(Cpl cpl) { return cpl == Cpl::kernel ? PMUSIM_KERNEL : PMUSIM_USER; }
/// 0 for none.
u32 vector_of(Fault fault);

/// A processor that may change now. Throws Misuse for null, and while its observer is being called.
pmusim_cpu& changeable(pmusim_cpu* cpu);

}  // namespace pmusim::capi

#endif
