// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
/// The E core of Nova Lake; what no dump has shown yet follows Darkmont.
CpuModel arcticwolf() {
  CpuModel m = darkmont();
  m.name = "arcticwolf";
  m.title = "Arctic Wolf (Nova Lake E core)";
  m.family = 18;
  m.model = 0x01;
  m.native_model_id = 5;
  m.perfmon_ext_ebx = 7;
  m.offcore_rsp = {};
  m.omr = 0xC0FFFFFFFFFFFFFF;
  m.pebs.data_source = DataSourceEncoding::arctic_wolf;
  m.core.l3 = {36 * mib, 12, 64, 60};
  return m;
}

}  // namespace

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

/// Arctic Wolf asks off-core responses through the OMR registers, whose codes are their own.
constexpr auto table = join(since_darkmont, off_core(0xB7, omr_values));
constexpr auto cache = join(tremont_near_cache, omr_last_level(0x01B7));
constexpr Product products[] = {{18, 0x01}, {18, 0x03}};
constexpr ProductName names[] = {{"novalake", "arcticwolf"}};
constexpr Preset product_presets[] = {presets::arcticwolf};

}  // namespace

constinit const CoreFacts arctic_wolf{
    .core = Microarchitecture::arctic_wolf,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cache,
    .named_events = skymont_names,
    .off_core = omr_layout(0xB7),
};

}  // namespace cores
}  // namespace pmusim
