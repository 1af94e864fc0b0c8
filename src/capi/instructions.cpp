// SPDX-License-Identifier: MIT
// What ring 0 executes: register accesses, CPUID, the XSAVE family.
#include <fmt/format.h>

#include "capi/cpu.h"

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::Misuse;
using capi::require;

int pmusim_rdmsr(pmusim_cpu* cpu, uint32_t address, uint64_t* value) {
  return guarded("pmusim_rdmsr", [&] {
    u64& out = require(value, "value");
    return require(cpu, "cpu").status_of_access(cpu->bus().rdmsr(address), out);
  });
}

int pmusim_wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value) {
  return guarded("pmusim_wrmsr",
                 [&] { return changeable(cpu).status_of_access(cpu->bus().wrmsr(address, value)); });
}

int pmusim_rdpmc(pmusim_cpu* cpu, uint32_t ecx, int privilege, uint64_t* value) {
  return guarded("pmusim_rdpmc", [&] {
    u64& out = require(value, "value");
    const Cpl cpl = capi::cpl_of(privilege);
    require(cpu, "cpu").pass_boundary();
    return cpu->status_of_access(cpl == Cpl::kernel ? cpu->bus().rdpmc(ecx) : cpu->pmu().rdpmc(ecx, cpl),
                                 out);
  });
}

int pmusim_rdtsc(pmusim_cpu* cpu, uint64_t* value) {
  return guarded("pmusim_rdtsc", [&] {
    require(value, "value") = require(cpu, "cpu").bus().rdtsc();
    return PMUSIM_OK;
  });
}

int pmusim_cpuid(pmusim_cpu* cpu, uint32_t leaf, uint32_t subleaf, pmusim_cpuid_result* result) {
  return guarded("pmusim_cpuid", [&] {
    pmusim_cpuid_result& out = require(result, "result");
    const CpuidResult answer = require(cpu, "cpu").bus().cpuid(leaf, subleaf);
    out = {.eax = answer.eax, .ebx = answer.ebx, .ecx = answer.ecx, .edx = answer.edx};
    return PMUSIM_OK;
  });
}

int pmusim_set_control(pmusim_cpu* cpu, uint32_t control) {
  return guarded("pmusim_set_control", [&] {
    constexpr u32 known = PMUSIM_CR4_PCE | PMUSIM_CR4_OSXSAVE | PMUSIM_CR0_TS;
    if ((control & ~known) != 0)
      throw Misuse(fmt::format("control is {:#x}: expected a sum of values of pmusim_control", control));
    Pmu& pmu = changeable(cpu).pmu();
    pmu.set_user_rdpmc((control & PMUSIM_CR4_PCE) != 0 ? UserRdpmc::allowed : UserRdpmc::forbidden);
    pmu.set_xsave_control(
        {.os_enabled = (control & PMUSIM_CR4_OSXSAVE) != 0, .task_switched = (control & PMUSIM_CR0_TS) != 0});
    return PMUSIM_OK;
  });
}

int pmusim_xgetbv(pmusim_cpu* cpu, uint32_t ecx, uint64_t* value) {
  return guarded("pmusim_xgetbv", [&] {
    u64& out = require(value, "value");
    return require(cpu, "cpu").status_of_access(cpu->bus().xgetbv(ecx), out);
  });
}

int pmusim_xsetbv(pmusim_cpu* cpu, uint32_t ecx, uint64_t value) {
  return guarded("pmusim_xsetbv",
                 [&] { return changeable(cpu).status_of_access(cpu->bus().xsetbv(ecx, value)); });
}

namespace pmusim::capi {
namespace {

Fault execute(Pmu& pmu, int which, const XsaveOperands& operands) {
  switch (which) {
    case PMUSIM_XSAVE:
      return pmu.save(SaveInstruction::xsave, operands);
    case PMUSIM_XSAVEOPT:
      return pmu.save(SaveInstruction::xsaveopt, operands);
    case PMUSIM_XSAVEC:
      return pmu.save(SaveInstruction::xsavec, operands);
    case PMUSIM_XSAVES:
      return pmu.save(SaveInstruction::xsaves, operands);
    case PMUSIM_XRSTOR:
      return pmu.restore(RestoreInstruction::xrstor, operands);
    case PMUSIM_XRSTORS:
      return pmu.restore(RestoreInstruction::xrstors, operands);
  }
  throw Misuse(fmt::format("{} is none of pmusim_xsave_instruction", which));
}

u32 page_fault_code(int which, Cpl cpl) {
  return (which <= PMUSIM_XSAVES ? page_fault_write : 0) | (cpl == Cpl::user ? page_fault_user : 0);
}

/// The first of the conditions that the instruction demands, as SDM vol. 2 lists them, and that is not there.
std::string why(int which, const XsaveOperands& operands, Fault fault) {
  if (fault == Fault::ud) return "#UD: the model has no such instruction, or CR4.OSXSAVE is clear";
  if (fault == Fault::nm) return "#NM: CR0.TS is set, or IA32_XFD disables a component";
  const std::string area = fmt::format("{}: the area at {:#x} ", name_of(fault), operands.address);
  if (fault == Fault::pf) return area + "is not mapped to its end";
  const bool supervisor = which == PMUSIM_XSAVES || which == PMUSIM_XRSTORS;
  if (supervisor && operands.cpl != Cpl::kernel) return "#GP: XSAVES and XRSTORS are ring 0's";
  if (operands.address % xsave::alignment_bytes != 0) return area + "is not aligned to 64 bytes";
  if (!is_canonical(operands.address)) return area + "is not at a canonical address";
  return area + "has reserved bits in its header, or in what it has for a register";
}

}  // namespace
}  // namespace pmusim::capi

int pmusim_xsave(pmusim_cpu* cpu, int which, uint64_t address, uint64_t features, int privilege) {
  return guarded("pmusim_xsave", [&] {
    const Cpl cpl = capi::cpl_of(privilege);
    changeable(cpu).pass_boundary();
    const XsaveOperands operands{.address = address, .features = features, .cpl = cpl};
    const Fault fault = capi::execute(cpu->pmu(), which, operands);
    if (fault != Fault::none) capi::set_last_error("pmusim_xsave", capi::why(which, operands, fault));
    return cpu->status(fault, capi::page_fault_code(which, cpl));
  });
}
