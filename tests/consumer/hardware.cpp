// SPDX-License-Identifier: MIT
// A user's driver in C++, with the hardware alone. docs/guide-driver-authors.md shows it.
#include <pmusim/arch/msr.h>
#include <pmusim/base/bus.h>
#include <pmusim/cpu/model.h>
#include <pmusim/cpu/retirement.h>
#include <pmusim/pmu/pmu.h>

#include <cstdio>

using namespace pmusim;

/// Samples every `period` instructions of ring 3.
class Driver final : public PmiHandler {
 public:
  Driver(Pmu& pmu, u64 period) : pmu_(pmu), period_(period) {
    pmu_.set_pmi_handler(this);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::INT | msr::evtsel::USR | 0xC0);
    write(msr::PMC0, -period_);
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    write(msr::PERF_GLOBAL_CTRL, 1);
  }

  void handle_pmi(const InterruptFrame& frame) override {
    std::printf("sample at %#llx\n", static_cast<unsigned long long>(frame.registers.rip));
    ++samples;
    write(msr::PMC0, -period_);
    write(msr::PERF_GLOBAL_STATUS_RESET, 1);
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);  // delivery has masked it
  }

  int samples = 0;

 private:
  void write(u32 address, u64 value) {
    if (pmu_.wrmsr(address, value) != Fault::none) std::printf("MSR %#x refuses\n", address);
  }

  Pmu& pmu_;
  u64 period_;
};

int main() {
  Pmu pmu(*find_cpu_model("skylake"));
  Driver driver(pmu, 1000);
  for (u64 n = 1; n <= 5200; ++n)
    pmu.retire({.ip = 0x401000 + n % 16,
                .next_ip = 0x401000 + (n + 1) % 16,
                .cycle = n,
                .signals = {Signal::instruction}});
  return driver.samples == 5 ? 0 : 1;
}
