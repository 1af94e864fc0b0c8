// SPDX-License-Identifier: MIT
#include "architectural_rows.h"
#include "cores.h"

namespace pmusim::cores::architectural {

using namespace event_rows;

constexpr auto table = join(architectural_rows, reference_cycles);
constexpr Preset presets[] = {
    // The first architectural PMU: two counters, no global registers, no fixed counters, no LBR that
    // drivers use.
    {"yonah", "Yonah (Core Solo, Core Duo)", "ix86arch", "yonah"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::unknown,
    .presets = presets,
    .events = table,
    .pebs_events = {.kind = PebsEvents::Kind::none},
    .fixed_codes = bits(16, 3),
};

}  // namespace pmusim::cores::architectural
