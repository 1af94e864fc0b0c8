// SPDX-License-Identifier: MIT
#include <array>

#include "driver/amd/ibs/unit.h"
#include "driver/x86/data_source_words.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {
namespace {

constexpr std::array<u32, 4> fetch_registers{ibs::FETCH_CTL, ibs::FETCH_LIN_AD, ibs::FETCH_PHYS_AD,
                                             ibs::EXTD_CTL};
constexpr std::array<u32, 8> op_registers{ibs::OP_CTL,   ibs::OP_RIP,    ibs::OP_DATA,    ibs::OP_DATA2,
                                          ibs::OP_DATA3, ibs::DC_LIN_AD, ibs::DC_PHYS_AD, ibs::BR_TARGET};

IbsLayout fetch_layout(const IbsPart& part) {
  namespace f = ibs::fetch;
  const std::size_t registers = part.has(ibs::caps::FETCH_CTL_EXTENSION) ? 4 : 3;
  return {.name = "ibs_fetch",
          .control = ibs::FETCH_CTL,
          .registers = std::span(fetch_registers).first(registers),
          .enable = f::EN,
          .valid = f::VAL,
          .period = f::MAX_CNT,
          .count = f::CNT,
          .cleared_at_stop = f::MAX_CNT,
          .longest_period = 0xFFFF0,
          .shortest_period = 0x10,
          .config = f::MAX_CNT | f::RAND_EN | (part.has(ibs::caps::L3_MISS_FILTER) ? f::L3_MISS_ONLY : 0)};
}

IbsLayout op_layout(const IbsPart& part) {
  namespace o = ibs::op;
  const bool is_extended = part.has(ibs::caps::OP_COUNT_EXTENSION);
  const std::size_t registers = part.has(ibs::caps::BRANCH_TARGET) ? 8 : 7;
  return {.name = "ibs_op",
          .control = ibs::OP_CTL,
          .registers = std::span(op_registers).first(registers),
          .enable = o::EN,
          .valid = o::VAL,
          .period = o::MAX_CNT,
          .period_extension = is_extended ? o::MAX_CNT_EXTENSION : 0,
          .count = o::CUR_CNT,
          .cleared_at_stop = o::MAX_CNT | o::CUR_CNT,
          .longest_period = is_extended ? 0x7FFFFF0u : 0xFFFF0u,
          .shortest_period = 0x90,
          .config = o::MAX_CNT | (is_extended ? o::MAX_CNT_EXTENSION : 0) |
                    (part.has(ibs::caps::OP_COUNT) ? o::CNT_CTL : 0) |
                    (part.has(ibs::caps::L3_MISS_FILTER) ? o::L3_MISS_ONLY : 0)};
}

u64 source_of(const IbsPart& part, u64 data2) {
  return (data2 & ibs::data2::SOURCE) | (part.has(ibs::caps::L3_MISS_FILTER) ? data2 >> 3 & 0x18 : 0);
}

/// What a data source says of the level: where RmtNode is clear, and where it is set.
struct SourceLevel {
  u64 here = 0, remote_node = 0;
};
constexpr u64 one_hop = mem::remote | mem::hops(1);
constexpr u64 io = mem::level_io | mem::level_hit | mem::number_io;
constexpr u64 far_cache = mem::level_remote_cache2 | mem::level_hit | mem::number_any_cache | one_hop;
constexpr SourceLevel dram{mem::level_ram | mem::level_hit | mem::number_ram,
                           mem::level_remote_ram1 | mem::level_hit | mem::number_ram | one_hop};

constexpr auto levels_until_zen3 = [] {
  std::array<SourceLevel, 8> levels{};
  const u64 near =
      mem::level_l3 | mem::level_remote_cache1 | mem::level_hit | mem::number_any_cache | mem::hops(0);
  levels[2] = {near, near};
  levels[3] = dram;
  levels[4] = {far_cache, far_cache};
  levels[7] = {io, io};
  return levels;
}();
constexpr auto levels_since_zen4 = [] {
  std::array<SourceLevel, 32> levels{};
  const u64 l3 = mem::level_l3 | mem::level_hit | mem::level_number(3);
  const u64 near =
      mem::level_remote_cache1 | mem::level_hit | mem::number_any_cache | mem::remote | mem::hops(0);
  levels[1] = {l3, l3};
  levels[2] = {near, near};
  levels[3] = dram;
  levels[5] = {far_cache, far_cache};
  levels[6] = {mem::number_pmem, mem::number_pmem | one_hop};
  levels[7] = {io, io};
  levels[8] = {mem::number_cxl, mem::number_cxl | one_hop};
  return levels;
}();

/// 0: a source that says nothing.
u64 level_of_source(const IbsPart& part, u64 data2) {
  const SourceLevel& level = part.has(ibs::caps::L3_MISS_FILTER) ? levels_since_zen4[source_of(part, data2)]
                                                                 : levels_until_zen3[source_of(part, data2)];
  return (data2 & ibs::data2::REMOTE_NODE) != 0 ? level.remote_node : level.here;
}

/// Of a miss of L2: where it joined another one, no source is as good as that.
u64 level_beyond_l2(const IbsPart& part, u64 data2, bool joined) {
  if (const u64 level = level_of_source(part, data2); level != 0) return level;
  return joined ? mem::level_lfb | mem::level_hit | mem::number_lfb : mem::level_na | mem::number_na;
}

}  // namespace

IbsPart IbsPart::of(Bus& bus) {
  constexpr u32 has_ibs = 1u << 10, extended_leaf = 0x8000001B;
  IbsPart part;
  const CpuidResult signature = bus.cpuid(1, 0);
  const u32 base_family = signature.eax >> 8 & 0xF;
  part.family = base_family + (base_family == 0xF ? signature.eax >> 20 & 0xFF : 0);
  part.model = (signature.eax >> 4 & 0xF) | (signature.eax >> 12 & 0xF0);
  if (const u32 bits = bus.cpuid(0x80000008, 0).eax >> 8 & 0xFF; bits != 0) part.linear_bits = bits;
  if ((bus.cpuid(0x80000001, 0).ecx & has_ibs) == 0) return part;
  if (bus.cpuid(0x80000000, 0).eax >= extended_leaf) part.caps = bus.cpuid(extended_leaf, 0).eax;
  if (!part.has(ibs::caps::AVAILABLE))
    part.caps = ibs::caps::AVAILABLE | ibs::caps::FETCH_SAMPLING | ibs::caps::OP_SAMPLING;
  return part;
}

IbsLayout layout_of(IbsSide side, const IbsPart& part) {
  return side == IbsSide::fetch ? fetch_layout(part) : op_layout(part);
}

u64 ibs_data_source(const IbsPart& part, u64 data2, u64 data3) {
  using namespace ibs::data3;
  if ((data3 & (LOAD | STORE)) == 0) return perf::data_source_na;
  const bool is_load = (data3 & LOAD) != 0, joined = (data3 & JOINED_MISS) != 0;
  const u64 source = source_of(part, data2);
  // Erratum 1293: what these say of levels is void.
  const bool is_void = part.is_milan() && (data3 & (SOFTWARE_PREFETCH | JOINED_MISS)) != 0;
  u64 level = 0;
  bool is_near = true;  // L1 or L2
  if ((data3 & bit(14)) != 0 && source != 7)
    level = mem::level_uncached | mem::level_hit | mem::number_uncached;
  else if ((data3 & DC_MISS) == 0)
    level = mem::level_l1 | mem::level_hit | mem::level_number(1);
  else if ((data3 & L2_MISS) == 0 && !is_void)
    level = mem::level_l2 | mem::level_hit | mem::level_number(2);
  else {
    level = level_beyond_l2(part, is_load && !is_void ? data2 : 0, joined);
    is_near = false;
  }
  const bool of_cache = source == 2 || (part.has(ibs::caps::L3_MISS_FILTER) && (source == 1 || source == 5));
  const bool is_modified =
      !part.is_zen3() && is_load && !is_near && of_cache && (data2 & ibs::data2::HIT_OWNED) == 0;

  u64 tlb = mem::tlb_l1 | mem::tlb_hit;
  if ((data3 & LINEAR_VALID) == 0)
    tlb = mem::tlb_na;
  else if ((data3 & L1_TLB_MISS) != 0)
    tlb = mem::tlb_l2 | ((data3 & L2_TLB_MISS) != 0 ? mem::tlb_miss : mem::tlb_hit);
  return (is_load ? mem::op_load : mem::op_store) | level |
         (is_modified ? mem::snoop_modified : mem::snoop_na) | tlb |
         ((data3 & LOCKED) != 0 ? mem::lock_locked : mem::lock_na);
}

}  // namespace pmusim::driver
