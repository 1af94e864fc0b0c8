// SPDX-License-Identifier: MIT
// The vector registers of interrupted code: a handler that saves them with XSAVES, as a profiler's does, and
// finds YMM0 in the image.
#include <array>
#include <cstdio>
#include <cstring>

#include "pmusim/arch/msr.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/pmu/pmu.h"

using namespace pmusim;

namespace {

constexpr u64 wanted = state_bits(StateComponent::sse, StateComponent::avx);
constexpr u64 buffer = 0x10000;

/// A driver: knows the processor by its instructions alone.
class Driver final : public PmiHandler {
 public:
  explicit Driver(Bus& bus) : bus_(bus) {
    failed = !bus_.map_memory(buffer, 4096) || bus_.xsetbv(0, wanted | 1) != Fault::none;
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    write(msr::PMC0, 0xFFFFFFFF);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | 0xC0);
    write(msr::PERF_GLOBAL_CTRL, 1);
  }
  void handle_pmi(const InterruptFrame&) override {
    failed |= bus_.xsaves(buffer, wanted) != Fault::none;
    const u32 bytes = xsave::compacted_layout(xsave::intel_components, wanted).bytes;
    const xsave::CompactedImage image(bus_.memory(buffer, bytes), xsave::intel_components);
    copy(image.component(StateComponent::sse), 0);
    copy(image.component(StateComponent::avx), 2);
  }

  std::array<u64, 4> ymm0{};
  bool failed = false;

 private:
  void write(u32 address, u64 value) { failed |= bus_.wrmsr(address, value) != Fault::none; }
  /// The first 16 bytes of a component are its part of register 0.
  void copy(std::span<const std::byte> component, std::size_t to) {
    if (component.size() >= 16) std::memcpy(&ymm0[to], component.data(), 16);
  }

  Bus& bus_;
};

}  // namespace

int main() {
  Pmu pmu(*find_cpu_model("skylake"));
  Driver driver(pmu);
  pmu.set_pmi_handler(&driver);
  // Code that loads YMM0, and a loop behind it.
  const std::array<u64, 2> low{0x1111, 0x2222}, high{0x3333, 0x4444};
  const std::array writes{ExtendedWrite{StateComponent::sse, 0, low},
                          ExtendedWrite{StateComponent::avx, 0, high}};
  const ExtendedChange load{wanted, writes};
  for (u64 cycle = 1; cycle <= 100; ++cycle)
    pmu.retire({.ip = 0x401000 + 4 * cycle,
                .next_ip = 0x401004 + 4 * cycle,
                .cycle = cycle,
                .signals = {Signal::instruction},
                .extended = cycle == 1 ? &load : nullptr});
  for (const u64 word : driver.ymm0) std::printf("%llx ", static_cast<unsigned long long>(word));
  std::puts("in YMM0");
  return driver.failed || driver.ymm0 != std::array<u64, 4>{0x1111, 0x2222, 0x3333, 0x4444} ? 1 : 0;
}
