// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PMU_AMD_CONFORMANCE_TABLE_H
#define PMUSIM_TESTS_PMU_AMD_CONFORMANCE_TABLE_H

#include "tests/pmu/conformance_table.h"

/// The same of AMD's parts, from the Architecture Programmer's Manual vol. 2 (13.1 to 13.3, appendix A) with
/// literal masks. What a write may set and drops is in `not_kept`.
namespace pmusim::conformance {

inline constexpr G zen1 = "naples pinnacle-ridge", zen2 = "rome renoir matisse",
                   zen3 = "milan vermeer cezanne";
inline constexpr G zen4_frozen = "genoa raphael phoenix", zen4_unfrozen = "raphael-early bergamo";
inline constexpr G zen5 = "turin granite-ridge strix";

inline const Groups zen4{zen4_frozen, zen4_unfrozen};
inline const Groups since_zen4 = zen4 + Groups{zen5};
inline const Groups freezing{zen4_frozen, zen5};
inline const Groups since_zen3 = Groups{zen3} + since_zen4;
inline const Groups since_zen2 = Groups{zen2} + since_zen3;
inline const Groups every_zen = Groups{zen1} + since_zen2;

/// PERF_CTL: event 7:0 and 35:32, umask, USR, OS, EDGE, INT, EN, INV, CntMask, GuestOnly, HostOnly.
inline constexpr u64 perf_ctl = 0x0000030F'FFD7FFFF, with_precise = 0x00000B0F'FFD7FFFF;
inline constexpr u64 w52 = 0x000FFFFF'FFFFFFFF, w58 = 0x03FFFFFF'FFFFFFFF;

inline const std::vector<Row> amd_counters = {
    {every_zen, 0xC0010000, 2, 1, Kind::store, everything, 0, ~perf_ctl},
    {every_zen, 0xC0010003, 1, 1, Kind::store, everything, 0, ~perf_ctl},
    {every_zen, 0xC0010200, 2, 2, Kind::store, everything, 0, ~perf_ctl},
    {every_zen, 0xC0010206, 3, 2, Kind::store, everything, 0, ~perf_ctl},
    {Groups{zen1, zen2, zen3} + zen4, 0xC0010002, 1, 1, Kind::store, everything, 0, ~perf_ctl},
    {Groups{zen1, zen2, zen3} + zen4, 0xC0010204, 1, 1, Kind::store, everything, 0, ~perf_ctl},
    {{zen5}, 0xC0010002, 1, 1, Kind::store, everything, 0, ~with_precise},
    {{zen5}, 0xC0010204, 1, 1, Kind::store, everything, 0, ~with_precise},
    {every_zen, 0xC0010004, 4, 1, Kind::store, everything, 0, ~w48},
    {every_zen, 0xC0010201, 6, 2, Kind::store, everything, 0, ~w48},
    // PerfMonV2: a write of the status is ignored
    {since_zen4, 0xC0000300, 1, 1, Kind::store, everything, 0, everything},
    {since_zen4, 0xC0000301, 1, 1, Kind::toggle, everything, 0x3F, ~u64{0x3F}},
    {since_zen4, 0xC0000302, 2, 1, Kind::write_one, everything},
};

inline const std::vector<Row> amd_branches = {
    // DebugCtl 6:3 must be zero; 2 is for parts with bus-lock traps
    {freezing, 0x1D9, 1, 1, Kind::store, 0xFFFFFFFF'FFFFFF83, 0, 0xFFFFFFFF'FFFFE780},
    {{zen1, zen2, zen3, zen4_unfrozen},
     0x1D9,
     1,
     1,
     Kind::store,
     0xFFFFFFFF'FFFFFF83,
     0,
     0xFFFFFFFF'FFFFFF80},
    {since_zen4, 0xC000010E, 1, 1, Kind::store, everything, 0, ~u64{0x1FF}},
    {since_zen4, 0xC000010F, 1, 1, Kind::store, 0x40},
    {since_zen4, 0xC0010300, 16, 2, Kind::store, everything, 0, 0x7C000000'00000000},
    {since_zen4, 0xC0010301, 16, 2, Kind::store, everything, 0, 0x3C000000'00000000},
};

inline const std::vector<Row> amd_branch_sampling = {
    {{"milan"}, 0xC000010F, 1, 1, Kind::store, 0x070F003C},
    {{"milan"}, 0xC0010300, 16, 2, Kind::store, everything},
    {{"milan"}, 0xC0010301, 16, 2, Kind::store, everything, 0, 0xE0000000'00000000},
};

inline const std::vector<Row> amd_sampling = {
    // IbsFetchCtl; family 17H takes the count as it sets the enable alone
    {{zen2}, 0xC0011030, 1, 1, Kind::store, everything, 0, 0xF8000000'FFFF0000},
    {{zen3}, 0xC0011030, 1, 1, Kind::store, everything, 0, 0xF8000000'00000000},
    {since_zen4, 0xC0011030, 1, 1, Kind::store, everything, 0, 0xC0000000'00000000},
    {since_zen2, 0xC0011031, 2, 1, Kind::store, everything, 0, everything},
    {{zen2, zen3}, 0xC0011033, 1, 1, Kind::store, 0x07FFFFFF'07FEFFFF},
    {zen4, 0xC0011033, 1, 1, Kind::store, 0x07FFFFFF'07FFFFFF},
    {{zen5}, 0xC0011033, 1, 1, Kind::store, 0xFFFFFFFF'07FFFFFF},
    {since_zen2, 0xC0011034, 1, 1, Kind::store, everything},
    {since_zen2, 0xC0011035, 1, 1, Kind::store, everything, 0, 0xFFFFFE03'00000000},
    {since_zen2, 0xC0011036, 1, 1, Kind::store, everything, 0, 0xFFFFFFFF'FFFFFF08},
    {since_zen2, 0xC0011037, 1, 1, Kind::store, everything, 0, 0x1E00},
    {since_zen2, 0xC0011038, 1, 1, Kind::store, everything},
    {since_zen2, 0xC0011039, 1, 1, Kind::store, everything, 0, ~w52},
    {since_zen2, 0xC001103A, 1, 1, Kind::constant, nothing, 0x100},
    {since_zen2, 0xC001103B, 1, 1, Kind::store, everything},
    {since_zen2, 0xC001103C, 1, 1, Kind::store, everything, 0, ~u64{0xFFFF}},
    {since_zen2, 0x850, 4, 1, Kind::store, 0x117FF, 0x10000, 0x1000},
};

inline const std::vector<Row> amd_others = {
    {every_zen, 0x010, 1, 1, Kind::store, everything},
    {every_zen, 0x0E7, 2, 1, Kind::store, everything},
    {every_zen, 0x1DB, 4, 1, Kind::constant, nothing},
    {every_zen, 0xC00000E9, 1, 1, Kind::store, everything, 0, everything},
    {every_zen, 0xC0010015, 1, 1, Kind::toggle, everything, 0x01000000, 0xFFFFFFFF'BFFFFFFF},
    {every_zen, 0x08B, 1, 1, Kind::toggle, everything, 0x00FFFFFF'00000000, everything},
    {since_zen2, 0x048, 1, 1, Kind::store, 0x1},
    {since_zen2, 0x049, 1, 1, Kind::command, 0x1},
    // Zen 1 has no x2APIC
    {{zen1}, 0x01B, 1, 1, Kind::toggle, 0x000F'FFFF'FFFF'F900, 0xFEE00900},
    {since_zen2, 0x01B, 1, 1, Kind::toggle, 0x000F'FFFF'FFFF'F100, 0xFEE00D00},
    {since_zen2, 0x80B, 1, 1, Kind::command, nothing},
    {since_zen2, 0x834, 1, 1, Kind::store, 0x117FF, 0x10000, 0x1000},
    {every_zen, 0xC0000080, 1, 1, Kind::store, 0xFD01},
    {every_zen, 0xC0000103, 1, 1, Kind::store, 0xFFFFFFFF},
    {{zen1, zen2}, 0xDA0, 1, 1, Kind::store, nothing},
    {since_zen3, 0xDA0, 1, 1, Kind::store, 0x1800},
    {since_zen3, 0x6A0, 2, 2, Kind::store, 0x00007FFF'FFFFFC3F},
    {since_zen3, 0x6A4, 4, 1, Kind::store, 0x00007FFF'FFFFFFFC},
    {since_zen3, 0x6A8, 1, 1, Kind::store, canonical},
};

inline const std::vector<Row>& amd_table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> sum;
    for (const auto* part : {&amd_counters, &amd_branches, &amd_branch_sampling, &amd_sampling, &amd_others})
      sum.insert(sum.end(), part->begin(), part->end());
    return sum;
  }();
  return rows;
}

}  // namespace pmusim::conformance

#endif
