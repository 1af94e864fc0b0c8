// SPDX-License-Identifier: MIT
#include "observe/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "pmusim/base/types.h"

namespace pmusim::observe {

std::string_view name_of(observed::AccessInstruction access) {
  switch (access) {
    case observed::AccessInstruction::rdmsr:
      return "rdmsr";
    case observed::AccessInstruction::wrmsr:
      return "wrmsr";
    case observed::AccessInstruction::xgetbv:
      return "xgetbv";
    case observed::AccessInstruction::xsetbv:
      return "xsetbv";
    case observed::AccessInstruction::rdpmc:
      break;
  }
  return "rdpmc";
}

std::string_view name_of(observed::ReloadCause cause) {
  return cause == observed::ReloadCause::acr ? "acr" : "pebs";
}

std::string_view name_of(observed::FrozenUnit unit) {
  return unit == observed::FrozenUnit::lbr ? "lbr" : "counters";
}

std::string_view name_of(observed::PmiCause cause) {
  switch (cause) {
    case observed::PmiCause::overflow:
      return "overflow";
    case observed::PmiCause::pebs_threshold:
      return "pebs-threshold";
    case observed::PmiCause::ibs_sample:
      return "ibs-sample";
    case observed::PmiCause::bts_threshold:
      break;
  }
  return "bts-threshold";
}

std::string_view name_of(observed::PmiFate fate) {
  switch (fate) {
    case observed::PmiFate::on_its_way:
      return "on-its-way";
    case observed::PmiFate::merged:
      return "merged";
    case observed::PmiFate::lost:
      break;
  }
  return "lost";
}

std::string_view name_of(AssistOutcome outcome) {
  switch (outcome) {
    case AssistOutcome::wrote:
      return "written";
    case AssistOutcome::full:
      return "full";
    case AssistOutcome::index_before_base:
      return "index-before-base";
    case AssistOutcome::unmapped:
      return "unmapped";
    case AssistOutcome::misaligned:
      return "misaligned";
    case AssistOutcome::no_area:
      return "no-area";
    case AssistOutcome::processor_trace:
      return "processor-trace";
    case AssistOutcome::count_:
      break;
  }
  return "";
}

std::string kind_name(BranchKind kind) {
  std::string name(pmusim::name_of(kind));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

bool is_of_msr(observed::AccessInstruction access) {
  return access == observed::AccessInstruction::rdmsr || access == observed::AccessInstruction::wrmsr;
}
bool is_write(observed::AccessInstruction access) {
  return access == observed::AccessInstruction::wrmsr || access == observed::AccessInstruction::xsetbv;
}

std::string counter_name(unsigned counter) {
  constexpr unsigned first_fixed = 32, metrics = 48;
  if (counter == metrics) return "metrics";
  return counter < first_fixed ? fmt::format("gp{}", counter) : fmt::format("fixed{}", counter - first_fixed);
}

std::string counter_names(u64 counters) {
  std::string names;
  for (const unsigned counter : set_bits(counters))
    names += (names.empty() ? "" : ",") + counter_name(counter);
  return names;
}

std::string RegisterNames::operator()(u32 address) const {
  const Register* const known = pmu_ != nullptr ? pmu_->registers().find(address) : nullptr;
  return known != nullptr ? known->name() : fmt::format("{:#x}", address);
}

}  // namespace pmusim::observe
