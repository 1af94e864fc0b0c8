// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MICROARCHITECTURE_H
#define PMUSIM_CPU_MICROARCHITECTURE_H

#include <string_view>

#include "pmusim/base/bits.h"

/// Which designs of a core there are.
namespace pmusim {

enum class Vendor : u8 { intel, amd };

/// As CPUID leaf 0 spells it, and perf does in a file's CPUID.
constexpr std::string_view cpuid_name(Vendor vendor) {
  return vendor == Vendor::amd ? "AuthenticAMD" : "GenuineIntel";
}

enum class CoreType : u8 { core, atom };

/// The microarchitectures that drivers and event tables tell apart.
enum class Microarchitecture : u8 {
  unknown,
  core2,
  bonnell,
  silvermont,
  knights_landing,
  nehalem,
  westmere,
  sandy_bridge,
  ivy_bridge,
  haswell,
  broadwell,
  skylake,
  skylake_x,
  ice_lake,
  golden_cove,
  redwood_cove,
  lion_cove,
  cougar_cove,
  panther_cove,
  coyote_cove,
  goldmont,
  goldmont_plus,
  tremont,
  gracemont,
  crestmont,
  skymont,
  darkmont,
  arctic_wolf,
  zen1,
  zen2,
  zen3,
  zen4,
  zen5,
};

/// The core types that one CPUID display family and model stands for; the same unless the product is a hybrid
/// (leaf 1AH then tells which one is asked). Both are `unknown` for products that are not in the list.
struct ProductCores {
  Microarchitecture core = Microarchitecture::unknown, atom = Microarchitecture::unknown;
  bool hybrid() const { return core != atom; }
};

ProductCores product_cores(u32 family, u32 model);

/// Products whose PEBS Linux leaves off for its errata (Merom: AJ67 to AJ69, AJ106).
bool has_unreliable_pebs(u32 family, u32 model);

}  // namespace pmusim

#endif
