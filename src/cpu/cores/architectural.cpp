// SPDX-License-Identifier: MIT
#include "architectural_rows.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "presets.h"

namespace pmusim {
namespace presets {
/// The first architectural PMU: two counters, no global registers, no fixed counters, no LBR that drivers
/// use.
CpuModel yonah() {
  CpuModel m;
  m.name = "yonah";
  m.title = "Yonah (Core Solo, Core Duo)";
  m.pfm_name = "ix86arch";
  m.model = 0x0E;
  m.stepping = 8;
  m.perfmon_version = 1;
  m.gp_counters = 0x3;
  m.counter_width = 40;
  m.arch_events = 0x7F;
  m.has_pdcm = m.has_rdtscp = m.has_ibpb = false;
  m.xcr0 = 0;
  m.core.costs = &costs::yonah();
  return m;
}

}  // namespace presets

namespace cores::architectural {

using namespace event_rows;

constexpr auto table = join(architectural_rows, reference_cycles);
constexpr Preset product_presets[] = {presets::yonah};

constinit const CoreFacts facts{
    .core = Microarchitecture::unknown,
    .presets = product_presets,
    .events = table,
    .pebs_events = {.kind = PebsEvents::Kind::none},
    .fixed_codes = bits(16, 3),
};

}  // namespace cores::architectural
}  // namespace pmusim
