// SPDX-License-Identifier: MIT
// What the kernel asks of its machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/machine.h"
#include "pmusim/arch/msr.h"

namespace {

using namespace pmusim;
using linux_driver::Access;
using linux_driver::KernelMachine;

u64 number_of(const void* address) { return reinterpret_cast<u64>(address); }

int tell(Access::Kind kind, u32 address, u64 value, bool faulted, const void* caller) {
  KernelMachine::present().on_access(
      {.kind = kind, .address = address, .value = value, .faulted = faulted, .caller = number_of(caller)});
  return faulted ? 1 : 0;
}

int forwarded_read(Access::Kind kind, u32 address, const FaultOr<u64>& result, pmusim_u64* value,
                   const void* caller) {
  *value = result.ok() ? *result : 0;
  return tell(kind, address, *value, !result.ok(), caller);
}

}  // namespace

extern "C" {

int host_rdmsr(pmusim_u32 address, pmusim_u64* value, const void* caller) {
  return forwarded_read(Access::Kind::rdmsr, address, KernelMachine::present().running().bus().rdmsr(address),
                        value, caller);
}

int host_wrmsr(pmusim_u32 address, pmusim_u64 value, const void* caller) {
  const bool faulted = KernelMachine::present().running().bus().wrmsr(address, value) != Fault::none;
  return tell(Access::Kind::wrmsr, address, value, faulted, caller);
}

int host_rdpmc(pmusim_u32 counter, pmusim_u64* value, const void* caller) {
  return forwarded_read(Access::Kind::rdpmc, counter, KernelMachine::present().running().bus().rdpmc(counter),
                        value, caller);
}

void host_cpuid(pmusim_u32 leaf, pmusim_u32 subleaf, pmusim_u32* words) {
  const CpuidResult result = KernelMachine::present().pmu().cpuid(leaf, subleaf);
  words[0] = result.eax;
  words[1] = result.ebx;
  words[2] = result.ecx;
  words[3] = result.edx;
}

void host_xsaves(void* area, pmusim_u64 features) {
  if (KernelMachine::present().running().bus().xsaves(number_of(area), features) != Fault::none)
    host_print("XSAVES faulted");
}
void host_xrstors(const void* area, pmusim_u64 features) {
  if (KernelMachine::present().running().bus().xrstors(number_of(area), features) != Fault::none)
    host_print("XRSTORS faulted");
}

pmusim_u64 host_now_ns() { return KernelMachine::present().now(); }
pmusim_u32 host_clock_multiplier() { return KernelMachine::present().clock().mult; }
pmusim_u32 host_clock_shift() { return KernelMachine::present().clock().shift; }

unsigned long host_read_user(void* to, pmusim_u64 address, unsigned long bytes) {
  const std::vector<std::byte> got = KernelMachine::present().read_user(address, bytes);
  std::memcpy(to, got.data(), std::min<std::size_t>(got.size(), bytes));
  return std::min<std::size_t>(got.size(), bytes);
}

void host_write_apic(pmusim_u32 offset, pmusim_u32 value, const void* caller) {
  KernelMachine& machine = KernelMachine::present();
  if (machine.model().has_x2apic) {
    host_wrmsr(0x800 + offset / 16, value, caller);
    return;
  }
  const u64 base = msr::lvtpc::XAPIC_ADDRESS & ~u64{0xFFF};
  static_cast<void>(machine.running().bus().write_memory(base + offset, std::as_bytes(std::span(&value, 1))));
}

void host_enter_cpu(pmusim_u32 cpu, unsigned long base) { KernelMachine::present().run_on(cpu, base); }

void host_print(const char* line) { KernelMachine::present().on_print(line); }

void host_warned(const char* file, unsigned line) {
  KernelMachine::present().trapped({.file = file, .line = line, .is_warning = true});
}

void host_missing(const char* function) {
  std::fprintf(stderr, "pmusim-linux: the kernel called %s(), which this program does not give it\n",
               function);
  std::_Exit(3);
}

}  // extern "C"
