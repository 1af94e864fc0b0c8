// SPDX-License-Identifier: MIT
// perf's hardware-cache events as Linux' tables have them (hw_cache_event_ids of intel_pmu_init), literally.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cpu/core_facts.h"
#include "cpu/generic_events.h"

namespace pmusim {
namespace {

using enum Microarchitecture;

/// Event select bits by core: 0 where the core has no such event.
struct Row {
  CacheId cache;
  CacheOperation operation;
  CacheResult result;
  u64 nehalem, westmere, sandy_bridge, haswell, skylake, golden_cove, goldmont_plus;
};

using enum CacheId;
using enum CacheResult;
constexpr CacheOperation read = CacheOperation::read, write = CacheOperation::write;

constexpr Row rows[] = {
    {l1d, read, access, 0x010B, 0x010B, 0xF1D0, 0x81D0, 0x81D0, 0x81D0, 0x81D0},
    {l1d, read, miss, 0x0151, 0x0151, 0x0151, 0x0151, 0x0151, 0xE124, 0},
    {l1d, write, access, 0x020B, 0x020B, 0xF2D0, 0x82D0, 0x82D0, 0x82D0, 0x82D0},
    {l1d, write, miss, 0x0251, 0x0251, 0x0851, 0, 0, 0, 0},
    {l1i, read, access, 0x0380, 0x0380, 0, 0, 0, 0, 0x0380},
    {l1i, read, miss, 0x0280, 0x0280, 0x0280, 0x0280, 0x0283, 0xE424, 0x0280},
    {dtlb, read, access, 0x0F40, 0x010B, 0x81D0, 0x81D0, 0x81D0, 0x81D0, 0x81D0},
    {dtlb, read, miss, 0x0108, 0x0108, 0x0108, 0x0108, 0x0E08, 0x0E12, 0x0E08},
    {dtlb, write, access, 0x0F41, 0x020B, 0x82D0, 0x82D0, 0x82D0, 0x82D0, 0x82D0},
    {dtlb, write, miss, 0x010C, 0x010C, 0x0149, 0x0149, 0x0E49, 0x0E13, 0x0E49},
    {itlb, read, access, 0x01C0, 0x01C0, 0x1085, 0x6085, 0x2085, 0, 0x00C0},
    {itlb, read, miss, 0x20C8, 0x0185, 0x0185, 0x0185, 0x0E85, 0x0E11, 0x0481},
    {bpu, read, access, 0x00C4, 0x00C4, 0x00C4, 0x00C4, 0x00C4, 0x04C4, 0x00C4},
    {bpu, read, miss, 0x03E8, 0x03E8, 0x00C5, 0x00C5, 0x00C5, 0x04C5, 0x00C5},
};

TEST(CacheEventTables, AreLinuxs) {
  for (const Row& row : rows)
    for (const auto& [core, expected] : {std::pair{Microarchitecture::nehalem, row.nehalem},
                                         {Microarchitecture::westmere, row.westmere},
                                         {Microarchitecture::sandy_bridge, row.sandy_bridge},
                                         {Microarchitecture::haswell, row.haswell},
                                         {Microarchitecture::broadwell, row.haswell},
                                         {Microarchitecture::skylake, row.skylake},
                                         {Microarchitecture::skylake_x, row.skylake},
                                         {Microarchitecture::ice_lake, row.skylake},
                                         {Microarchitecture::golden_cove, row.golden_cove},
                                         {Microarchitecture::redwood_cove, row.golden_cove},
                                         {Microarchitecture::goldmont_plus, row.goldmont_plus},
                                         {Microarchitecture::tremont, row.goldmont_plus}}) {
      const CacheEventEncoding encoding =
          cache_event_encoding({.core = core}, row.cache, row.operation, row.result);
      EXPECT_EQ(encoding.kind == CacheEventEncoding::Kind::valid ? encoding.config : 0, expected)
          << fmt::format("core {}, cache {}, operation {}, result {}", static_cast<unsigned>(core),
                         static_cast<unsigned>(row.cache), static_cast<unsigned>(row.operation),
                         static_cast<unsigned>(row.result));
    }
}

}  // namespace
}  // namespace pmusim
