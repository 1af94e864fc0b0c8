// SPDX-License-Identifier: MIT
#include "driver/intel/samples/data_source.h"

#include <algorithm>
#include <array>

#include "driver/intel/cores/core_traits.h"
#include "driver/x86/data_source_words.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

namespace {

constexpr u64 unknown_load = 0x1E'0008'0002;  // level and snoop not available

using Table = std::array<u64, 16>;

constexpr Table sandy_bridge{
    0x600080082,   // L3 miss, nothing more known
    0x200100142,   // L1
    0x1800100242,  // fill buffer
    0x400100442,   // L2
    0x600100842,   // L3, no snoop
    0x600400842,   // L3, snoop miss
    0x600200842,   // L3, snoop hit
    0x600800842,   // L3, snoop hit modified
    0x2600208042,  // remote cache, snoop hit
    0x2600808042,  // remote cache, hit modified
    0x1A00201042,  // local RAM, shared
    0x2600202042,  // remote RAM, shared
    0x1A00501042,  // local RAM, exclusive
    0x3A00502042,  // remote RAM, exclusive
    0x1E00120042,  // I/O
    0x1E00140042,  // uncached
};

constexpr Table changed(Table table, std::initializer_list<std::pair<unsigned, u64>> changes) {
  for (const auto& [code, word] : changes) table[code] = word;
  return table;
}

constexpr Table nehalem = changed(sandy_bridge, {{5, 0x600200842}, {6, 0x600800842}});
constexpr Table skylake = changed(sandy_bridge, {{0x8, 0x800200042},     // L4
                                                 {0x9, 0x2800200042},    // remote L4
                                                 {0xB, 0x3A00100042},    // remote RAM
                                                 {0xC, 0x7600000042},    // remote cache, forward
                                                 {0xD, 0x3600800042}});  // remote cache, hit modified
constexpr Table skylake_pmem = changed(skylake, {{8, 0x1C00200042}, {9, 0x3C00200042}});
constexpr Table gracemont =
    changed(sandy_bridge, {{5, 0x600200842}, {6, 0x600800842}, {8, 0x4600000842}});  // 8: L3, forward
constexpr Table crestmont = changed(sandy_bridge, {{0x7, 0x4600000842},              // L3, forward
                                                   {0x8, 0x600800842},               // L3, hit modified
                                                   {0xA, 0x1A00101042},              // local RAM
                                                   {0xB, 0x3A00100042},              // remote RAM
                                                   {0xC, 0x7A00000042},              // remote RAM, forward
                                                   {0xD, 0x3A00800042}});  // remote RAM, hit modified
constexpr u64 no_level = 0x1E00080022;  // a load whose level is not available
constexpr Table panther_cove_near = changed({}, {{0x0, no_level},
                                                 {0x1, 0xE00100042},     // L0
                                                 {0x2, 0x200100142},     // L1
                                                 {0x3, 0x1800100242},    // L1 miss buffer
                                                 {0x4, 0x400100442},     // L2, clean
                                                 {0x7, 0x400200442},     // L2, snoop hit
                                                 {0x8, 0x400800442},     // L2, hit modified
                                                 {0x9, 0x400100442},     // L2, promoted prefetch
                                                 {0xA, 0x400100442},     // the same of another core
                                                 {0xF, 0x1E00140042}});  // uncached
constexpr Table arctic_wolf_near = changed({}, {{0x0, no_level},
                                                {0x1, 0x200100142},     // L1
                                                {0x2, 0x1800100242},    // fill buffer
                                                {0x3, 0x400100442},     // L2, clean
                                                {0x4, 0x400200442},     // L2, snoop hit
                                                {0x5, 0x400800442},     // L2, hit modified
                                                {0x6, 0x1E00140042}});  // uncached

u64 lion_cove(u64 code) {
  switch (code) {
    case 0x00:
      return 0x600080082;
    case 0x01:
    case 0x02:
      return 0x200100142;
    case 0x03:
      return 0x1800100242;
    case 0x05:
      return 0x400100442;
    case 0x06:
      return 0xA00100042;  // L2 miss-handling buffer
    case 0x08:
      return 0x600100842;
    case 0x0C:
      return 0x4600000842;
    case 0x0D:
      return 0x600800842;
    case 0x0F:
      return 0x600800882;  // L3 miss, hit modified
    case 0x10:
      return 0xC00100042;  // memory-side cache
    case 0x11:
      return 0x1A00101042;  // local RAM
    default:
      return 0;
  }
}

/// What snooping other caches brought, of an off-module source.
u64 off_module_snoop(u64 code) {
  constexpr u64 modified = bit(5), snooped = bit(6);
  const u64 source = code & 0xF;
  if (source == 2) {
    if ((code & modified) != 0) return mem::snoop_modified;
    constexpr std::array by_snoop_and_promoted{mem::snoop_na, mem::snoop_miss, mem::snoop_hit,
                                               mem::snoop_none};
    return by_snoop_and_promoted[field(code, 7, 6)];
  }
  if (source >= 7) return mem::snoop_none;
  return ((code & modified) != 0 ? mem::snoop_modified : mem::snoop_hit) |
         ((code & snooped) != 0 ? mem::snoop_forward : 0);
}

/// Off-module sources of Panther Cove and Arctic Wolf: their low nibble is perf's memory region. 2 to 6 are
/// caches, 7 is MMIO, from 8 on they are memories.
u64 off_module(u64 code) {
  constexpr u64 load = 2, l3 = bit(11) | u64{3} << 33, ram = u64{13} << 33;
  constexpr u64 local_ram = bit(12), remote_ram = bit(13), remote_cache = bit(15), remote = bit(37);
  const u64 source = code & 0xF;
  const bool is_remote = (code & bit(4)) != 0;
  // 0 is invalid and 1 reserved: whether it was remote, and that nobody was asked, is shown all the same.
  if (source < 2) return (source == 0 ? no_level : load) | mem::snoop_none | (is_remote ? remote : 0);
  u64 word = load | mem::level_hit | source << 46 | off_module_snoop(code) | (is_remote ? remote : 0);
  if (source < 7) return word | l3 | (is_remote ? remote_cache : 0);
  if (source > 7) word |= is_remote ? remote_ram : local_ram;
  return word | ram;
}

u64 source_word(const DataSourceReader& reader, u64 word) {
  const DataSourceLayout layout = data_source_layout(reader.encoding);
  const u64 code = word & layout.code;
  switch (reader.encoding) {
    case DataSourceEncoding::none:
      return 0;
    case DataSourceEncoding::nehalem:
    case DataSourceEncoding::westmere:
      return nehalem[code];
    case DataSourceEncoding::sandy_bridge:
      return sandy_bridge[code];
    case DataSourceEncoding::skylake:
    case DataSourceEncoding::golden_cove:
      return reader.persistent_memory ? skylake_pmem[code] : skylake[code];
    case DataSourceEncoding::gracemont:
      return gracemont[code];
    case DataSourceEncoding::crestmont:
      return crestmont[code];
    case DataSourceEncoding::lion_cove:
      return lion_cove(code);
    case DataSourceEncoding::panther_cove:
      return (word & layout.l2_miss) != 0 ? off_module(code) : panther_cove_near[code & 0xF];
    case DataSourceEncoding::arctic_wolf:
      return (word & layout.l2_miss) != 0 ? off_module(code) : arctic_wolf_near[code & 0xF];
  }
  return 0;
}

u64 with_tlb_and_lock(const DataSourceReader& reader, u64 word, u64 source) {
  if (source == 0) source = unknown_load;
  const DataSourceLayout layout = data_source_layout(reader.encoding);
  if (layout.stlb_miss == 0) return source | (mem::tlb_na | mem::lock_na);
  source |=
      (word & layout.stlb_miss) != 0 ? mem::tlb_miss | mem::tlb_l2 : mem::tlb_hit | mem::tlb_l1 | mem::tlb_l2;
  if ((word & layout.locked) != 0) source |= mem::lock_locked;
  return source;
}

/// Since Golden Cove's successors and Gracemont, stores are encoded as loads are.
bool stores_are_encoded_as_loads(DataSourceEncoding encoding) {
  constexpr DataSourceEncoding alike[] = {DataSourceEncoding::gracemont, DataSourceEncoding::crestmont,
                                          DataSourceEncoding::lion_cove, DataSourceEncoding::panther_cove,
                                          DataSourceEncoding::arctic_wolf};
  return std::ranges::find(alike, encoding) != std::end(alike);
}

}  // namespace

DataSourceReader DataSourceReader::of(const Enumeration& enumeration) {
  const CoreTraits& core = traits_of(enumeration.microarchitecture);
  return {.encoding = core.data_source,
          .persistent_memory = product_traits(core, enumeration.model).persistent_memory};
}

u64 DataSourceReader::blocked(u64 word) const {
  const DataSourceLayout layout = data_source_layout(encoding);
  const u64 blocked = ((word & layout.data_blocked) != 0 ? mem::block_data : 0) |
                      ((word & layout.address_blocked) != 0 ? mem::block_address : 0);
  return blocked != 0 ? blocked : mem::block_na;
}

u64 DataSourceReader::load(u64 word) const {
  if (encoding == DataSourceEncoding::none) return perf::data_source_na;
  const u64 source = with_tlb_and_lock(*this, word, source_word(*this, word));
  return encoding == DataSourceEncoding::nehalem ? source : source | blocked(word);
}

u64 DataSourceReader::store(u64 word) const {
  if (encoding == DataSourceEncoding::none) return perf::data_source_na;
  const u64 source = with_tlb_and_lock(*this, word, source_word(*this, word)) |
                     (stores_are_encoded_as_loads(encoding) ? blocked(word) : mem::block_na);
  return (source & ~mem::op_mask) | mem::op_store;
}

u64 precise_store_source(u64 word) {
  constexpr u64 base = 0x4008'0104;  // store, snoop NA, L1, STLB
  u64 source = base | ((word & store_status::L1_HIT) != 0 ? mem::level_hit : mem::level_miss);
  source |= (word & store_status::STLB_MISS) != 0 ? mem::tlb_miss : mem::tlb_hit;
  if ((word & store_status::LOCKED) != 0) source |= mem::lock_locked;
  return source;
}

u64 load_address_source() { return (perf::data_source_na & ~mem::op_mask) | 2; }

u64 store_address_source(u64 word) {
  constexpr u64 level_mask = bits(18, 5);
  const u64 level = mem::level_l1 | ((word & store_status::L1_HIT) != 0 ? mem::level_hit : mem::level_miss);
  return (perf::data_source_na & ~mem::op_mask & ~level_mask) | mem::op_store | level;
}

}  // namespace pmusim::driver
