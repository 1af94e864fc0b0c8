// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_CPU_H
#define PMUSIM_SRC_CAPI_CPU_H

#include "capi/error.h"
#include "pmusim/pmu/pmu.h"

/// A processor as C has it: a Pmu, and the callbacks that stand for the interfaces of C++.
struct pmusim_cpu final : private pmusim::PmiHandler {
 public:
  explicit pmusim_cpu(pmusim::CpuModel model);
  pmusim_cpu(const pmusim_cpu&) = delete;
  pmusim_cpu& operator=(const pmusim_cpu&) = delete;
  ~pmusim_cpu() override = default;

  pmusim::Pmu& pmu() { return pmu_; }
  const pmusim::Pmu& pmu() const { return pmu_; }

  void set_pmi_handler(pmusim_pmi_handler handler, void* context);
  /// Whether one of its callbacks is running.
  bool in_callback() const { return callbacks_ != 0; }

  /// Where the instructions that come next begin, if they do not say it.
  pmusim::u64 next_ip() const { return next_ip_; }
  void set_next_ip(pmusim::u64 ip) { next_ip_ = ip; }
  /// Retires an instruction, and goes on behind it.
  void retire(const pmusim::Retirement& retirement);

  /// The status that a fault is to C; keeps it for pmusim_last_fault. `error_code` is that of a page fault.
  int status(pmusim::Fault fault, pmusim::u32 error_code = 0);
  /// The same of a read, whose value goes to `value`.
  int status(const pmusim::Faulty<pmusim::u64>& read, pmusim::u64& value);
  const pmusim_fault& last_fault() const { return last_fault_; }

 private:
  void handle_pmi(const pmusim::InterruptFrame& frame) override;

  pmusim::Pmu pmu_;
  pmusim_pmi_handler pmi_handler_ = nullptr;
  void* pmi_context_ = nullptr;
  pmusim_fault last_fault_{};
  pmusim::u64 next_ip_ = 0x401000;
  int callbacks_ = 0;  // that run, one in the other
};

namespace pmusim::capi {

/// Bits of the error code that a page fault pushes (SDM vol. 3, page-fault exceptions).
inline constexpr u32 page_fault_write = 2, page_fault_user = 4;

/// Throws Misuse for what is no ring.
Cpl cpl_of(int ring);
inline u32 ring_of(Cpl cpl) { return cpl == Cpl::kernel ? PMUSIM_RING_0 : PMUSIM_RING_3; }

}  // namespace pmusim::capi

#endif
