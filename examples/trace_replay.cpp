// SPDX-License-Identifier: MIT
// A recorded program under a driver of one's own: where every 10000th instruction is.
#include <cstdio>

#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/replay/replay.h"

using namespace pmusim;

struct Driver : PmiHandler {
  explicit Driver(Bus& the_bus) : bus(the_bus) { start(); }
  void start() {
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    write(msr::PMC0, 0xFFFFFFFF - 9999);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | 0xC0);
    write(msr::PERF_GLOBAL_CTRL, 1);
  }
  void write(u32 address, u64 value) {
    if (bus.wrmsr(address, value) != Fault::none) std::fprintf(stderr, "wrmsr %#x faults\n", address);
  }
  void handle_pmi(const InterruptFrame& frame) override {
    std::printf("%#llx\n", static_cast<unsigned long long>(frame.registers.rip));
    write(msr::PERF_GLOBAL_STATUS_RESET, 1);
    start();
  }
  Bus& bus;
};

int main(int argc, char** argv) {
  Pmu pmu(*find_cpu_model("skylake"));
  Driver driver(pmu);
  pmu.set_pmi_handler(&driver);
  auto replay = Replay::open(argc > 1 ? argv[1] : "program.pmutrace", pmu.model());
  if (!replay.ok()) return std::fprintf(stderr, "%s\n", replay.error().message.c_str()), 2;
  replay->attach(pmu);
  const auto instructions = replay->run();
  if (!instructions.ok()) return std::fprintf(stderr, "%s\n", instructions.error().message.c_str()), 2;
  std::printf("%llu instructions\n", static_cast<unsigned long long>(*instructions));
}
