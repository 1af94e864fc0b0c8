// SPDX-License-Identifier: MIT
#include "session/register_support.h"

#include "pmusim/driver/drivers.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {

namespace {

perf::Attr probe_of(const events::SimdClass& registers, unsigned precise_ip) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(perf::HardwareId::cpu_cycles);
  attr.sample_period = 1'000'000;
  attr.disabled = attr.exclude_kernel = 1;
  attr.precise_ip = precise_ip & 3;
  attr.sample_type = perf::sample::REGS_INTR;
  const auto simd = events::parse_simd_registers(registers.name);
  if (simd) events::ask_for_registers(attr, {.interrupt_simd = *simd});
  return attr;
}

std::string refusal_of(perf::PerfCore& perf, const perf::Attr& attr) {
  const Result<perf::Event*, KernelError> event = perf.open(attr, -1, 0);
  if (!event.ok()) return event.error().message;
  perf.close(**event);
  return {};
}

}  // namespace

std::vector<RegisterSupport> probe_registers(const CpuModel& model, perf::Kernel kernel) {
  Pmu pmu(model);
  const auto driver = driver::create_driver(pmu, {.kernel = kernel});
  const auto perf = perf::PerfCore::create(*driver, {.limits = {.kernel = kernel}});
  driver->attach(perf->cpu(0));
  std::vector<RegisterSupport> support;
  for (const events::SimdClass& registers : events::simd_classes())
    support.push_back(
        {registers, refusal_of(*perf, probe_of(registers, 0)), refusal_of(*perf, probe_of(registers, 1))});
  return support;
}

}  // namespace pmusim
