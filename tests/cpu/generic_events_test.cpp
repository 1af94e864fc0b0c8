// SPDX-License-Identifier: MIT
#include "cpu/generic_events.h"

#include <gtest/gtest.h>

namespace pmusim {
namespace {

using enum Microarchitecture;
constexpr u32 all_arch_events = 0x7F;

TEST(GenericEvents,
     ArchitecturalEncodingsAreTheSameEverywhere) {  // Linux: intel_perfmon_event_map, hw_cache_event_ids
  for (const Microarchitecture core : {core2, nehalem, skylake, ice_lake, lion_cove, skymont}) {
    EXPECT_EQ(generic_event_encoding(core, GenericEvent::cpu_cycles, all_arch_events), 0x003Cu);
    EXPECT_EQ(generic_event_encoding(core, GenericEvent::instructions, all_arch_events), 0x00C0u);
    EXPECT_EQ(generic_event_encoding(core, GenericEvent::cache_misses, all_arch_events), 0x412Eu);
    EXPECT_EQ(generic_event_encoding(core, GenericEvent::branch_misses, all_arch_events), 0x00C5u);
  }
}

TEST(GenericEvents, AnAbsentArchitecturalEventRemovesItsGenericOne) {
  EXPECT_EQ(generic_event_encoding(skymont, GenericEvent::branch_misses, 0x3F), std::nullopt);
  EXPECT_EQ(generic_event_encoding(nehalem, GenericEvent::branch_misses, 0x3F), 0x7F89u) << "AAJ80";
}

TEST(GenericEvents, RefCyclesBecameArchitecturalWithGoldenCove) {
  EXPECT_EQ(generic_event_encoding(ice_lake, GenericEvent::ref_cycles, all_arch_events), 0x0300u);
  EXPECT_EQ(generic_event_encoding(tremont, GenericEvent::ref_cycles, all_arch_events), 0x0300u);
  EXPECT_EQ(generic_event_encoding(golden_cove, GenericEvent::ref_cycles, all_arch_events), 0x013Cu);
  EXPECT_EQ(generic_event_encoding(gracemont, GenericEvent::ref_cycles, all_arch_events), 0x013Cu);
  EXPECT_EQ(generic_event_encoding(gracemont, GenericEvent::ref_cycles, 0x7B), 0x0300u);
}

TEST(GenericEvents, StalledCyclesEndWithIvyBridge) {
  const auto frontend = GenericEvent::stalled_cycles_frontend, backend = GenericEvent::stalled_cycles_backend;
  EXPECT_EQ(generic_event_encoding(ivy_bridge, frontend, all_arch_events), 0x0180010Eu);
  EXPECT_EQ(generic_event_encoding(haswell, frontend, all_arch_events), std::nullopt);
  EXPECT_EQ(generic_event_encoding(westmere, backend, all_arch_events), 0x01803FB1u);
  EXPECT_EQ(generic_event_encoding(sandy_bridge, backend, all_arch_events), 0x018001B1u);
  EXPECT_EQ(generic_event_encoding(ivy_bridge, backend, all_arch_events), std::nullopt);
}

TEST(CacheEvents, DistinguishInvalidFromMissing) {
  using Kind = CacheEventEncoding::Kind;
  const auto kind = [](CacheId cache, CacheOperation operation, CacheResult result) {
    return cache_event_encoding({.core = skylake}, cache, operation, result).kind;
  };
  EXPECT_EQ(kind(CacheId::l1i, CacheOperation::write, CacheResult::access), Kind::invalid);
  EXPECT_EQ(kind(CacheId::bpu, CacheOperation::prefetch, CacheResult::access), Kind::invalid);
  EXPECT_EQ(kind(CacheId::l1d, CacheOperation::write, CacheResult::miss), Kind::none);
  EXPECT_EQ(kind(CacheId::l1d, CacheOperation::read, CacheResult::miss), Kind::valid);
}

TEST(CacheEvents, FollowTheTableOfEachGeneration) {  // Linux: intel_perfmon_event_map, hw_cache_event_ids
  const auto dtlb_read_miss = [](Microarchitecture core) {
    return cache_event_encoding({.core = core}, CacheId::dtlb, CacheOperation::read, CacheResult::miss)
        .config;
  };
  EXPECT_EQ(dtlb_read_miss(nehalem), 0x0108u);
  EXPECT_EQ(dtlb_read_miss(ivy_bridge), 0x8108u) << "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK moved there";
  EXPECT_EQ(dtlb_read_miss(haswell), 0x0108u);
  EXPECT_EQ(dtlb_read_miss(ice_lake), 0x0E08u);
  EXPECT_EQ(dtlb_read_miss(redwood_cove), 0x0E12u);
  EXPECT_EQ(dtlb_read_miss(tremont), 0x0E08u);
}

TEST(CacheEvents, TheLastLevelGoesThroughTheOffCoreRegister) {
  const auto loads =
      cache_event_encoding({.core = golden_cove}, CacheId::ll, CacheOperation::read, CacheResult::access);
  EXPECT_EQ(loads.config, 0x012Au);
  EXPECT_NE(loads.extra, 0u);
}

struct LastLevelOf {
  const char* product;
  Microarchitecture core;
  u32 model;
  u64 event, read, read_miss, write, write_miss;
};

void expect_last_level(const LastLevelOf& row, CacheTable::Edition edition) {
  const auto value = [&](CacheOperation operation, CacheResult result) {
    const auto e = cache_event_encoding({.core = row.core, .model = row.model, .edition = edition},
                                        CacheId::ll, operation, result);
    return std::pair(e.config, e.extra);
  };
  using enum CacheOperation;
  using enum CacheResult;
  EXPECT_EQ(value(read, access), std::pair(row.event, row.read)) << row.product;
  EXPECT_EQ(value(read, miss), std::pair(row.event, row.read_miss)) << row.product;
  EXPECT_EQ(value(write, access), std::pair(row.event, row.write)) << row.product;
  EXPECT_EQ(value(write, miss), std::pair(row.event, row.write_miss)) << row.product;
}

TEST(CacheEvents, OfTheLastLevelAreThoseOfLinux7_3) {  // register values that its driver writes for LL events
  constexpr u64 omr = 0x4000000000000000;
  const LastLevelOf rows[] = {
      {"NHM", nehalem, 0x1A, 0x01B7, 0xF701, 0xF001, 0xF70A, 0xF00A},
      {"WSM", westmere, 0x25, 0x01B7, 0xF701, 0xF001, 0xF70A, 0xF00A},
      {"HSW", haswell, 0x3C, 0x01B7, 0x10001, 0x3FB8400001, 0x10002, 0x3FB8400002},
      {"BDW", broadwell, 0x3D, 0x01B7, 0x10001, 0x1FBC000001, 0x10002, 0x1FBC000002},
      {"SKL", skylake, 0x5E, 0x01B7, 0x3FC0010001, 0x3FFC020001, 0x3FC0010002, 0x3FFC020002},
      {"ICL", ice_lake, 0x7E, 0x01B7, 0x3FC0010001, 0x3FFC020001, 0x3FC0010002, 0x3FFC020002},
      {"ICX", ice_lake, 0x6A, 0x01B7, 0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002},
      {"SPR", golden_cove, 0x8F, 0x012A, 0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002},
      {"GNR", redwood_cove, 0xAD, 0x012A, 0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002},
      {"ADL", golden_cove, 0x97, 0x012A, 0x10001, 0x3FBFC00001, 0x10002, 0x3FBFC00002},
      {"MTL", redwood_cove, 0xAA, 0x012A, 0x10001, 0x3FBFC00001, 0x10002, 0x3FBFC00002},
      {"LNL", lion_cove, 0xBD, 0x012A, 0x10001, 0x9E7FA000001, 0x10002, 0x9E7FA000002},
      {"PTL", cougar_cove, 0xCC, 0x012A, 0x10001, 0x9E7FA000001, 0x10002, 0x9E7FA000002},
      {"ARL", lion_cove, 0xC6, 0x012A, 0x10001, 0xFE7F8000001, 0x10002, 0xFE7F8000002},
      {"ARL-H", lion_cove, 0xC5, 0x012A, 0x10001, 0xFE7F8000001, 0x10002, 0xFE7F8000002},
      {"DMR", panther_cove, 0x01, 0x012A, omr | 1, 0xFFFFF000000001, omr | 2, 0xFFFFF000000002},
      {"NVL", coyote_cove, 0x01, 0x012A, omr | 1, 0xFF03F000000001, omr | 2, 0xFF03F000000002},
      {"ADL", gracemont, 0x97, 0x01B7, 0x10001, 0x3F84400001, 0x10002, 0x3F84400002},
      {"MTL", crestmont, 0xAA, 0x01B7, 0x10001, 0x3FBFC00001, 0x10002, 0x3FBFC00002},
      {"LNL", skymont, 0xBD, 0x01B7, 0x10001, 0x13FBFC00001, 0x10002, 0x13FBFC00002},
      {"PTL", darkmont, 0xCC, 0x01B7, 0x10001, 0x13FBFC00001, 0x10002, 0x13FBFC00002},
      {"CWF", darkmont, 0xDD, 0x01B7, 0x10001, 0x33FBFC00001, 0x10002, 0x33FBFC00002},
      {"NVL", arctic_wolf, 0x01, 0x01B7, omr | 9, 0xFF03F000000009, omr | 0xA, 0xFF03F00000000A},
      {"JSL", tremont, 0x9C, 0x01B7, 0x10001, 0x3F04000001, 0x10002, 0x3F04000002},
  };
  for (const LastLevelOf& row : rows) expect_last_level(row, CacheTable::Edition::corrected);
}

TEST(CacheEvents, OfTheLastLevelWereOneForAFamilyInLinux6_12) {  // hw_cache_extra_regs of its tables
  const LastLevelOf rows[] = {
      {"ADL", golden_cove, 0x97, 0x012A, 0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002},
      {"LNL", lion_cove, 0xBD, 0x012A, 0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002},
      {"ADL", gracemont, 0x97, 0x01B7, 0x10001, 0x3F04000001, 0x10002, 0x3F04000002},
      {"LNL", skymont, 0xBD, 0x01B7, 0x10001, 0x3F04000001, 0x10002, 0x3F04000002},
  };
  for (const LastLevelOf& row : rows) expect_last_level(row, CacheTable::Edition::first);
}

TEST(CacheEvents, GoldmontsLastLevelIsItsL2) {
  for (const Microarchitecture core : {goldmont, goldmont_plus}) {
    EXPECT_EQ(
        cache_event_encoding({.core = core}, CacheId::ll, CacheOperation::read, CacheResult::access).extra,
        0x10001u);
    EXPECT_EQ(
        cache_event_encoding({.core = core}, CacheId::ll, CacheOperation::read, CacheResult::miss).extra,
        0x3600000001u);
  }
}

}  // namespace
}  // namespace pmusim
