// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "driver/samples/data_source.h"
#include "driver/samples/pebs_sample.h"

namespace pmusim::driver {
namespace {

using E = DataSourceEncoding;

TEST(DataSource, SkylakeLockedL1HitWithAnStlbMissIsTheVectorOfTheReference) {
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

TEST(DataSource, StoresThatShareAFacilityWithLoadsSayWhatBlockedThem) {
  constexpr u64 block = u64{7} << 40;
  EXPECT_EQ((DataSourceReader{E::golden_cove}.store(0x41) & block), u64{1} << 40);
  EXPECT_EQ((DataSourceReader{E::gracemont}.store(0x41) & block), u64{2} << 40);
  EXPECT_EQ((DataSourceReader{E::crestmont}.store(0x81) & block), u64{2} << 40);
  EXPECT_EQ((DataSourceReader{E::lion_cove}.store(0x3001) & block), u64{6} << 40);
  EXPECT_EQ((DataSourceReader{E::lion_cove}.store(0x0001) & block), u64{1} << 40);
}

// The words below are without TLB, lock and block bits.
constexpr u64 source_bits = bits(63, 46) | bits(39, 33) | bits(23, 0);

TEST(DataSource, NearCodesOfPantherCoveAndArcticWolfAreThoseOfLinux7) {
  for (const E encoding : {E::panther_cove, E::arctic_wolf})
    EXPECT_EQ((DataSourceReader{encoding}.load(0) & source_bits), 0x1E00080022u);  // no level
  EXPECT_EQ((DataSourceReader{E::panther_cove}.load(1) & source_bits), 0xE00100042u);
  for (const u64 promoted : {0x9u, 0xAu})
    EXPECT_EQ((DataSourceReader{E::panther_cove}.load(promoted) & source_bits), 0x400400442u);
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
      {0x02, l3 | na | region(2)},  // shared: snoop and promoted together
      {0x42, l3 | miss | region(2)},
      {0x82, l3 | hit | region(2)},
      {0xC2, l3 | none | region(2)},
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

TEST(DataSource, UnlistedCodesAreLoadsOfUnknownLevel) {
  EXPECT_EQ((DataSourceReader{E::lion_cove}.load(0x42) & 0x1F), 2u);
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
