// SPDX-License-Identifier: MIT
#include "host/traps.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/machine.h"

namespace pmusim::linux_driver {

namespace {

using Registers = greg_t[NGREG];

constexpr long long ud2_bytes = 2;

Registers& registers_of(void* context) { return static_cast<ucontext_t*>(context)->uc_mcontext.gregs; }

/// The trap is synchronous: what stands interrupted is the kernel's code, never the C library's.
void on_illegal_instruction(int, siginfo_t*, void* context) {
  auto& rip = registers_of(context)[REG_RIP];
  const char* file = nullptr;
  unsigned line = 0;
  int is_warning = 0;
  if (linux_find_bug(static_cast<unsigned long>(rip), &file, &line, &is_warning) == 0) {
    std::fprintf(stderr, "pmusim-linux: illegal instruction at %#llx\n", rip);
    std::_Exit(3);
  }
  const Trap trap{.file = file, .line = line, .is_warning = is_warning != 0};
  KernelMachine::present().trapped(trap);
  rip += ud2_bytes;
  if (trap.is_warning) return;
  std::fprintf(stderr, "pmusim-linux: %s\n", text_of(trap).c_str());
  std::_Exit(3);
}

const void* pointer_of(greg_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

u64 pair_of(greg_t high, greg_t low) { return static_cast<u64>(high) << 32 | static_cast<u32>(low); }

/// RDMSR or WRMSR as they stand in the kernel's code. Linux: branch sampling of AMD goes past the table.
bool executes_msr_access(Registers& registers) {
  enum : u16 { wrmsr = 0x300F, rdmsr = 0x320F };
  const void* const at = pointer_of(registers[REG_RIP]);
  const auto address = static_cast<u32>(registers[REG_RCX]);
  u16 opcode = 0;
  std::memcpy(&opcode, at, sizeof opcode);
  if (opcode == wrmsr) {
    host_wrmsr(address, pair_of(registers[REG_RDX], registers[REG_RAX]), at);
  } else if (opcode == rdmsr) {
    pmusim_u64 value = 0;
    host_rdmsr(address, &value, at);
    registers[REG_RAX] = static_cast<u32>(value);
    registers[REG_RDX] = static_cast<greg_t>(value >> 32);
  } else {
    return false;
  }
  registers[REG_RIP] += sizeof opcode;
  return true;
}

/// A privileged instruction is a general-protection fault, which has no address.
void on_fault(int, siginfo_t* fault, void* context) {
  if (fault->si_code == SI_KERNEL && executes_msr_access(registers_of(context))) return;
  signal(SIGSEGV, SIG_DFL);
}

void on_signal(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(number, &action, nullptr);
}

}  // namespace

void catch_traps() {
  on_signal(SIGILL, on_illegal_instruction);
  on_signal(SIGSEGV, on_fault);
}

}  // namespace pmusim::linux_driver
