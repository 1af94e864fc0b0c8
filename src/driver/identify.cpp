#include "identify.h"

namespace pmusim::driver {

using enum Microarchitecture;

namespace {

bool is_cannon_lake(const Enumeration& enumeration) {
  return enumeration.family == 6 && enumeration.model == 0x66;
}
bool is_arrow_lake_h(const Enumeration& enumeration) {
  return enumeration.family == 6 && enumeration.model == 0xC5;
}

}  // namespace

bool is_atom(Microarchitecture core) {
  switch (core) {
    case bonnell:
    case silvermont:
    case knights_landing:
    case goldmont:
    case goldmont_plus:
    case tremont:
    case gracemont:
    case crestmont:
    case skymont:
    case darkmont:
    case arctic_wolf:
      return true;
    default:
      return false;
  }
}

unsigned legacy_lbr_entries(Microarchitecture core) {
  switch (core) {
    case unknown:
      return 0;
    case core2:
      return 4;
    case bonnell:
    case silvermont:
    case knights_landing:
      return 8;
    case nehalem:
    case westmere:
    case sandy_bridge:
    case ivy_bridge:
    case haswell:
    case broadwell:
      return 16;
    default:
      return 32;
  }
}

bool has_tables(perf::Kernel kernel, const Enumeration& enumeration) {
  switch (enumeration.microarchitecture) {
    case panther_cove:
    case coyote_cove:
    case arctic_wolf:
      return perf::has(kernel, perf::Change::panther_cove);
    case cougar_cove:
    case darkmont:
      return perf::has(kernel, perf::Change::cougar_cove);
    default:
      return kernel != perf::Kernel::v6_12 || (!is_cannon_lake(enumeration) && !is_arrow_lake_h(enumeration));
  }
}

u64 ds_pebs_counters(Microarchitecture core, unsigned pebs_format, bool baseline, u64 counters) {
  switch (core) {
    case core2:
    case bonnell:
    case silvermont:
    case knights_landing:
    case goldmont:
      return counters & 1;
    case goldmont_plus:
      return counters;
    default:
      // Adaptive PEBS came with "every counter"; before it, only the first four, with hyper-threading off
      // too.
      return baseline && pebs_format >= 4 ? counters : counters & 0xF;
  }
}

u64 ds_pebs_distribution(Microarchitecture core) {
  constexpr u64 fixed0 = bit(32);
  switch (core) {
    case ivy_bridge:
    case haswell:
    case broadwell:
    case skylake:
    case skylake_x:
      return bit(1);
    case ice_lake:
      return fixed0;
    case goldmont:
    case goldmont_plus:
      return bit(0);
    case golden_cove:
    case redwood_cove:
    case tremont:
    case gracemont:
      return fixed0 | bit(0);
    case lion_cove:
    case crestmont:
    case skymont:
      return fixed0 | bit(0) | bit(1);
    default:
      return 0;
  }
}

}  // namespace pmusim::driver
