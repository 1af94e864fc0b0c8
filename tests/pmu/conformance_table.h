// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PMU_CONFORMANCE_TABLE_H
#define PMUSIM_TESTS_PMU_CONFORMANCE_TABLE_H

#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

/// What software may do with every register of every CPU model, written down from the manuals
/// (SDM vol. 4, vol. 3) with literal masks. Nothing here is computed from a CpuModel: that is the point.
namespace pmusim::conformance {

enum class Kind : u8 {
  store,           ///< a legal value reads back as it was written
  legacy_counter,  ///< IA32_PMCn: any value is legal; bit 31 is extended up to the counter's width
  constant,        ///< every write faults
  write_one,       ///< legal bits have an effect elsewhere; reads 0
  command,         ///< legal bits have an effect elsewhere; RDMSR faults
  toggle,          ///< like store, but tested by flipping bits of the reset value
};

/// `count` registers, `stride` addresses apart, on every model that a group names.
struct Row {
  std::vector<std::string_view> groups;  ///< names of models, separated by blanks
  u32 address = 0;
  unsigned count = 1, stride = 1;
  Kind kind = Kind::store;
  u64 writable = 0;  ///< bit b is set: writing 1 << b alone is legal. Counters: the width as a mask
  u64 reset = 0;
  u64 not_kept = 0;   ///< legal to write, ignored
  u64 undefined = 0;  ///< legal to write, reads anything
};

using G = std::string_view;

// --- groups of models
// ----------------------------------------------------------------------------------------
inline constexpr G yon = "yonah";
inline constexpr G cor = "core2 penryn";
inline constexpr G old_atoms = "bonnell silvermont knightslanding";
inline constexpr G old_atoms_with_ibpb = "silvermont knightslanding";
inline constexpr G nhm = "nehalem", wsm = "westmere";
inline constexpr G snb = "sandybridge ivybridge", hsw = "haswell broadwell";
inline constexpr G skl = "skylake skylake-x cascadelake", cnl = "cannonlake";
inline constexpr G glm = "goldmont", glp = "goldmont-plus", tnt = "tremont";
inline constexpr G icl = "icelake rocketlake", tgl = "tigerlake", icx = "icelake-server";
inline constexpr G spr = "sapphirerapids emeraldrapids", gnr = "graniterapids";
inline constexpr G glc = "goldencove", rwc = "redwoodcove";
inline constexpr G grt = "gracemont", cmt = "crestmont", srf = "sierraforest";
inline constexpr G lnc = "lioncove", arl_p = "arrowlake-h", skt = "skymont", arl_e = "arrowlake-h-atom";
inline constexpr G cgc = "cougarcove", dkt = "darkmont", cwf = "clearwaterforest";
inline constexpr G dmr = "diamondrapids", cyc = "coyotecove", arw = "arcticwolf";

using Groups = std::vector<G>;
inline Groups operator+(Groups a, const Groups& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline const Groups cores_to_bdw{nhm, wsm, snb, hsw};
inline const Groups cores_of_skl{skl, cnl};
inline const Groups cores_of_icl{icl, tgl, icx};
inline const Groups cores_of_glc{spr, gnr, glc, rwc};
inline const Groups atoms_of_glm{glm, glp, tnt};
inline const Groups atoms_of_grt{grt, cmt, srf};
inline const Groups lion{lnc, arl_p}, sky{skt, arl_e}, dark{dkt, cwf};
inline const Groups arch_pebs{cgc, dmr, cyc, dkt, cwf, arw};
inline const Groups version_4_up =
    cores_of_skl + cores_of_icl + cores_of_glc + atoms_of_glm + atoms_of_grt + lion + sky + arch_pebs;
inline const Groups version_2_up = Groups{cor, old_atoms} + cores_to_bdw + version_4_up;
inline const Groups all = Groups{yon} + version_2_up;
inline const Groups arch_lbr = cores_of_glc + atoms_of_grt + lion + sky + arch_pebs;
inline const Groups has_cet = arch_lbr + Groups{tgl};
inline const Groups legacy_lbr_680 = cores_to_bdw + cores_of_skl + cores_of_icl + atoms_of_glm;

inline constexpr u64 everything = 0xFFFFFFFFFFFFFFFF;
inline constexpr u64 w40 = 0xFFFFFFFFFF, w48 = 0xFFFFFFFFFFFF;
/// Single bits that make a canonical address: bit 47 alone does not.
inline constexpr u64 canonical = 0x00007FFFFFFFFFFF;
inline constexpr u64 nothing = 0;

// --- counters
// ------------------------------------------------------------------------------------------------
inline const std::vector<Row> counters = {
    // IA32_PMCn
    {{yon, cor, old_atoms}, 0x0C1, 2, 1, Kind::legacy_counter, w40},
    {cores_to_bdw + cores_of_skl + atoms_of_glm, 0x0C1, 4, 1, Kind::legacy_counter, w48},
    {{grt}, 0x0C1, 6, 1, Kind::legacy_counter, w48},
    {cores_of_icl + cores_of_glc + sky + dark + Groups{cmt, srf, dmr, cyc, arw}, 0x0C1, 8, 1,
     Kind::legacy_counter, w48},
    {{lnc, arl_p, cgc}, 0x0C1, 10, 1, Kind::legacy_counter, w48},
    // IA32_A_PMCn: full-width writes
    {Groups{snb, hsw} + cores_of_skl + atoms_of_glm, 0x4C1, 4, 1, Kind::store, w48},
    {{grt}, 0x4C1, 6, 1, Kind::store, w48},
    {cores_of_icl + cores_of_glc + sky + dark + Groups{cmt, srf, dmr, cyc, arw}, 0x4C1, 8, 1, Kind::store,
     w48},
    {{lnc, arl_p, cgc}, 0x4C1, 10, 1, Kind::store, w48},
    // version 6 aliases
    {{skt, dkt, cwf, dmr, cyc, arw}, 0x1900, 8, 4, Kind::store, w48},
    {{lnc, cgc}, 0x1900, 10, 4, Kind::store, w48},
    {{lnc, cgc, dmr, cyc}, 0x1980, 4, 4, Kind::store, w48},
    {{skt, dkt, cwf, arw}, 0x1980, 3, 4, Kind::store, w48},
    {{skt, dkt, cwf, arw}, 0x1990, 3, 4, Kind::store, w48},
    // IA32_FIXED_CTRm
    {{cor, old_atoms}, 0x309, 3, 1, Kind::store, w40},
    {cores_to_bdw + cores_of_skl + atoms_of_glm + atoms_of_grt, 0x309, 3, 1, Kind::store, w48},
    {cores_of_icl + cores_of_glc + lion + Groups{cgc, dmr, cyc}, 0x309, 4, 1, Kind::store, w48},
    {sky + dark + Groups{arw}, 0x309, 3, 1, Kind::store, w48},
    {sky + dark + Groups{arw}, 0x30D, 3, 1, Kind::store, w48},
    // PERF_METRICS
    {cores_of_icl, 0x329, 1, 1, Kind::store, everything, 0, 0, 0xFFFFFFFF00000000},
    {cores_of_glc + lion + Groups{cgc, dmr, cyc}, 0x329, 1, 1, Kind::store, everything},
};

// --- event selects: IA32_PERFEVTSELn, and their version 6 aliases
// --------------------------------------------
inline const std::vector<Row> event_selects = {
    {{yon, cor}, 0x186, 2, 1, Kind::store, 0xFFDFFFFF},  // ANY is reserved
    {{old_atoms}, 0x186, 2, 1, Kind::store, 0xFFFFFFFF},
    {{nhm, wsm, snb, cnl, glm}, 0x186, 4, 1, Kind::store, 0xFFFFFFFF},
    {{hsw, skl}, 0x186, 2, 1, Kind::store, 0x1FFFFFFFF},  // IN_TX
    {{hsw, skl}, 0x188, 1, 1, Kind::store, 0x3FFFFFFFF},  // and IN_TXCP on counter 2
    {{hsw, skl}, 0x189, 1, 1, Kind::store, 0x1FFFFFFFF},
    {{glp}, 0x186, 4, 1, Kind::store, 0xFFDFFFFF},   // AnyThread deprecated
    {{tnt}, 0x186, 4, 1, Kind::store, 0x4FFDFFFFF},  // adaptive records
    {{grt}, 0x186, 6, 1, Kind::store, 0x4FFDFFFFF},
    {{icl, tgl, glc, rwc, cmt}, 0x186, 8, 1, Kind::store, 0x4FFDFFFFF},
    {{srf}, 0x186, 4, 1, Kind::store, 0xCFFDFFFFF},  // the LBR logs counters 0 to 3
    {{srf}, 0x18A, 4, 1, Kind::store, 0x4FFDFFFFF},
    {{icx, spr, gnr}, 0x186, 2, 1, Kind::store, 0x5FFDFFFFF},
    {{icx, spr, gnr}, 0x188, 1, 1, Kind::store, 0x7FFDFFFFF},
    {{icx, spr, gnr}, 0x189, 5, 1, Kind::store, 0x5FFDFFFFF},
    // UMASK2 and EQ; PC is gone; the LBR logs counters 0 to 3
    {{lnc, skt}, 0x186, 4, 1, Kind::store, 0xFF1CFFD7FFFF},
    {{lnc}, 0x18A, 6, 1, Kind::store, 0xFF14FFD7FFFF},
    {{skt}, 0x18A, 4, 1, Kind::store, 0xFF14FFD7FFFF},
    {{lnc, skt}, 0x1901, 4, 4, Kind::store, 0xFF1CFFD7FFFF},
    {{lnc}, 0x1911, 6, 4, Kind::store, 0xFF14FFD7FFFF},
    {{skt}, 0x1911, 4, 4, Kind::store, 0xFF14FFD7FFFF},
    {{arl_p}, 0x186, 10, 1, Kind::store, 0xFF14FFDFFFFF},
    {{arl_e}, 0x186, 8, 1, Kind::store, 0xFF14FFDFFFFF},
    // no adaptive bit with architectural PEBS
    {{cgc, dkt, cwf}, 0x186, 4, 1, Kind::store, 0xFF18FFD7FFFF},
    {{cyc, arw}, 0x186, 4, 1, Kind::store, 0xFF38FFD7FFFF},  // 37: hidden from user RDPMC
    {{cgc}, 0x18A, 6, 1, Kind::store, 0xFF10FFD7FFFF},
    {{dkt, cwf}, 0x18A, 4, 1, Kind::store, 0xFF10FFD7FFFF},
    {{cyc, arw}, 0x18A, 4, 1, Kind::store, 0xFF30FFD7FFFF},  // 37: hidden from user RDPMC
    {{cgc, dkt, cwf}, 0x1901, 4, 4, Kind::store, 0xFF18FFD7FFFF},
    {{cyc, arw}, 0x1901, 4, 4, Kind::store, 0xFF38FFD7FFFF},  // 37: hidden from user RDPMC
    {{cgc}, 0x1911, 6, 4, Kind::store, 0xFF10FFD7FFFF},
    {{dkt, cwf}, 0x1911, 4, 4, Kind::store, 0xFF10FFD7FFFF},
    {{cyc, arw}, 0x1911, 4, 4, Kind::store, 0xFF30FFD7FFFF},  // 37: hidden from user RDPMC
    {{dmr}, 0x186, 2, 1, Kind::store, 0xFF39FFD7FFFF},
    {{dmr}, 0x188, 1, 1, Kind::store, 0xFF3BFFD7FFFF},
    {{dmr}, 0x189, 1, 1, Kind::store, 0xFF39FFD7FFFF},
    {{dmr}, 0x18A, 4, 1, Kind::store, 0xFF31FFD7FFFF},
    {{dmr}, 0x1901, 2, 4, Kind::store, 0xFF39FFD7FFFF},
    {{dmr}, 0x1909, 1, 4, Kind::store, 0xFF3BFFD7FFFF},
    {{dmr}, 0x190D, 1, 4, Kind::store, 0xFF39FFD7FFFF},
    {{dmr}, 0x1911, 4, 4, Kind::store, 0xFF31FFD7FFFF},
};

// --- IA32_FIXED_CTR_CTRL
// -------------------------------------------------------------------------------------
inline const std::vector<Row> fixed_control = {
    {{cor, glp}, 0x38D, 1, 1, Kind::store, 0xBBB},
    {cores_to_bdw + cores_of_skl + Groups{old_atoms, glm}, 0x38D, 1, 1, Kind::store, 0xFFF},
    {{tnt, grt, cmt, srf}, 0x38D, 1, 1, Kind::store, 0x00000111'00000BBB},
    {cores_of_icl + cores_of_glc + lion, 0x38D, 1, 1, Kind::store, 0x00001111'0000BBBB},
    {sky, 0x38D, 1, 1, Kind::store, 0x01110111'0BBB0BBB},
    {{cgc}, 0x38D, 1, 1, Kind::store, 0x0000BBBB},
    {{cyc}, 0x38D, 1, 1, Kind::store, 0x00002222'0000BBBB},
    {{dmr}, 0x38D, 1, 1, Kind::store, 0x00002222'0000FBBB},  // bit 14: metrics clear
    {{dkt, cwf}, 0x38D, 1, 1, Kind::store, 0x0BBB0BBB},
    {{arw}, 0x38D, 1, 1, Kind::store, 0x02220222'0BBB0BBB},
};

// --- global control and status
// -------------------------------------------------------------------------------
inline const std::vector<Row> global = {
    {version_2_up, 0x38E, 1, 1, Kind::constant, nothing},
    {version_4_up, 0x392, 1, 1, Kind::constant, nothing},

    {{cor, old_atoms}, 0x38F, 1, 1, Kind::store, 0x00000007'00000003, 0x3},
    {cores_to_bdw + cores_of_skl + atoms_of_glm, 0x38F, 1, 1, Kind::store, 0x00000007'0000000F, 0xF},
    {cores_of_icl + cores_of_glc + Groups{dmr, cyc}, 0x38F, 1, 1, Kind::store, 0x0001000F'000000FF, 0xFF},
    {{lnc, arl_p, cgc}, 0x38F, 1, 1, Kind::store, 0x0001000F'000003FF, 0x3FF},
    {{grt}, 0x38F, 1, 1, Kind::store, 0x00000007'0000003F, 0x3F},
    {{cmt, srf}, 0x38F, 1, 1, Kind::store, 0x00000007'000000FF, 0xFF},
    {sky + dark + Groups{arw}, 0x38F, 1, 1, Kind::store, 0x00000077'000000FF, 0xFF},

    {{cor}, 0x390, 1, 1, Kind::write_one, 0xC0000007'00000003},
    {{old_atoms}, 0x390, 1, 1, Kind::write_one, 0xE0000007'00000003},
    {cores_to_bdw, 0x390, 1, 1, Kind::write_one, 0xE0000007'0000000F},
    {cores_of_skl + atoms_of_glm, 0x390, 1, 1, Kind::write_one, 0xFC000007'0000000F},
    {cores_of_icl + cores_of_glc, 0x390, 1, 1, Kind::write_one, 0xFC01000F'000000FF},
    {lion, 0x390, 1, 1, Kind::write_one, 0xFC01000F'000003FF},
    {{cgc}, 0x390, 1, 1, Kind::write_one, 0xFC41000F'000003FF},
    {{dmr, cyc}, 0x390, 1, 1, Kind::write_one, 0xFC41000F'000000FF},
    {{grt}, 0x390, 1, 1, Kind::write_one, 0xFC000007'0000003F},
    {{cmt, srf}, 0x390, 1, 1, Kind::write_one, 0xFC000007'000000FF},
    {sky, 0x390, 1, 1, Kind::write_one, 0xFC000077'000000FF},
    {{dkt, cwf, arw}, 0x390, 1, 1, Kind::write_one, 0xFC400077'000000FF},

    {cores_of_skl + atoms_of_glm, 0x391, 1, 1, Kind::write_one, 0x7C000007'0000000F},
    {cores_of_icl + cores_of_glc, 0x391, 1, 1, Kind::write_one, 0x7C01000F'000000FF},
    {lion, 0x391, 1, 1, Kind::write_one, 0x7C01000F'000003FF},
    {{cgc}, 0x391, 1, 1, Kind::write_one, 0x7C41000F'000003FF},
    {{dmr, cyc}, 0x391, 1, 1, Kind::write_one, 0x7C41000F'000000FF},
    {{grt}, 0x391, 1, 1, Kind::write_one, 0x7C000007'0000003F},
    {{cmt, srf}, 0x391, 1, 1, Kind::write_one, 0x7C000007'000000FF},
    {sky, 0x391, 1, 1, Kind::write_one, 0x7C000077'000000FF},
    {{dkt, cwf, arw}, 0x391, 1, 1, Kind::write_one, 0x7C400077'000000FF},
};

// --- IA32_PERF_CAPABILITIES
// ----------------------------------------------------------------------------------
inline const std::vector<Row> capabilities = {
    {{cor, "bonnell"}, 0x345, 1, 1, Kind::constant, nothing, 0x10C2},
    {{"silvermont"}, 0x345, 1, 1, Kind::constant, nothing, 0x12C2},
    {{"knightslanding"}, 0x345, 1, 1, Kind::constant, nothing, 0x12C1},
    {{nhm, wsm}, 0x345, 1, 1, Kind::constant, nothing, 0x11C3},
    {{snb}, 0x345, 1, 1, Kind::constant, nothing, 0x31C3},
    {{hsw}, 0x345, 1, 1, Kind::constant, nothing, 0x32C4},
    {cores_of_skl, 0x345, 1, 1, Kind::constant, nothing, 0x33C5},
    {{glm}, 0x345, 1, 1, Kind::constant, nothing, 0x33C6},
    {{glp}, 0x345, 1, 1, Kind::constant, nothing, 0x33C7},
    {{tnt}, 0x345, 1, 1, Kind::constant, nothing, 0x174C7},
    {cores_of_icl, 0x345, 1, 1, Kind::constant, nothing, 0xF4C5},
    {{spr}, 0x345, 1, 1, Kind::constant, nothing, 0xF4FF},
    {{gnr}, 0x345, 1, 1, Kind::constant, nothing, 0x2F5FF},
    {{glc}, 0x345, 1, 1, Kind::constant, nothing, 0xF4FF},
    {{grt}, 0x345, 1, 1, Kind::constant, nothing, 0x174FF},
    // Meteor Lake's P core shows no PERF_METRICS, though it has it (erratum RPL018)
    {{rwc, cmt, srf, arl_e}, 0x345, 1, 1, Kind::constant, nothing, 0x275FF},
    {{arl_p}, 0x345, 1, 1, Kind::constant, nothing, 0x2F5FF},
    {{lnc}, 0x345, 1, 1, Kind::constant, nothing, 0x2F6FF},
    {{skt}, 0x345, 1, 1, Kind::constant, nothing, 0x276FF},
    {{cgc, cyc}, 0x345, 1, 1, Kind::constant, nothing, 0x2BFFF},
    {{dkt, cwf, arw}, 0x345, 1, 1, Kind::constant, nothing, 0x23FFF},
    {{dmr}, 0x345, 1, 1, Kind::constant, nothing, 0xABFFF},
};

// --- IA32_DEBUGCTL
// -------------------------------------------------------------------------------------------
inline const std::vector<Row> debug_control = {
    {{yon}, 0x1D9, 1, 1, Kind::store, 0x01C3},
    {{cor}, 0x1D9, 1, 1, Kind::store, 0x5FC3},
    {atoms_of_glm + Groups{old_atoms, nhm, wsm, snb, cnl, icl}, 0x1D9, 1, 1, Kind::store, 0x7FC3},
    {{hsw, skl, icx}, 0x1D9, 1, 1, Kind::store, 0xFFC3},
    {{tgl}, 0x1D9, 1, 1, Kind::store, 0x7FC7},
    // LBR is accepted and reads 0 where LBR_CTL took its place
    {{spr, gnr, dmr}, 0x1D9, 1, 1, Kind::store, 0xFFC7, 0, 0x1},
    {atoms_of_grt + lion + sky + Groups{glc, rwc, cgc, cyc, dkt, cwf, arw}, 0x1D9, 1, 1, Kind::store, 0x7FC7,
     0, 0x1},
};

// --- clocks and switches
// -------------------------------------------------------------------------------------
inline const std::vector<Row> others = {
    {all, 0x010, 1, 1, Kind::store, everything},
    {Groups{hsw} + version_4_up, 0x03B, 1, 1, Kind::store, everything},
    {all, 0x0E7, 2, 1, Kind::store, everything},
    // microcode revision: writes are accepted and change nothing
    {all, 0x08B, 1, 1, Kind::toggle, everything, 0x00FFFFFF'00000000, everything},
    // SPEC_CTRL and PRED_CMD
    {Groups{old_atoms_with_ibpb} + cores_to_bdw + version_4_up, 0x048, 1, 1, Kind::store, 0x1},
    {Groups{old_atoms_with_ibpb} + cores_to_bdw + version_4_up, 0x049, 1, 1, Kind::command, 0x1},
    {cores_of_skl + cores_of_icl + arch_lbr, 0x64E, 1, 1, Kind::constant, nothing},
    {{skl}, 0x10F, 1, 1, Kind::store, 0x1},
    {all, 0x1A0, 1, 1, Kind::toggle, 0x44'00C50089, 0x850089, 0x80},
    // IA32_APIC_BASE: in x2APIC mode, in which flipping bit 10 or 11 alone is no transition
    {all, 0x01B, 1, 1, Kind::toggle, 0x000F'FFFF'FFFF'F100, 0xFEE00D00},
    {all, 0x80B, 1, 1, Kind::command, nothing},  // IA32_X2APIC_EOI takes 0 alone
    {all, 0x834, 1, 1, Kind::store, 0x117FF, 0x10000, 0x1000},
    {Groups{"silvermont knightslanding"} + cores_to_bdw + version_4_up, 0xC0000103, 1, 1, Kind::store,
     0xFFFFFFFF},

    {cores_of_skl + atoms_of_glm + Groups{icl, icx}, 0xDA0, 1, 1, Kind::store, 0x100},
    {{tgl}, 0xDA0, 1, 1, Kind::store, 0x3900},
    {{spr, srf}, 0xDA0, 1, 1, Kind::store, 0xDD00},
    {lion + sky + Groups{glc, rwc, grt, cmt}, 0xDA0, 1, 1, Kind::store, 0xD900},
    {{gnr, dmr, cwf}, 0xDA0, 1, 1, Kind::store, 0x1DD00},
    {{cgc, cyc, dkt, arw}, 0xDA0, 1, 1, Kind::store, 0x1D900},
    {{spr, gnr, dmr}, 0x1C4, 2, 1, Kind::store, 0x40000},  // AMX alone

    // control-flow enforcement: U_CET, S_CET, PL0_SSP to PL3_SSP, the interrupt SSP table
    {has_cet, 0x6A0, 2, 2, Kind::store, 0x00007FFF'FFFFFC3F},
    {has_cet, 0x6A4, 4, 1, Kind::store, 0x00007FFF'FFFFFFFC},
    {has_cet, 0x6A8, 1, 1, Kind::store, canonical},
};

// --- filters of off-core and snoop events
// --------------------------------------------------------------------
inline const std::vector<Row> filters = {
    {{nhm}, 0x1A6, 1, 1, Kind::store, 0xFFFF},
    {{wsm}, 0x1A6, 2, 1, Kind::store, 0xFFFF},
    {{snb}, 0x1A6, 2, 1, Kind::store, 0x3F'807F8FFF},
    {cores_of_skl + Groups{hsw}, 0x1A6, 2, 1, Kind::store, 0x3F'FFFF8FFF},
    {cores_of_icl, 0x1A6, 2, 1, Kind::store, 0x3F'FFFFBFFF},
    {cores_of_glc + Groups{grt}, 0x1A6, 2, 1, Kind::store, 0x3F'FFFFFFFF},
    {lion + Groups{cgc}, 0x1A6, 2, 1, Kind::store, 0xFFF'FFFFFFFF},
    {{"silvermont"}, 0x1A6, 1, 1, Kind::store, 0x76'8005FFFF},
    {{"silvermont"}, 0x1A7, 1, 1, Kind::store, 0x36'8005FFFF},
    {{"knightslanding"}, 0x1A6, 1, 1, Kind::store, 0x79'9FFBB6E7},
    {{"knightslanding"}, 0x1A7, 1, 1, Kind::store, 0x39'9FFBFFE7},
    {{glm, glp}, 0x1A6, 1, 1, Kind::store, 0x76'0005FFBF},
    {{glm, glp}, 0x1A7, 1, 1, Kind::store, 0x36'0005FFBF},
    {{tnt}, 0x1A6, 1, 1, Kind::store, 0x800FF0FF'FFFF9FFF},
    {{tnt}, 0x1A7, 1, 1, Kind::store, 0x000FF0FF'FFFF9FFF},
    {sky + dark + Groups{cmt, srf}, 0x1A6, 1, 1, Kind::store, 0x800FF3FF'FFFFFFFF},
    {sky + dark + Groups{cmt, srf}, 0x1A7, 1, 1, Kind::store, 0x000FF3FF'FFFFFFFF},
    {{dmr, cyc}, 0x3E0, 4, 1, Kind::store, 0x40FFFFFF'0000FFFF},
    {{arw}, 0x3E0, 4, 1, Kind::store, 0xC0FFFFFF'FFFFFFFF},
    {sky + dark + Groups{cmt, srf, arw}, 0x1328, 2, 1, Kind::store, everything},
};

// --- last branch records
// -------------------------------------------------------------------------------------
inline const std::vector<Row> branch_records = {
    {{cor}, 0x040, 4, 1, Kind::store, canonical},
    {{cor}, 0x060, 4, 1, Kind::store, canonical},
    {{"bonnell silvermont"}, 0x040, 8, 1, Kind::store, canonical},
    {{"bonnell silvermont"}, 0x060, 8, 1, Kind::store, canonical},
    {{"knightslanding"}, 0x680, 8, 1, Kind::store, 0x80007FFFFFFFFFFF},
    {{"knightslanding"}, 0x6C0, 8, 1, Kind::store, canonical},
    {{nhm, wsm, snb}, 0x680, 16, 1, Kind::store, 0x80007FFFFFFFFFFF},  // 63 mispredicted
    {{hsw}, 0x680, 16, 1, Kind::store, 0xE0007FFFFFFFFFFF},            // 62 in_tx, 61 abort
    {cores_to_bdw, 0x6C0, 16, 1, Kind::store, canonical},
    {{glm}, 0x680, 32, 1, Kind::store, 0x80007FFFFFFFFFFF},
    {{glm}, 0x6C0, 32, 1, Kind::store, everything},  // 63:48 cycles
    {cores_of_skl + cores_of_icl + Groups{glp, tnt}, 0x680, 32, 1, Kind::store, canonical},
    {cores_of_skl + cores_of_icl + Groups{glp, tnt}, 0x6C0, 32, 1, Kind::store, canonical},
    {cores_of_skl + cores_of_icl, 0xDC0, 32, 1, Kind::store, 0xE00000000000FFFF},
    {{glp, tnt}, 0xDC0, 32, 1, Kind::store, 0x800000000000FFFF},
    // LBR_SELECT and TOS
    {{nhm, wsm, snb, "silvermont knightslanding"}, 0x1C8, 1, 1, Kind::store, 0x1FF},
    {cores_of_skl + cores_of_icl + atoms_of_glm + Groups{hsw}, 0x1C8, 1, 1, Kind::store, 0x3FF},
    {{cor}, 0x1C9, 1, 1, Kind::store, 0x3},
    {{old_atoms}, 0x1C9, 1, 1, Kind::store, 0x7},
    {cores_to_bdw, 0x1C9, 1, 1, Kind::store, 0xF},
    {cores_of_skl + cores_of_icl + atoms_of_glm, 0x1C9, 1, 1, Kind::store, 0x1F},
    // the record before the last exception
    {legacy_lbr_680 + Groups{cor, old_atoms}, 0x1DD, 2, 1, Kind::constant, nothing},
    {arch_lbr, 0x1DD, 2, 1, Kind::store, canonical},
    {arch_lbr, 0x1E0, 1, 1, Kind::store, everything, 0, 0, 0x10FFFFFFFFFFFFFF},
    // architectural records
    {arch_lbr, 0x14CE, 1, 1, Kind::store, 0x7F000F},
    {arch_lbr, 0x14CF, 1, 1, Kind::store, 0x38, 32},  // depths 8, 16 and 32
    {arch_lbr, 0x1200, 32, 1, Kind::store, everything, 0, 0, 0x00FFFFFFFFFF0000},
    {arch_lbr, 0x1500, 32, 1, Kind::store, canonical},
    {arch_lbr, 0x1600, 32, 1, Kind::store, canonical},
};

// --- PEBS
// ----------------------------------------------------------------------------------------------------
inline const std::vector<Row> pebs = {
    {version_2_up, 0x600, 1, 1, Kind::store, canonical},
    {{cor, old_atoms, glm}, 0x3F1, 1, 1, Kind::store, 0x1},
    {cores_of_skl + Groups{nhm, wsm, hsw}, 0x3F1, 1, 1, Kind::store, 0x0000000F'0000000F},  // load latency
    {{snb}, 0x3F1, 1, 1, Kind::store, 0x8000000F'0000000F},                                 // precise store
    {{glp}, 0x3F1, 1, 1, Kind::store, 0x00000007'0000000F},                                 // fixed counters
    {{tnt}, 0x3F1, 1, 1, Kind::store, 0x70000007'0000000F},                                 // into PT
    {{grt}, 0x3F1, 1, 1, Kind::store, 0x70000007'0000003F},
    {{cmt, srf}, 0x3F1, 1, 1, Kind::store, 0x00000007'000000FF},
    {cores_of_icl + cores_of_glc, 0x3F1, 1, 1, Kind::store, 0x0000000F'000000FF},
    {lion, 0x3F1, 1, 1, Kind::store, 0x0000000F'000003FF},
    {sky, 0x3F1, 1, 1, Kind::store, 0x00000077'000000FF},
    {cores_of_icl + cores_of_glc + Groups{tnt, grt, cmt, srf, arl_p, arl_e}, 0x3F2, 1, 1, Kind::store,
     0xFF00000F},
    {{lnc}, 0x3F2, 1, 1, Kind::store, 0x000F03FF'FF00003F},
    {{skt}, 0x3F2, 1, 1, Kind::store, 0x007700FF'FF00001F},
    {cores_to_bdw + cores_of_skl + cores_of_icl + arch_lbr, 0x3F6, 1, 1, Kind::store, 0xFFFF},
    {cores_of_skl + cores_of_icl, 0x3F7, 1, 1, Kind::store, 0x7FFF17},
    {cores_of_glc + lion + Groups{cgc, dmr, cyc}, 0x3F7, 1, 1, Kind::store, 0x7FFF1F},
    {arch_pebs, 0x3F4, 1, 1, Kind::store, 0x000FFFFFFFFFF00F},
    {arch_pebs, 0x3F5, 1, 1, Kind::store, 0x07FFFFF187FFFFF0},
    {{tnt}, 0x14C1, 4, 1, Kind::store, w48},
    {{grt}, 0x14C1, 6, 1, Kind::store, w48},
    {{tnt, grt}, 0x1309, 3, 1, Kind::store, w48},
};

// --- auto counter reload and per-counter PEBS
// ----------------------------------------------------------------
inline const std::vector<Row> reload = {
    {{skt, dkt, cwf, dmr, cyc, arw}, 0x190A, 6, 4, Kind::store, 0x00000003'000000FC},
    {{skt, dkt, cwf, dmr, cyc, arw}, 0x1982, 2, 4, Kind::store, 0x00000003'000000FC},
    {{skt}, 0x190B, 6, 4, Kind::store, 0xFFFFFFFF},
    {{skt}, 0x1983, 2, 4, Kind::store, 0xFFFFFFFF},
    {{cgc}, 0x1903, 10, 4, Kind::store, 0xE0060378'FFFFFFFF},
    {{dmr, cyc}, 0x1903, 8, 4, Kind::store, 0xE0060378'FFFFFFFF},
    {{cgc, dmr, cyc}, 0x1983, 4, 4, Kind::store, 0xE0060378'FFFFFFFF},
    {{dkt, cwf, arw}, 0x1903, 8, 4, Kind::store, 0xE0060338'FFFFFFFF},
    {{dkt, cwf, arw}, 0x1983, 3, 4, Kind::store, 0xE0060338'FFFFFFFF},
    {{dkt, cwf, arw}, 0x1993, 3, 4, Kind::store, 0xE0060338'FFFFFFFF},
};

inline const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> sum;
    for (const auto* part : {&counters, &event_selects, &fixed_control, &global, &capabilities,
                             &debug_control, &others, &filters, &branch_records, &pebs, &reload})
      sum.insert(sum.end(), part->begin(), part->end());
    return sum;
  }();
  return rows;
}

}  // namespace pmusim::conformance

#endif
