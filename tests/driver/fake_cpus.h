// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_FAKE_CPUS_H
#define PMUSIM_TESTS_DRIVER_FAKE_CPUS_H

#include <algorithm>

#include "fake_bus.h"

namespace pmusim::driver {

// CPUID as dumps of real parts have it, with the registers that the driver may touch.

inline constexpr u32 cpuid_pdcm = 1 << 15, cpuid_dtes64 = 1 << 2, cpuid_ds_cpl = 1 << 4, cpuid_ds = 1 << 21;
inline constexpr u32 cpuid_hybrid = 1 << 15, cpuid_arch_lbr = 1 << 19, cpuid_arch_perfmon_ext = 1 << 8;

inline FakeBus product(u32 signature, CpuidResult leaf_a, u64 capabilities) {
  FakeBus bus;
  bus.leaves[{0, 0}] = {0x23, 0, 0, 0};
  bus.leaves[{1, 0}] = {signature, 0, cpuid_pdcm | cpuid_dtes64, cpuid_ds};
  bus.leaves[{0xA, 0}] = leaf_a;
  bus.msrs[msr::PERF_CAPABILITIES] = capabilities;
  bus.msrs[msr::MISC_ENABLE] = 0x850089;
  for (const u32 address :
       {msr::FIXED_CTR_CTRL, msr::PERF_GLOBAL_STATUS, msr::PERF_GLOBAL_CTRL, msr::PEBS_ENABLE, msr::DS_AREA,
        msr::DEBUGCTL, msr::X2APIC_LVTPC, msr::OFFCORE_RSP_0, msr::OFFCORE_RSP_1, msr::PEBS_LD_LAT_THRESHOLD,
        msr::PEBS_FRONTEND, msr::LBR_SELECT, msr::LBR_TOS, msr::PERF_METRICS, msr::PEBS_DATA_CFG})
    bus.msrs[address] = 0;
  for (u32 n = 0; n < 10; ++n)
    for (const u32 row : {msr::PMC0, msr::A_PMC0, msr::PERFEVTSEL0}) bus.msrs[row + n] = 0;
  for (u32 m = 0; m < 7; ++m) bus.msrs[msr::FIXED_CTR0 + m] = 0;
  for (u32 i = 0; i < 32; ++i)
    for (const u32 row : {msr::LBR_NHM_FROM_IP, msr::LBR_NHM_TO_IP, msr::LBR_INFO_0}) bus.msrs[row + i] = 0;
  return bus;
}

inline FakeBus nehalem() { return product(0x106A5, {0x07300403, 0x40, 0, 0x603}, 0x11C3); }
inline FakeBus westmere() { return product(0x206C2, {0x07300403, 0x44, 0, 0x603}, 0x11C3); }
inline FakeBus sandy_bridge() { return product(0x206A7, {0x07300403, 0, 0, 0x603}, 0x31C3); }
inline FakeBus haswell() {
  FakeBus bus = product(0x306C3, {0x07300403, 0, 0, 0x603}, 0x32C4);
  bus.leaves[{7, 0}].ebx = 1 << 11 | 1 << 4;
  return bus;
}
inline FakeBus skylake() { return product(0x506E3, {0x07300404, 0, 0, 0x603}, 0x33C5); }
inline FakeBus skylake_with_tsx() {
  FakeBus bus = skylake();
  bus.leaves[{7, 0}] = {0, 1 << 11 | 1 << 4, 0, 1 << 13};
  bus.msrs[msr::TSX_FORCE_ABORT] = 0;
  return bus;
}
inline FakeBus ice_lake() { return product(0x606A6, {0x08300805, 0, 0xF, 0x8604}, 0x0F4C5); }
inline FakeBus sapphire_rapids() { return product(0x806F8, {0x08300805, 0, 0xF, 0x8604}, 0x0F4C5); }

/// Any part by its signature, with every extra register that parts have.
inline FakeBus part(u32 family, u32 model) {
  const u32 signature = std::min(family, 15u) << 8 | (family > 15 ? family - 15 : 0) << 20 |
                        (model >> 4) << 16 | (model & 0xF) << 4;
  FakeBus bus = product(signature, {0x08300805, 0, 0xF, 0x8604}, 0x0F4C5);
  for (u32 n = 0; n < 4; ++n) bus.msrs[msr::OMR_0 + n] = 0;
  bus.msrs[msr::SNOOP_RSP_0] = bus.msrs[msr::SNOOP_RSP_1] = 0;
  return bus;
}
inline FakeBus e_core_of(u32 family, u32 model) {
  FakeBus bus = part(family, model);
  bus.leaves[{7, 0}].edx = cpuid_hybrid;
  bus.leaves[{0x1A, 0}].eax = 0x20u << 24 | 3;
  return bus;
}

/// Lunar Lake: leaf 0AH is what both core types have, leaf 23H is this core's own.
inline FakeBus lunar_lake(u32 core_type) {
  FakeBus bus = product(0xB06D1, {0x0D300806, 0x280, 7, 0x8603}, 0x6680);
  bus.leaves[{7, 0}].edx = cpuid_hybrid | cpuid_arch_lbr;
  bus.leaves[{7, 1}].eax = cpuid_arch_perfmon_ext;
  bus.leaves[{0x1A, 0}].eax = core_type << 24 | 3;
  bus.leaves[{0x1C, 0}] = {0xC000000B, 7, 0x000F0007, 0};
  for (u32 n = 0; n < 10; ++n)
    for (u32 r = 0; r < 4; ++r) bus.msrs[msr::V6_GP0_CTR + 4 * n + r] = 0;
  for (u32 m = 0; m < 7; ++m)
    for (const u32 r : {0, 2, 3}) bus.msrs[msr::V6_FX0_CTR + 4 * m + r] = 0;
  for (u32 i = 0; i < 32; ++i)
    for (const u32 row : {msr::ARCH_LBR_FROM_0, msr::ARCH_LBR_TO_0, msr::ARCH_LBR_INFO_0})
      bus.msrs[row + i] = 0;
  bus.msrs[msr::ARCH_LBR_CTL] = bus.msrs[msr::ARCH_LBR_DEPTH] = 0;
  return bus;
}
inline FakeBus lion_cove() {
  FakeBus bus = lunar_lake(0x40);
  bus.msrs[msr::PERF_CAPABILITIES] |= msr::perf_cap::PERF_METRICS;  // no longer what all cores have
  bus.leaves[{0x23, 0}] = {0xB, 3, 0, 0};
  bus.leaves[{0x23, 1}] = {0x3FF, 0xF, 0, 0};
  bus.leaves[{0x23, 3}] = {0x1DFF, 0, 0, 0};
  return bus;
}
inline FakeBus skymont() {
  FakeBus bus = lunar_lake(0x20);
  bus.leaves[{0x23, 0}] = {0xF, 3, 8, 0};
  bus.leaves[{0x23, 1}] = {0xFF, 0x77, 0, 0};
  bus.leaves[{0x23, 2}] = {0xFC, 3, 0xFC, 3};
  bus.leaves[{0x23, 3}] = {0x1F7F, 0, 0, 0};
  for (const u32 n : {0u, 1u, 8u, 9u}) bus.msrs.erase(msr::V6_GP0_CFG_B + 4 * n);  // GP 2-7, FX 0-1 reload
  for (const u32 m : {2u, 3u, 4u, 5u, 6u}) bus.msrs.erase(msr::V6_FX0_CFG_B + 4 * m);
  return bus;
}
/// Panther Lake's E core: architectural PEBS shares CFG_C with auto counter reload.
inline FakeBus darkmont() {
  FakeBus bus = skymont();
  bus.leaves[{1, 0}].eax = 0xC06C2;
  bus.leaves[{0x23, 0}].eax = 0x3F;
  bus.leaves[{0x23, 4}] = {0, 0x60060338, 0, 0};
  bus.leaves[{0x23, 5}] = {0xFF, 3, 0x77, 1};
  bus.msrs[msr::PEBS_BASE] = bus.msrs[msr::PEBS_INDEX] = 0;
  return bus;
}
/// Diamond Rapids: no hybrid, metrics, and architectural PEBS with all groups of counters.
inline FakeBus panther_cove() {
  FakeBus bus = lion_cove();
  bus.leaves[{1, 0}].eax = 0xF << 8 | 4 << 20 | 1 << 4;
  bus.leaves[{7, 0}].edx = cpuid_arch_lbr;
  bus.leaves[{0x23, 0}].eax = 0x3F;
  bus.leaves[{0x23, 2}] = {0x3FC, 3, 0x3FC, 3};
  bus.leaves[{0x23, 4}] = {0, 0x60060378, 0, 0};
  bus.leaves[{0x23, 5}] = {0x3FF, 1, 0xF, 1};
  bus.msrs[msr::PEBS_BASE] = bus.msrs[msr::PEBS_INDEX] = 0;
  return bus;
}

}  // namespace pmusim::driver

#endif
