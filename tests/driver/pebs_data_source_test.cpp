// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "driver/intel/samples/data_source.h"
#include "driver/intel/samples/pebs_sample.h"
#include "fake_cpus.h"

namespace pmusim::driver {
namespace {

using E = DataSourceEncoding;

TEST(DataSource, DecodesSkylakesLockedL1HitWithAnStlbMiss) {
  EXPECT_EQ((DataSourceReader{E::skylake}.load(0x31)), 0x10252100142u);
}

TEST(DataSource, NehalemKnowsNeitherTlbNorLockNorBlocking) {
  EXPECT_EQ((DataSourceReader{E::nehalem}.load(0x6)), 0x600800842u | 0x5000000u);
}

TEST(DataSource, WestmereHasNehalemsCodesAndKnowsTlbAndLock) {
  EXPECT_EQ((DataSourceReader{E::westmere}.load(0x36)), 0x10652800842u);
}

TEST(DataSource, LittleCoresSwapTheBitsOfTheBigOnes) {  // STLB miss alone
  constexpr u64 miss = 0x50000000, hit_locked = 0x68000000 | 0x2000000;
  EXPECT_EQ((DataSourceReader{E::golden_cove}.load(0x11) & 0x7E000000), miss);
  EXPECT_EQ((DataSourceReader{E::gracemont}.load(0x11) & 0x7E000000), hit_locked);
  EXPECT_EQ((DataSourceReader{E::gracemont}.load(0x21) & 0x7E000000), miss);
}

TEST(DataSource, ServersReadCode8AsPersistentMemoryAndClientsAsL4) {
  const u64 parts = 0x68000000 | 0x10000000000;
  EXPECT_EQ((DataSourceReader{E::skylake, false}.load(8)), 0x800200042u | parts);
  EXPECT_EQ((DataSourceReader{E::skylake, true}.load(8)), 0x1C00200042u | parts);
}

TEST(DataSource, BlockedLoadsSaySoOnlyWhereTheEncodingHasTheBit) {
  constexpr u64 block = u64{7} << 40;
  EXPECT_EQ((DataSourceReader{E::golden_cove}.load(0x41) & block), u64{2} << 40);
  EXPECT_EQ((DataSourceReader{E::golden_cove}.load(0x81) & block), u64{4} << 40);
  EXPECT_EQ((DataSourceReader{E::skylake}.load(0xC1) & block), u64{1} << 40);
}

TEST(DataSource, StoresReplaceTheOperation) {
  EXPECT_EQ((DataSourceReader{E::golden_cove}.store(1) & 0x1F), 4u);
  EXPECT_EQ(load_address_source(), 0x1E05080022u);
  EXPECT_EQ(store_address_source(1), 0x1E05080144u);
  EXPECT_EQ(store_address_source(0), 0x1E05080184u);
  EXPECT_EQ(precise_store_source(1), 0x40080104u | 0x40 | 0x8000000);
  EXPECT_EQ(precise_store_source(0x30), 0x40080104u | 0x80 | 0x10000000 | 0x2000000);
}

TEST(DataSource, Code0MissedL3WithoutSayingThatItIsInIt) {
  constexpr u64 level_l3 = 0x800;
  for (const E encoding : {E::sandy_bridge, E::skylake, E::golden_cove, E::crestmont, E::lion_cove})
    EXPECT_EQ((DataSourceReader{encoding}.load(0) & (bits(36, 33) | bits(23, 5) | level_l3)), 0x600080080u);
}

TEST(DataSource, StoresOnTheLoadFacilitySayWhatBlockedThem) {
  constexpr u64 block = u64{7} << 40;
  EXPECT_EQ((DataSourceReader{E::golden_cove}.store(0x41) & block), u64{1} << 40);
  EXPECT_EQ((DataSourceReader{E::gracemont}.store(0x41) & block), u64{2} << 40);
  EXPECT_EQ((DataSourceReader{E::crestmont}.store(0x81) & block), u64{2} << 40);
  EXPECT_EQ((DataSourceReader{E::lion_cove}.store(0x3001) & block), u64{6} << 40);
  EXPECT_EQ((DataSourceReader{E::lion_cove}.store(0x0001) & block), u64{1} << 40);
}

// The words below are without TLB, lock and block bits.
constexpr u64 source_bits = bits(63, 46) | bits(39, 33) | bits(23, 0);

TEST(DataSource, PantherCoveAndArcticWolfMatchLinux7NearCodes) {
  for (const E encoding : {E::panther_cove, E::arctic_wolf})
    EXPECT_EQ((DataSourceReader{encoding}.load(0) & source_bits), 0x1E00080022u);  // no level
  EXPECT_EQ((DataSourceReader{E::panther_cove}.load(1) & source_bits), 0xE00100042u);
  for (const u64 promoted : {0x9u, 0xAu})
    EXPECT_EQ((DataSourceReader{E::panther_cove}.load(promoted) & source_bits), 0x400100442u);
}

TEST(DataSource, OffModuleSourcesAreThoseOfLinux7) {
  struct Row {
    u64 code, word;
  };
  constexpr u64 l3 = 0x600000842, ram = 0x1A00000042, remote = u64{1} << 37, forward = u64{1} << 38;
  constexpr u64 remote_cache = 0x8000, local_ram = 0x1000, remote_ram = 0x2000;
  constexpr u64 na = 0x80000, none = 0x100000, hit = 0x200000, miss = 0x400000, modified = 0x800000;
  const auto region = [](u64 n) { return n << 46; };
  const Row rows[] = {
      {0x00, 0x1E00180022},  // invalid: no level, snoop both not available and none
      {0x10, 0x1E00180022 | remote},
      {0x01, 2 | none},  // reserved: a load
      {0xF1, 2 | none | remote},
      {0x02, l3 | na | region(2)},  // shared: snoop and promoted together
      {0x42, l3 | miss | region(2)},
      {0x82, l3 | hit | region(2)},
      {0xC2, l3 | none | region(2)},
      {0xE2, l3 | modified | region(2)},  // modified goes before both
      {0x03, l3 | hit | region(3)},
      {0x63, l3 | modified | forward | region(3)},
      {0x04, l3 | hit | region(4)},  // an I/O agent's
      {0x45, l3 | hit | forward | region(5)},
      {0x36, l3 | modified | remote | remote_cache | region(6)},
      {0x67, ram | none | region(7)},  // MMIO
      {0x08, ram | none | local_ram | region(8)},
      {0x7F, ram | none | remote | remote_ram | region(15)},
  };
  constexpr u64 l2_miss = 0x100;
  for (const E encoding : {E::panther_cove, E::arctic_wolf})
    for (const Row& row : rows)
      EXPECT_EQ((DataSourceReader{encoding}.load(l2_miss | row.code) & source_bits), row.word) << row.code;
}

constexpr E encodings[] = {E::nehalem,   E::westmere,  E::sandy_bridge, E::skylake,      E::golden_cove,
                           E::gracemont, E::crestmont, E::lion_cove,    E::panther_cove, E::arctic_wolf};

TEST(DataSource, OfAnyWordALoadIsALoadAndAStoreIsAStore) {
  constexpr u64 load = 2, store = 4;  // perf_mem_data_src.mem_op
  for (const E encoding : encodings)
    for (const bool persistent_memory : {false, true})
      for (u64 word = 0; word < 0x400; ++word) {
        const DataSourceReader reader{encoding, persistent_memory};
        EXPECT_EQ(reader.load(word) & 0x1F, load) << static_cast<int>(encoding) << " " << word;
        EXPECT_EQ(reader.store(word) & 0x1F, store) << static_cast<int>(encoding) << " " << word;
      }
}

// perf_mem_data_src: mem_lvl_num and mem_remote of each code. B is a cache of unknown level, C a line fill
// buffer, D memory, F not known.
TEST(DataSource, CodesOfFourBitsHaveTheLevelsOfLinux) {
  struct Row {
    E encoding;
    std::array<u64, 16> levels;
    u64 remote;  // codes
  };
  const Row rows[] = {
      {E::sandy_bridge, {3, 1, 0xC, 2, 3, 3, 3, 3, 3, 3, 0xD, 3, 0xD, 0xD, 0xF, 0xF}, 0b0010'1011'0000'0000},
      {E::skylake, {3, 1, 0xC, 2, 3, 3, 3, 3, 4, 4, 0xD, 0xD, 0xB, 0xB, 0xF, 0xF}, 0b0011'1010'0000'0000},
      {E::panther_cove, {0xF, 7, 1, 0xC, 2, 0xF, 0xF, 2, 2, 2, 2, 0xF, 0xF, 0xF, 0xF, 0xF}, 0},
      {E::arctic_wolf, {0xF, 1, 0xC, 2, 2, 2, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF}, 0},
  };
  for (const Row& row : rows)
    for (unsigned code = 0; code < 16; ++code) {
      const u64 word = DataSourceReader{row.encoding}.load(code);
      EXPECT_EQ(field(word, 36, 33), row.levels[code]) << static_cast<int>(row.encoding) << " " << code;
      EXPECT_EQ(field(word, 37, 37), row.remote >> code & 1) << static_cast<int>(row.encoding) << " " << code;
    }
}

// The fields of perf_mem_data_src that Linux gives each code of Lion Cove; of other codes no level is known.
TEST(DataSource, CodesOfLionCoveHaveTheLevelsAndSnoopsOfLinux) {
  constexpr u64 na = 0xF, l1 = 1, l2 = 2, l3 = 3, l2_buffer = 5, memory_side = 6, fill_buffer = 0xC,
                ram = 0xD;
  constexpr u64 no_snoop = 1 << 1, unknown_snoop = 1, modified = 1 << 4, forward = 1;
  struct Row {
    u64 code, level, snoop, more;
  };
  const Row rows[] = {
      {0x00, l3, unknown_snoop, 0},     {0x01, l1, no_snoop, 0},          {0x02, l1, no_snoop, 0},
      {0x03, fill_buffer, no_snoop, 0}, {0x05, l2, no_snoop, 0},          {0x06, l2_buffer, no_snoop, 0},
      {0x08, l3, no_snoop, 0},          {0x0C, l3, 0, forward},           {0x0D, l3, modified, 0},
      {0x0F, l3, modified, 0},          {0x10, memory_side, no_snoop, 0}, {0x11, ram, no_snoop, 0},
  };
  for (u64 code = 0; code < 0x100; ++code) {
    const u64 word = DataSourceReader{E::lion_cove}.load(code);
    const auto* row = std::ranges::find(rows, code, &Row::code);
    EXPECT_EQ(field(word, 36, 33), row != std::end(rows) ? row->level : na) << code;
    if (row == std::end(rows)) continue;
    EXPECT_EQ(field(word, 23, 19), row->snoop) << code;
    EXPECT_EQ(field(word, 39, 38), row->more) << code;
  }
}

TEST(DataSource, ServersFromSkylakeOnHavePersistentMemory) {
  const auto has_persistent_memory = [](u32 model) {
    FakeBus bus = part(6, model);
    return DataSourceReader::of(enumerate(bus)).persistent_memory;
  };
  for (const u32 server : {0x55u, 0x6Au, 0x6Cu, 0x8Fu, 0xCFu})
    EXPECT_TRUE(has_persistent_memory(server)) << server;
  for (const u32 client : {0x5Eu, 0x7Eu, 0x8Cu, 0xA7u}) EXPECT_FALSE(has_persistent_memory(client)) << client;
}

TEST(Transaction, WordOfTheReferenceHasAbortCode12) {
  EXPECT_EQ(transaction_word(0x0000'000A'0000'0064, 0x1200'0001), 0x12'0000'000Au);
}

TEST(Transaction, AbortCodeNeedsTheTransactionBitAndRaxBit0) {
  EXPECT_EQ(transaction_word(0x0000'000A'0000'0064, 0x1200'0000), 0xAu);
  EXPECT_EQ(transaction_word(0x0000'0008'0000'0064, 0x1200'0001), 0x8u);
}

}  // namespace
}  // namespace pmusim::driver
