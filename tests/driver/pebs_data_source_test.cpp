#include "driver/pebs_data_source.h"

#include <gtest/gtest.h>

#include "driver/pebs_sample.h"

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
