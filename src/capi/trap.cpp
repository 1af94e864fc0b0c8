// SPDX-License-Identifier: MIT
// Privileged instructions of the process.
#include "pmusim/trap/trap.h"

#include <fmt/format.h>

#include <algorithm>

#include "capi/cpu.h"

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::require;

static_assert(static_cast<u32>(PMUSIM_STEPPING_REGISTER) == Trap::stepping_register);

namespace pmusim::capi {
namespace {

AfterFault after(int answer) {
  if (answer == PMUSIM_FAULT_SKIP) return AfterFault::skip;
  return answer == PMUSIM_FAULT_RESUME ? AfterFault::resume : AfterFault::deliver;
}

/// Calls a handler in C. Of a page fault nobody knows whether it was a read.
TrapFaultHandler handler_of(pmusim_cpu& cpu, const pmusim_trap_options& options) {
  if (options.on_fault == nullptr) return {};
  return [&cpu, options](const TrapFault& fault, Registers& registers) {
    static_cast<void>(cpu.status(fault.fault));
    if (fault.access.fault != Fault::none) cpu.explain(fault.access);
    const pmusim_fault last = cpu.last_fault();
    pmusim_registers shown{.rip = registers.rip, .rflags = registers.rflags};
    std::ranges::copy(registers.gpr, shown.gpr);
    const int answer = options.on_fault(&cpu, &last, &shown, options.context);
    std::ranges::copy(shown.gpr, registers.gpr.begin());
    registers.rip = shown.rip;
    registers.rflags = shown.rflags;
    return after(answer);
  };
}

TrapOptions trap_options_of(pmusim_cpu& cpu, const pmusim_trap_options* given) {
  if (given == nullptr) return {};
  if (given->cpuid > PMUSIM_CPUID_EMULATED)
    throw Misuse(fmt::format("cpuid is {}: expected a value of pmusim_trap_cpuid", given->cpuid));
  if (given->timing > PMUSIM_TIMING_CORE)
    throw Misuse(fmt::format("timing is {}: expected a value of pmusim_trap_timing", given->timing));
  TrapOptions options;
  options.timing = given->timing == PMUSIM_TIMING_CORE ? TrapTiming::core : TrapTiming::flat;
  options.cpuid = given->cpuid == PMUSIM_CPUID_EMULATED ? TrapCpuid::emulated : TrapCpuid::native;
  options.on_fault = handler_of(cpu, *given);
  return options;
}

/// Throws Misuse where there is none.
template <class Cpu>
auto& trap_of(Cpu* cpu) {
  if (require(cpu, "cpu").trap() == nullptr) throw Misuse("no thread's instructions go to the processor");
  return *cpu->trap();
}

}  // namespace
}  // namespace pmusim::capi

int pmusim_trap_enable(pmusim_cpu* cpu, const pmusim_trap_options* options) {
  return guarded("pmusim_trap_enable", [&] {
    changeable(cpu).enable_trap(capi::trap_options_of(*cpu, options));
    return PMUSIM_OK;
  });
}

int pmusim_trap_disable(pmusim_cpu* cpu) {
  return guarded("pmusim_trap_disable", [&] {
    changeable(cpu).disable_trap();
    return PMUSIM_OK;
  });
}

int pmusim_trap_retake_signals(pmusim_cpu* cpu) {
  return guarded("pmusim_trap_retake_signals", [&] {
    capi::trap_of(cpu).retake_signals();
    return PMUSIM_OK;
  });
}

int pmusim_trap_retired(const pmusim_cpu* cpu, uint64_t* instructions) {
  return guarded("pmusim_trap_retired", [&] {
    u64& out = require(instructions, "instructions");
    out = capi::trap_of(cpu).retired();
    return PMUSIM_OK;
  });
}
