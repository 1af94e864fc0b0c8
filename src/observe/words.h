// SPDX-License-Identifier: MIT
#ifndef PMUSIM_OBSERVE_WORDS_H
#define PMUSIM_OBSERVE_WORDS_H

#include <string>
#include <string_view>

#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

/// The words that logs and timelines have for what is observed.
namespace pmusim::observe {

std::string_view name_of(observed::AccessInstruction access);
std::string_view name_of(observed::ReloadCause cause);
std::string_view name_of(observed::FrozenUnit unit);
std::string_view name_of(observed::PmiCause cause);
std::string_view name_of(observed::PmiFate fate);
std::string_view name_of(AssistOutcome outcome);

/// Whether its address is that of an MSR and not an ECX; whether it has a value.
bool is_of_msr(observed::AccessInstruction access);
bool is_write(observed::AccessInstruction access);

/// A kind of branch in the words of scenarios: "direct-jump".
std::string kind_name(BranchKind kind);

/// "gp0", "fixed1", "metrics".
std::string counter_name(unsigned counter);
/// "gp0,fixed1".
std::string counter_names(u64 counters);

/// The names of the registers of the Pmu that is observed.
class RegisterNames {
 public:
  void use(const Pmu& pmu) { pmu_ = &pmu; }
  /// The SDM's name, or the address where nobody knows it.
  std::string operator()(u32 address) const;
  /// Why an access faulted.
  std::string why(const observed::AccessFault& fault) const {
    return pmu_ != nullptr ? pmu_->why(fault) : "";
  }

 private:
  const Pmu* pmu_ = nullptr;
};

}  // namespace pmusim::observe

#endif
