// SPDX-License-Identifier: MIT
#include "driver/amd/cores/zen.h"

#include <algorithm>

namespace pmusim::driver {
namespace {

/// Products of a core by family and model, both ends included (Linux: the features ZEN1 to ZEN5, and which
/// event map each takes).
struct ZenRange {
  u32 family, first, last;
  Microarchitecture core;
};
constexpr ZenRange zen_ranges[] = {
    {0x17, 0x00, 0x2F, Microarchitecture::zen1}, {0x17, 0x50, 0x5F, Microarchitecture::zen1},
    {0x17, 0x30, 0xFF, Microarchitecture::zen2}, {0x19, 0x10, 0x1F, Microarchitecture::zen4},
    {0x19, 0x60, 0xAF, Microarchitecture::zen4}, {0x19, 0x00, 0xFF, Microarchitecture::zen3},
};

}  // namespace

Microarchitecture zen_core(u32 family, u32 model) {
  if (family >= 0x1A) return Microarchitecture::zen5;
  const auto range = std::ranges::find_if(zen_ranges, [&](const ZenRange& r) {
    return r.family == family && model >= r.first && model <= r.last;
  });
  return range == std::end(zen_ranges) ? Microarchitecture::unknown : range->core;
}

}  // namespace pmusim::driver
