// SPDX-License-Identifier: MIT
#include "trap/thread.h"

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmusim/cpu/retirement.h"
#include "trap/context.h"

namespace pmusim::trap {

namespace {

// Of a kind that needs no memory when a signal's handler is the first to ask.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread* current_thread = nullptr;

long arch_prctl(int code, u64 argument) { return syscall(SYS_arch_prctl, code, argument); }

u64 segment_base(int code) {
  u64 base = 0;
  return arch_prctl(code, reinterpret_cast<u64>(&base)) == 0 ? base : 0;
}

bool is_stepping_register(const Code& code, const Registers& registers) {
  return code.special == Special::wrmsr && static_cast<u32>(registers[Gpr::rcx]) == Trap::stepping_register;
}

/// Branches that jump whatever registers hold; the others are seen to when they went elsewhere.
bool is_taken(const x86::Instruction& instruction, u64 next_ip) {
  return instruction.branch != BranchKind::none &&
         (instruction.branch != BranchKind::conditional || next_ip != instruction.end());
}

}  // namespace

Thread::Thread(Pmu& pmu, TrapOptions options) : pmu_(pmu), options_(std::move(options)) {}

Thread* Thread::current() { return current_thread; }

Result<Done, Error> Thread::attach() {
  if (!stack_.install()) return Failure(Error("Trap: the system gives this thread no stack for its signals"));
  fs_base_ = segment_base(ARCH_GET_FS);
  gs_base_ = segment_base(ARCH_GET_GS);
  current_thread = this;
  if (options_.cpuid == TrapCpuid::emulated) traps_cpuid_ = arch_prctl(ARCH_SET_CPUID, 0) == 0;
  return Done{};
}

Thread::~Thread() {
  if (current_thread != this) return;
  if (traps_cpuid_) arch_prctl(ARCH_SET_CPUID, 1);
  current_thread = nullptr;
}

// --- signals

Verdict Thread::on_fault(ucontext_t& context) {
  Registers registers = registers_of(context);
  const Code code = code_at(registers.rip);
  const bool stepped = steps() && (registers.rflags & flags::TRAP) != 0;
  if (!may_fault(code.special) && !(code.special == Special::xgetbv && stepped)) return Verdict::foreign;

  if (is_stepping_register(code, registers)) {
    registers.rip += code.instruction.length;
    control(registers[Gpr::rax] & low_bits(32), registers);
  } else if (stepped) {
    if (!emulate(code, registers)) return Verdict::foreign;
    prepare(registers);
  } else if (!emulate_aside(code, registers)) {
    return Verdict::foreign;
  }
  set_registers(context, registers);
  return Verdict::ours;
}

// Code without TF is not what is being stepped: the handler of another signal, or where one has jumped to.
bool Thread::emulate_aside(const Code& code, Registers& registers) {
  ++nesting_;
  const bool goes_on = emulate(code, registers);
  --nesting_;
  return goes_on;
}

Verdict Thread::fault_of_another(const siginfo_t& info, const ucontext_t& context) {
  if (info.si_code != SI_KERNEL) return Verdict::foreign;
  if (code_at(registers_of(context).rip).special != Special::cpuid) return Verdict::foreign;
  return arch_prctl(ARCH_SET_CPUID, 1) == 0 ? Verdict::ours : Verdict::foreign;
}

Verdict Thread::on_step(ucontext_t& context) {
  if (!steps()) return Verdict::foreign;
  Registers registers = registers_of(context);
  retire_executed(registers);
  prepare(registers);
  set_registers(context, registers);
  return Verdict::ours;
}

void Thread::after_foreign(const ucontext_t& context) {
  if (steps()) before_ = registers_of(context);
}

void Thread::control(u64 request, Registers& registers) {
  if (nesting_ != 0) return;
  stepping_ = request != 0;
  registers.rflags &= ~flags::TRAP;
  if (!stepping_) return;
  cpl_ = request == 1 ? Cpl::kernel : Cpl::user;
  registers.rflags |= flags::TRAP;
  prepare(registers);
}

bool Thread::emulate(const Code& code, Registers& registers) {
  const Registers before = registers;
  if (const Fault fault = execute(code, registers); fault != Fault::none)
    return after_fault(fault, code, before, registers);
  registers.rip = code.instruction.end();
  if (steps()) retire(code.instruction, before, registers);
  return true;
}

bool Thread::after_fault(Fault fault, const Code& code, const Registers& before, Registers& registers) {
  registers = before;
  AfterFault after = AfterFault::deliver;
  if (options_.on_fault) in_pmu([&] { after = options_.on_fault({fault, before.rip}, registers); });
  if (after == AfterFault::deliver) return false;
  if (after == AfterFault::skip) registers.rip = code.instruction.end();
  if (steps()) registers.rflags |= flags::TRAP;
  return true;
}

// --- steps

// TF traps behind the instruction that follows SYSCALL or a load of SS, and after every iteration of a
// repeated string instruction.
void Thread::retire_executed(const Registers& after) {
  Code code = code_at(before_.rip);
  const bool went_on = after.rip != code.instruction.end();
  if ((code.special == Special::syscall || code.special == Special::load_stack_segment) && went_on) {
    Registers between = before_;
    between.rip = code.instruction.end();
    retire(code.instruction, before_, between);
    pass_boundary(between);
    before_ = between;
    code = code_at(between.rip);
  }
  if (code.instruction.rep && after.rip == code.instruction.ip) return;
  retire(code.instruction, before_, after);
}

void Thread::retire(const x86::Instruction& instruction, const Registers& before, const Registers& after) {
  std::array<MemoryAccess, 2> accesses;
  std::size_t count = 0;
  for (const x86::MemoryOperand& operand : instruction.accesses())
    accesses[count++] = {.address = x86::effective_address(instruction, operand, before, fs_base_, gs_base_),
                         .bytes = operand.bytes,
                         .kind = operand.store && !operand.load ? AccessKind::store : AccessKind::load,
                         .locked = instruction.locked};
  const bool taken = is_taken(instruction, after.rip);
  if (shadowed_ != 0) --shadowed_;
  const Registers seen = as_seen(after);
  Retirement retirement{
      .ip = instruction.ip,
      .next_ip = after.rip,
      .cycle = pmu_.now(),
      .signals = instruction.signals | outcome_signals(instruction.branch, {.taken = taken}),
      .length = instruction.length,
      .branch = instruction.branch,
      .taken = taken,
      .cpl = cpl_,
      .cpl_after = cpl_,
      .latency_cycles = 1,
      .retire_latency_cycles = 1,
      .memory = std::span(accesses).first(count),
      .registers = &seen};
  retirement.quantities[static_cast<unsigned>(Quantity::uops)] = instruction.uops;
  retirement.quantities[static_cast<unsigned>(Quantity::cycles)] = 1;
  in_pmu([&] { pmu_.retire(retirement); });
  ++retired_;
}

// In front of an instruction: time passes, a PMI may come, and what the machine would execute by itself but
// must not is executed here.
void Thread::prepare(Registers& registers) {
  for (;;) {
    pass_boundary(registers);
    const Code code = code_at(registers.rip);
    const Registers before = registers;
    if (!is_quiet(code.special) || execute(code, registers) != Fault::none) break;
    registers.rip = code.instruction.end();
    retire(code.instruction, before, registers);
  }
  before_ = registers;
}

void Thread::pass_boundary(const Registers& registers) {
  const InterruptFrame frame{.registers = as_seen(registers), .cpl = cpl_, .registers_known = true};
  in_pmu([&] {
    pmu_.wait_until(pmu_.now() + 1, frame);
    if (options_.on_boundary) options_.on_boundary(frame.registers);
  });
}

/// With the flags of the emulated processor.
Registers Thread::as_seen(Registers registers) const {
  registers.rflags &= ~(flags::TRAP | flags::INTERRUPT);
  if (interrupts_ && shadowed_ == 0) registers.rflags |= flags::INTERRUPT;
  return registers;
}

// A PMI handler's own privileged instructions arrive here while it runs; it returns with IRET, which brings
// back the flags.
template <class Call>
void Thread::in_pmu(Call call) {
  const bool interrupts = interrupts_;
  ++nesting_;
  call();
  --nesting_;
  interrupts_ = interrupts;
}

}  // namespace pmusim::trap
