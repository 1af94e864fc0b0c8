// SPDX-License-Identifier: MIT
// Machine code as bytes on an emulated CPU: what ring 0 alone counts, and what CLFLUSH does to a load.
#include <array>
#include <cstdio>
#include <vector>

#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/replay/replay.h"

using namespace pmusim;

namespace {

constexpr u64 os = msr::evtsel::EN | msr::evtsel::OS, both_rings = os | msr::evtsel::USR;
constexpr u64 instructions = 0xC0, l1_misses = 0x08D1;

std::vector<std::byte> code_of(std::initializer_list<int> values) {
  std::vector<std::byte> code;
  for (const int value : values) code.push_back(static_cast<std::byte>(value));
  return code;
}

bool write(Pmu& pmu, u32 address, u64 value) {
  if (pmu.wrmsr(address, value) == Fault::none) return true;
  std::puts(pmu.why().c_str());
  return false;
}

/// mov (%rdi),%rax; clflush (%rdi); mov (%rdi),%rax: with RDI, and at a ring.
bool load_flush_load(CodeRunner& runner, u64 rdi, Cpl cpl) {
  static const std::vector<std::byte> code = code_of({0x48, 0x8B, 0x07, 0x0F, 0xAE, 0x3F, 0x48, 0x8B, 0x07});
  const std::array<u64, 2> addresses{0x10000, 0x10000};
  std::array<Registers, 3> registers{};
  for (Registers& one : registers) one[Gpr::rdi] = rdi;
  const auto run =
      runner.run({.ip = 0x401000, .code = code, .addresses = addresses, .cpl = cpl, .registers = registers});
  if (!run.ok()) std::puts(run.error().message.c_str());
  return run.ok();
}

}  // namespace

int main() {
  const auto model = find_cpu_model("skylake");
  if (!model.ok()) return std::puts(model.error().message.c_str()), 2;
  Pmu pmu(*model);
  auto runner = CodeRunner::create(*model);
  if (!runner.ok()) return std::puts(runner.error().message.c_str()), 2;
  runner->attach(pmu);
  if (!write(pmu, msr::PERFEVTSEL0, os | instructions) ||
      !write(pmu, msr::PERFEVTSEL0 + 1, both_rings | l1_misses) || !write(pmu, msr::PERF_GLOBAL_CTRL, 3))
    return 2;

  if (!load_flush_load(*runner, 0x20000, Cpl::user)) return 2;  // another line is flushed: 1 miss, the first
  const u64 first = pmu.rdmsr(msr::PMC0 + 1).value_or(0);
  if (!load_flush_load(*runner, 0x10000, Cpl::kernel)) return 2;  // the second load misses
  const u64 misses = pmu.rdmsr(msr::PMC0 + 1).value_or(0) - first;
  const u64 at_ring_0 = pmu.rdmsr(msr::PMC0).value_or(0);
  std::printf("%llu instructions at ring 0, %llu miss behind CLFLUSH\n",
              static_cast<unsigned long long>(at_ring_0), static_cast<unsigned long long>(misses));
  return at_ring_0 == 3 && misses == 1 ? 0 : 1;
}
