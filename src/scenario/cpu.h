// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SCENARIO_CPU_H
#define PMUSIM_SCENARIO_CPU_H

#include "pmusim/pmu/pmu.h"
#include "scenario/words.h"

namespace pmusim::scenario {

/// What an expectation found, where it differs.
struct Mismatch {
  std::string expected, found;
  std::string why;  ///< of a fault that was found
};
using Checked = std::optional<Mismatch>;

/// A CPU and the handler of its PMIs, which do what statements say.
class Cpu final : public PmiHandler {
 public:
  /// `mapped_bytes`: of the machine's memory.
  Cpu(Pmu& pmu, u64& mapped_bytes) : pmu_(pmu), mapped_bytes_(mapped_bytes) { pmu_.set_pmi_handler(this); }
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  // Each executes a statement whose first word is its name, and takes the words behind it.
  Checked wrmsr(Words& words);
  Checked rdmsr(Words& words);
  Checked rdpmc(Words& words);
  Checked cpuid(Words& words);
  Checked memory(Words& words);
  Checked write(Words& words);
  Checked read(Words& words);
  Checked retire(Words& words);
  Checked wait(Words& words);
  Checked pmi(Words& words);
  Checked pmis(Words& words);
  Checked pmi_ip(Words& words);
  Checked debug_exception(Words& words);
  Checked xsetbv(Words& words);
  template <SaveInstruction which>
  Checked save(Words& words);
  template <RestoreInstruction which>
  Checked restore(Words& words);
  Checked reset(Words& words);

  void handle_pmi(const InterruptFrame& frame) override;

 private:
  Checked with_reason(Checked checked, Fault found) const;
  u32 address_of(std::string_view name) const;
  u64 value_for(u32 address, std::string_view word) const;
  u64 term_value(const Register* known, std::string_view term) const;

  Pmu& pmu_;
  u64& mapped_bytes_;
  u64 pmis_ = 0;
  u64 pmi_ip_ = 0;       ///< where the last one came
  bool unmasks_ = true;  ///< the handler writes LVTPC, as drivers do at its end
  u64 next_ip_ = 0x401000;
};

}  // namespace pmusim::scenario

#endif
