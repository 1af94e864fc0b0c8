// SPDX-License-Identifier: MIT
// Faults of register accesses as sentences. What they say is the register's own row: its fields, what it
// takes, when it is there.
#include <fmt/format.h>

#include "pmu/sequencer.h"

namespace pmusim {
namespace {

using observed::AccessFault;
using observed::AccessInstruction;
using observed::FaultRule;

constexpr Field xcr0_field[] = {{~u64{0}, "components", [](const CpuModel& m, unsigned) { return m.xcr0; }}};
constexpr Register xcr0{.row = "XCR0", .fields = xcr0_field};

bool is_of_msr(const AccessFault& fault) {
  return fault.access == AccessInstruction::rdmsr || fault.access == AccessInstruction::wrmsr;
}

std::string_view instruction_of(AccessInstruction access) {
  constexpr std::string_view names[] = {"rdmsr", "wrmsr", "rdpmc", "xgetbv", "xsetbv"};
  return names[static_cast<unsigned>(access)];
}

/// The register that was meant, if the model has it.
const Register* register_of(const AccessFault& fault, const RegisterList& registers) {
  if (is_of_msr(fault)) return registers.find(fault.address);
  return fault.access == AccessInstruction::xsetbv ? &xcr0 : nullptr;
}

/// "wrmsr IA32_PMC0 (C1H) = 0x5", "rdpmc ECX 40000009H".
std::string access_text(const AccessFault& fault, const Register* known) {
  const std::string name = known != nullptr ? known->name() : PmuRegisters::name_of_row(fault.address);
  std::string text(instruction_of(fault.access));
  if (!is_of_msr(fault))
    text += fmt::format(" ECX {:X}H", fault.address);
  else if (name.empty())
    text += fmt::format(" {:X}H", fault.address);
  else
    text += fmt::format(" {} ({:X}H)", name, fault.address);
  const bool writes = fault.access == AccessInstruction::wrmsr || fault.access == AccessInstruction::xsetbv;
  return writes ? text + fmt::format(" = {:#x}", fault.value) : text;
}

/// "63:52, 5 and 3:0".
std::string bit_list(u64 mask) {
  std::vector<std::string> runs;
  for (unsigned high = 64; high-- > 0;) {
    if ((mask & bit(high)) == 0) continue;
    unsigned low = high;
    while (low > 0 && (mask & bit(low - 1)) != 0) --low;
    runs.push_back(low == high ? fmt::format("{}", high) : fmt::format("{}:{}", high, low));
    high = low;
  }
  std::string list;
  for (std::size_t n = 0; n < runs.size(); ++n)
    list += (n == 0 ? "" : n + 1 == runs.size() ? " and " : ", ") + runs[n];
  return list;
}

std::string bits_text(u64 mask) { return (std::has_single_bit(mask) ? "bit " : "bits ") + bit_list(mask); }

/// "bit 4 is reserved on Skylake (enable PMCn (bit n): bits 3:0)": what the model has of the fields that
/// these bits belong to.
std::string reserved_text(const AccessFault& fault, const CpuModel& model, const Register& known) {
  std::string had;
  for (const Field& field : known.fields) {
    if ((fault.bits & field.mask) == 0) continue;
    const u64 on = field.bits_on(model, known.number);
    had += fmt::format("{}{}: {}", had.empty() ? "" : "; ", field.name, on == 0 ? "none" : bits_text(on));
  }
  return fmt::format("{} {} reserved on {}{}", bits_text(fault.bits),
                     std::has_single_bit(fault.bits) ? "is" : "are", model.title,
                     had.empty() ? "" : " (" + had + ")");
}

/// "Skylake has no such counter: 4 general-purpose and 3 fixed ones".
std::string absent_text(const AccessFault& fault, const CpuModel& model) {
  if (fault.access != AccessInstruction::rdpmc) return model.title + " has no such register";
  return fmt::format("{} has no such counter, but {} general-purpose and {} fixed ones", model.title,
                     std::popcount(model.usable_gp_counters()), std::popcount(model.usable_fixed_counters()));
}

std::string reason_text(const AccessFault& fault, const CpuModel& model, const Register* known) {
  switch (fault.rule) {
    case FaultRule::exists:
      return absent_text(fault, model);
    case FaultRule::present:
      return std::string(known->present);
    case FaultRule::readable:
      return "the register is write-only";
    case FaultRule::writable:
      return "the register is read-only";
    case FaultRule::reserved:
      return reserved_text(fault, model, *known);
    case FaultRule::value:
      return std::string(is_of_msr(fault) ? known->takes : broken_xcr0_rule(fault.value));
    case FaultRule::privileged:
      return fault.access == AccessInstruction::rdpmc ? "CR4.PCE is clear, and the code is not at ring 0"
                                                      : "the code is not at ring 0";
    case FaultRule::enabled:
      break;
  }
  return model.xcr0 == 0 ? model.title + " has no XSAVE" : "CR4.OSXSAVE is clear";
}

}  // namespace

std::string Pmu::why(const AccessFault& fault) const {
  if (fault.fault == Fault::none) return "";
  const Register* const known = register_of(fault, registers());
  return fmt::format("{}: {}: {}", access_text(fault, known), name_of(fault.fault),
                     reason_text(fault, model(), known));
}

std::string Pmu::why() const { return why(last_fault()); }

const AccessFault& Pmu::last_fault() const { return sequencer_->last_fault(); }

}  // namespace pmusim
