// SPDX-License-Identifier: MIT
// What the emulated processor executes itself (SDM vol. 2).
#include <cstring>

#include "trap/context.h"
#include "trap/thread.h"

namespace pmusim::trap {

namespace {

u32 low_half(const Registers& registers, Gpr r) { return static_cast<u32>(registers[r]); }

u64 edx_eax(const Registers& registers) {
  return u64{low_half(registers, Gpr::rdx)} << 32 | low_half(registers, Gpr::rax);
}
void set_edx_eax(Registers& registers, u64 value) {
  registers[Gpr::rax] = value & low_bits(32);
  registers[Gpr::rdx] = value >> 32;
}
Fault load(Registers& registers, const FaultOr<u64>& value) {
  if (!value.ok()) return value.error();
  set_edx_eax(registers, *value);
  return Fault::none;
}
void load(Registers& registers, const CpuidResult& result) {
  registers[Gpr::rax] = result.eax;
  registers[Gpr::rbx] = result.ebx;
  registers[Gpr::rcx] = result.ecx;
  registers[Gpr::rdx] = result.edx;
}

}  // namespace

Fault Thread::execute(const Code& code, Registers& registers) {
  registers.rip = code.instruction.end();
  if (is_privileged(code.special)) return execute_privileged(code, registers);
  if (is_transactional(code.special)) return execute_transactional(code, registers);
  return execute_quiet(code, registers);
}

Fault Thread::execute_privileged(const Code& code, Registers& registers) {
  const u32 ecx = low_half(registers, Gpr::rcx);
  if (code.special == Special::rdpmc) return load(registers, pmu_.rdpmc(ecx, cpl()));
  if (cpl() != Cpl::kernel) return Fault::gp;
  switch (code.special) {
    case Special::rdmsr:
      return load(registers, pmu_.rdmsr(ecx));
    case Special::wrmsr:
      return pmu_.wrmsr(ecx, edx_eax(registers));
    case Special::xsetbv:
      return pmu_.xsetbv(ecx, edx_eax(registers));
    case Special::xsaves:
    case Special::xrstors:
      return move_state(code, registers);
    case Special::sti:
      if (!interrupts_ && steps()) shadowed_ = 2;
      interrupts_ = true;
      return Fault::none;
    default:  // CLI
      interrupts_ = false;
      return Fault::none;
  }
}

Fault Thread::execute_quiet(const Code& code, Registers& registers) {
  switch (code.special) {
    case Special::cpuid:
      load(registers, pmu_.cpuid(low_half(registers, Gpr::rax), low_half(registers, Gpr::rcx)));
      return Fault::none;
    case Special::xgetbv:
      return load(registers, pmu_.xgetbv(low_half(registers, Gpr::rcx)));
    case Special::rdtscp:
      if (const FaultOr<u64> aux = pmu_.rdmsr(msr::TSC_AUX); aux.ok()) registers[Gpr::rcx] = *aux;
      set_edx_eax(registers, pmu_.tsc());
      return Fault::none;
    case Special::rdtsc:
      set_edx_eax(registers, pmu_.tsc());
      return Fault::none;
    case Special::pushf:
      push_flags(registers);
      return Fault::none;
    default:  // POPF
      pop_flags(registers);
      return Fault::none;
  }
}

// Each transaction aborts where it begins, as with IA32_TSX_CTRL.RTM_DISABLE: EAX names no reason. So none is
// ever under way.
Fault Thread::execute_transactional(const Code& code, Registers& registers) const {
  if (!pmu_.model().rtm) return Fault::ud;
  switch (code.special) {
    case Special::xbegin:
      registers[Gpr::rax] = 0;
      registers.rip = code.instruction.target;
      return Fault::none;
    case Special::xtest:
      registers.rflags = (registers.rflags & ~flags::ARITHMETIC) | flags::ZERO;
      return Fault::none;
    case Special::xend:
      return Fault::gp;
    default:  // XABORT
      return Fault::none;
  }
}

/// The access to a register that faulted, of an instruction that has one.
observed::AccessFault Thread::access_fault(const Code& code, const Registers& registers) const {
  observed::AccessFault access{
      .cycle = pmu_.now(), .address = low_half(registers, Gpr::rcx), .rule = observed::FaultRule::privileged};
  switch (code.special) {
    case Special::wrmsr:
      access.access = observed::AccessInstruction::wrmsr;
      access.value = edx_eax(registers);
      break;
    case Special::xsetbv:
      access.access = observed::AccessInstruction::xsetbv;
      access.value = edx_eax(registers);
      break;
    case Special::rdmsr:
      break;
    case Special::rdpmc:
    case Special::xgetbv:
      return pmu_.last_fault();
    default:
      return {.fault = Fault::none};
  }
  return cpl() == Cpl::kernel ? pmu_.last_fault() : access;
}

Fault Thread::move_state(const Code& code, const Registers& registers) {
  const auto operands = code.instruction.accesses();
  if (operands.empty()) return Fault::ud;
  const u64 area = x86::effective_address(code.instruction, operands[0], registers, fs_base_, gs_base_);
  const u64 features = edx_eax(registers);
  return code.special == Special::xsaves ? pmu_.xsaves(area, features) : pmu_.xrstors(area, features);
}

// Software must not see that it is stepped.
void Thread::push_flags(Registers& registers) const {
  u64 pushed = registers.rflags & ~(flags::TRAP | flags::INTERRUPT);
  if (interrupts_) pushed |= flags::INTERRUPT;
  registers[Gpr::rsp] -= sizeof pushed;
  std::memcpy(reinterpret_cast<void*>(registers[Gpr::rsp]), &pushed, sizeof pushed);
}

void Thread::pop_flags(Registers& registers) {
  u64 popped = 0;
  std::memcpy(&popped, reinterpret_cast<const void*>(registers[Gpr::rsp]), sizeof popped);
  registers[Gpr::rsp] += sizeof popped;
  registers.rflags = (registers.rflags & ~flags::POPPED) | (popped & flags::POPPED);
  if (cpl_ == Cpl::kernel) interrupts_ = (popped & flags::INTERRUPT) != 0;
}

}  // namespace pmusim::trap
