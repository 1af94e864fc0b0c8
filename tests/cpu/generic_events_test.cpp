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
    return cache_event_encoding(skylake, cache, operation, result).kind;
  };
  EXPECT_EQ(kind(CacheId::l1i, CacheOperation::write, CacheResult::access), Kind::invalid);
  EXPECT_EQ(kind(CacheId::bpu, CacheOperation::prefetch, CacheResult::access), Kind::invalid);
  EXPECT_EQ(kind(CacheId::l1d, CacheOperation::write, CacheResult::miss), Kind::none);
  EXPECT_EQ(kind(CacheId::l1d, CacheOperation::read, CacheResult::miss), Kind::valid);
}

TEST(CacheEvents, FollowTheTableOfEachGeneration) {  // Linux: intel_perfmon_event_map, hw_cache_event_ids
  const auto dtlb_read_miss = [](Microarchitecture core) {
    return cache_event_encoding(core, CacheId::dtlb, CacheOperation::read, CacheResult::miss).config;
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
      cache_event_encoding(golden_cove, CacheId::ll, CacheOperation::read, CacheResult::access);
  EXPECT_EQ(loads.config, 0x012Au);
  EXPECT_NE(loads.extra, 0u);
}

TEST(CacheEvents, TheLastLevelOfOmrCoresGoesThroughOmr) {
  const auto encoding = [](Microarchitecture core, CacheOperation operation, CacheResult result) {
    const auto e = cache_event_encoding(core, CacheId::ll, operation, result);
    return std::pair(e.config, e.extra);
  };
  using enum CacheOperation;
  using enum CacheResult;
  for (const auto& [core, event] :
       {std::pair{panther_cove, u64{0x012A}}, {coyote_cove, u64{0x012A}}, {arctic_wolf, u64{0x01B7}}}) {
    EXPECT_EQ(encoding(core, read, access), std::pair(event, u64{0x4000000000000001}));
    EXPECT_EQ(encoding(core, read, miss), std::pair(event, u64{0xFFFFF000000001}));
    EXPECT_EQ(encoding(core, write, access), std::pair(event, u64{0x4000000000000002}));
    EXPECT_EQ(encoding(core, write, miss), std::pair(event, u64{0xFFFFF000000002}));
  }
}

TEST(CacheEvents, GoldmontsLastLevelIsItsL2) {
  for (const Microarchitecture core : {goldmont, goldmont_plus}) {
    EXPECT_EQ(cache_event_encoding(core, CacheId::ll, CacheOperation::read, CacheResult::access).extra,
              0x10001u);
    EXPECT_EQ(cache_event_encoding(core, CacheId::ll, CacheOperation::read, CacheResult::miss).extra,
              0x3600000001u);
  }
}

}  // namespace
}  // namespace pmusim
