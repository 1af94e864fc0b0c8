// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim::cores::skylake_x {

using namespace event_rows;

constexpr auto table =
    join(skylake_events, remote_loads, skylake_x_fp_arithmetic, shared_rows<Microarchitecture::skylake_x>());
constexpr Product products[] = {{6, 0x55}};
constexpr ProductName names[] = {{"cooperlake", "cascadelake"}};

constexpr Preset presets[] = {
    {"skylake-x", "Skylake-X, Skylake-SP", "skx", "skylake-x"},
    {"cascadelake", "Cascade Lake", "clx", "cascadelake"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::skylake_x,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_names,
    .off_core = skylake_x_off_core_layout,
};

}  // namespace pmusim::cores::skylake_x
