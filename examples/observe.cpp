// SPDX-License-Identifier: MIT
// How long interrupts are on their way: an emulated Skylake counts instructions and interrupts after 1000.
#include <cstdio>

#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

using namespace pmusim;

struct Latency : Observer {
  u64 requested_cycle = 0;
  void on_pmi_request(const observed::PmiRequest& request) override { requested_cycle = request.cycle; }
  void on_pmi_delivery(const observed::PmiDelivery& delivery) override {
    std::printf("asked for in cycle %llu, delivered %llu cycles later\n",
                static_cast<unsigned long long>(requested_cycle),
                static_cast<unsigned long long>(delivery.cycle - requested_cycle));
  }
};

struct Driver : PmiHandler {
  explicit Driver(Bus& the_bus) : bus(the_bus) {}
  void write(u32 address, u64 value) {
    if (bus.wrmsr(address, value) != Fault::none) std::printf("wrmsr %#x faults\n", address);
  }
  void start() {
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    write(msr::PMC0, 0xFFFFFFFF - 999);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | 0xC0);
    write(msr::PERF_GLOBAL_CTRL, 1);
  }
  void handle_pmi(const InterruptFrame&) override {
    write(msr::PERF_GLOBAL_STATUS_RESET, 1);
    start();
  }
  Bus& bus;
};

int main() {
  Pmu pmu(*find_cpu_model("skylake"));
  Latency latency;
  Driver driver(pmu);
  pmu.set_observer(&latency);
  pmu.set_pmi_handler(&driver);
  driver.start();
  for (u64 cycle = 1; cycle <= 3000; ++cycle)
    pmu.retire({.ip = 0x401000, .next_ip = 0x401004, .cycle = cycle, .signals = {Signal::instruction}});
}
