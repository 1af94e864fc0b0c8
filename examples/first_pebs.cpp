// SPDX-License-Identifier: MIT
// The first PEBS sample, in C++.
#include <cstdio>

#include "pmusim/arch/debug_store.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/program/program.h"

using namespace pmusim;

int main() {
  Pmu pmu(*find_cpu_model("skylake"));
  DsArea64 area{
      .pebs_base = 0x20000, .pebs_index = 0x20000, .pebs_maximum = 0x21000, .pebs_threshold = 0x21000};
  bool failed = !pmu.map_memory(0x10000, 4096) || !pmu.map_memory(0x20000, 4096);
  failed |= pmu.write_memory(0x10000, std::as_bytes(std::span(&area, 1))) != Fault::none;
  for (const auto& [address, value] : std::initializer_list<std::pair<u32, u64>>{
           {msr::DS_AREA, 0x10000},
           {msr::PMC0, 0xFFFFFFFF - 99},
           {msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | 0xC4},
           {msr::PEBS_ENABLE, 1},
           {msr::PERF_GLOBAL_CTRL, 1}})
    failed |= pmu.wrmsr(address, value) != Fault::none;
  const auto loop = program::Program().loop(1000, program::Program().instructions(3));
  program::play(loop, {}, [&](const Retirement& retirement) { pmu.retire(retirement); });
  pebs::FixedRecord record;
  failed |= pmu.read_memory(0x20000, std::as_writable_bytes(std::span(&record, 1))) != Fault::none;
  std::printf("a branch at %#llx\n", static_cast<unsigned long long>(record.eventing_ip));
  return failed || record.eventing_ip != 0x40100C ? 1 : 0;
}
