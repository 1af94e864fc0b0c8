// SPDX-License-Identifier: MIT
// From registers and records to branch entries (Linux: intel_pmu_lbr_read, intel_pmu_store_pebs_lbrs).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "lbr_fixture.h"

namespace pmusim::driver::lbr_read_test {
namespace {

using namespace perf::branch;
using testing::ElementsAre;
using testing::IsEmpty;
constexpr u64 both = USER | KERNEL;
constexpr u32 FROM = msr::LBR_NHM_FROM_IP, TO = msr::LBR_NHM_TO_IP, INFO = msr::LBR_INFO_0;
constexpr u64 user_target = 0x7F0000001000;

u64 flags_word(const perf::BranchEntry& entry) {
  std::array<u64, 3> words;
  std::memcpy(words.data(), &entry, sizeof words);
  return words[2];
}
std::vector<u64> sources(const perf::BranchStack& stack) {
  std::vector<u64> out;
  for (const perf::BranchEntry& e : stack.entries) out.push_back(e.from);
  return out;
}

struct DecodeRow {
  const char* name;
  FakeBus bus;
  u64 from, to, info;
  u64 clean_from, clean_to;
  unsigned mispred, predicted, in_tx, abort, cycles;
};

// With any branch at both privileges and no types nothing is filtered: the newest entry is the register's.
TEST(LbrRead, DecodesTheRegistersOfEachFormat) {
  const DecodeRow rows[] = {
      {"3 user mispredicted", nehalem(), 0x80007FFFF7A01234, user_target, 0, 0x7FFFF7A01234, user_target, 1,
       0, 0, 0, 0},
      {"3 kernel predicted", nehalem(), 0x7FFFFFFF81000010, user_target, 0, 0xFFFFFFFF81000010, user_target,
       0, 1, 0, 0, 0},
      {"4 kernel no flags", haswell(), 0x1FFFFFFF81000010, user_target, 0, 0xFFFFFFFF81000010, user_target, 0,
       1, 0, 0, 0},
      {"4 kernel, two flags", haswell(), 0xDFFFFFFF81000010, user_target, 0, 0xFFFFFFFF81000010, user_target,
       1, 0, 1, 0, 0},
      {"4 without TSX", haswell_without_tsx(), 0x7FFFFFFF81000010, user_target, 0, 0xFFFFFFFF81000010,
       user_target, 0, 1, 0, 0, 0},
      {"6 user", goldmont(), 0x401000, 0x012C7F0000001000, 0, 0x401000, user_target, 0, 1, 0, 0, 300},
      {"6 kernel", goldmont(), 0x401000, 0x0005FFFF81000000, 0, 0x401000, 0xFFFFFFFF81000000, 0, 1, 0, 0, 5},
      {"5 mispredicted", skylake(), 0x401000, user_target, 0x8000000000000020, 0x401000, user_target, 1, 0, 0,
       0, 32},
      {"5 in a transaction", skylake(), 0x401000, user_target, 0x4000000000000001, 0x401000, user_target, 0,
       1, 1, 0, 1},
      {"5 abort", skylake(), 0x401000, user_target, 0x2000000000000001, 0x401000, user_target, 0, 1, 0, 1, 1},
      {"7 has no TSX flags", goldmont_plus(), 0x401000, user_target, 0xE000000000000007, 0x401000,
       user_target, 1, 0, 0, 0, 7},
  };
  for (const DecodeRow& row : rows) {
    LbrRig rig(row.bus);
    rig.put(FROM, row.from), rig.put(TO, row.to), rig.put(INFO, row.info);
    perf::Event e = LbrRig::event(ANY | both);
    const perf::BranchEntry entry = rig.sample(e).entries[0];
    EXPECT_EQ(entry.from, row.clean_from) << row.name;
    EXPECT_EQ(entry.to, row.clean_to) << row.name;
    EXPECT_EQ(entry.mispred, row.mispred) << row.name;
    EXPECT_EQ(entry.predicted, row.predicted) << row.name;
    EXPECT_EQ(entry.in_tx, row.in_tx) << row.name;
    EXPECT_EQ(entry.abort, row.abort) << row.name;
    EXPECT_EQ(entry.cycles, row.cycles) << row.name;
  }
}

TEST(LbrRead, Core2HasNoFlags) {
  LbrRig rig(core2());
  rig.put(msr::LBR_CORE_FROM_IP, 0x401000), rig.put(msr::LBR_CORE_TO_IP, 0x402000);
  perf::Event e = LbrRig::event(ANY | both);
  const perf::BranchStack stack = rig.sample(e);
  ASSERT_EQ(stack.entries.size(), 4u);
  EXPECT_EQ(stack.entries[0].from, 0x401000u);
  EXPECT_EQ(stack.entries[0].to, 0x402000u);
  EXPECT_EQ(stack.entries[0].mispred | stack.entries[0].predicted, 0u);
}

TEST(LbrRead, NewestFirstFromTosOnAndTosIsTheHardwareIndex) {
  LbrRig rig(skylake());
  for (u32 i = 0; i < 32; ++i) rig.put(FROM + i, 0x1000 + i), rig.put(TO + i, 0x2000);
  rig.put(msr::LBR_TOS, 1);
  perf::Event e = LbrRig::event(ANY | both);
  const perf::BranchStack stack = rig.sample(e);
  ASSERT_EQ(stack.entries.size(), 32u);
  EXPECT_EQ(stack.entries[0].from, 0x1001u);
  EXPECT_EQ(stack.entries[1].from, 0x1000u);
  EXPECT_EQ(stack.entries[2].from, 0x101Fu);
  EXPECT_EQ(stack.hw_index, 1u);
}

TEST(LbrRead, EmptySlotsSurviveOnlyWhereNothingIsFiltered) {
  LbrRig rig(nehalem());
  perf::Event all = LbrRig::event(ANY | both), user = LbrRig::event(ANY | USER);
  EXPECT_EQ(rig.sample(all).entries.size(), 16u);
  EXPECT_THAT(rig.sample(user).entries, IsEmpty());
}

TEST(LbrRead, ACallStackEndsAtTheFirstEmptySlot) {
  LbrRig rig(skylake());
  rig.put(msr::LBR_TOS, 2);
  rig.put(FROM + 2, 0x1002), rig.put(TO + 2, 0x2000);
  rig.put(FROM + 0, 0x1000), rig.put(TO + 0, 0x2000);  // stale, behind the empty slot 1
  rig.code.put(0x1002, {0xE8, 0, 1, 0, 0});
  rig.code.put(0x1000, {0xE8, 0, 1, 0, 0});
  perf::Event e = LbrRig::event(CALL_STACK | USER);
  EXPECT_THAT(sources(rig.sample(e)), ElementsAre(0x1002));
}

TEST(LbrRead, WithoutFlagsAndCyclesInfoIsNotRead) {
  LbrRig rig(skylake());
  rig.put(FROM, 0x401000), rig.put(TO, user_target), rig.put(INFO, 0x8000000000000020);
  perf::Event e = LbrRig::event(ANY | both | NO_FLAGS | NO_CYCLES);
  const perf::BranchEntry entry = rig.sample(e).entries[0];
  EXPECT_EQ(entry.mispred | entry.predicted, 0u);
  EXPECT_EQ(entry.cycles, 0u);
}

TEST(LbrRead, HaswellsSecondRecordOfAnAbortIsDropped) {
  LbrRig rig(haswell());
  rig.put(msr::LBR_TOS, 1);
  for (u32 i : {0u, 1u}) rig.put(TO + i, 0x2000);
  rig.put(FROM + 1, 0x1000), rig.put(FROM + 0, 0x2000000000001000);
  perf::Event e = LbrRig::event(ANY | both);
  const perf::BranchStack stack = rig.sample(e);
  EXPECT_EQ(stack.entries.size(), 15u);
  EXPECT_EQ(stack.entries[0].from, 0x1000u);
  EXPECT_EQ(stack.entries[0].abort, 1u);
}

class ArchRead : public testing::Test {
 protected:
  explicit ArchRead(FakeBus bus = lion_cove()) : rig(std::move(bus)) {}
  void put(u32 i, LbrEntry entry) {
    rig.put(msr::ARCH_LBR_FROM_0 + i, entry.from);
    rig.put(msr::ARCH_LBR_TO_0 + i, entry.to);
    rig.put(msr::ARCH_LBR_INFO_0 + i, entry.info);
  }
  LbrRig rig;
};

TEST_F(ArchRead, StopsAtTheFirstEmptyEntryAndTypesComeFromHardware) {
  put(0, {0x401000, 0x402000, 0x1500000000000011});
  put(2, {0x401000, 0x402000, 0x1500000000000011});
  perf::Event e = LbrRig::event(ANY | USER);
  const perf::BranchStack stack = rig.sample(e);
  ASSERT_EQ(stack.entries.size(), 1u);
  EXPECT_EQ(flags_word(stack.entries[0]), 0x600112u);  // predicted, 17 cycles, RET
  EXPECT_EQ(stack.hw_index, 0u);
  EXPECT_EQ(rig.code.reads, 0u);
}

TEST_F(ArchRead, EveryBranchTypeHasItsPerfType) {
  constexpr unsigned perf_types[] = {1, 3, 2, 5, 4, 6};  // by BR_TYPE
  for (u64 type = 0; type < 6; ++type) {
    put(0, {0x401000, 0x402000, 0x1000000000000011 | type << 56});
    perf::Event e = LbrRig::event(ANY | USER);
    EXPECT_EQ(rig.sample(e).entries[0].type, perf_types[type]) << type;
  }
  EXPECT_EQ(rig.code.reads, 0u);
  put(0, {0x401000, 0x402000, 0x1800000000000011});  // OTHER_BRANCH: the code knows
  rig.code.put(0x401000, {0x0F, 0x07});
  perf::Event e = LbrRig::event(ANY | USER);
  EXPECT_EQ(rig.sample(e).entries[0].type, 8u);
}

TEST_F(ArchRead, InvalidCyclesAreZero) {
  put(0, {0x401000, 0x402000, 0x0500000000000011});
  perf::Event e = LbrRig::event(ANY | USER);
  EXPECT_EQ(rig.sample(e).entries[0].cycles, 0u);
}

TEST_F(ArchRead, AHiddenSourceIsDropped) {
  put(0, {~u64{0}, 0x402000, 0x1800000000000011});
  put(1, {0x401000, 0x402000, 0x1200000000000011});
  perf::Event e = LbrRig::event(ANY | USER);
  EXPECT_THAT(sources(rig.sample(e)), ElementsAre(0x401000));
}

TEST_F(ArchRead, WithoutTheMispredictFieldEverythingIsPredicted) {
  FakeBus bus = lion_cove();
  bus.leaves[{0x1C, 0}].ecx = lbr_leaf::ECX_BRANCH_TYPE;
  LbrRig plain(bus);
  plain.put(msr::ARCH_LBR_FROM_0, 0x401000), plain.put(msr::ARCH_LBR_TO_0, 0x402000);
  plain.put(msr::ARCH_LBR_INFO_0, 0x9500000000000011);
  perf::Event e = LbrRig::event(ANY | USER);
  const perf::BranchEntry entry = plain.sample(e).entries[0];
  EXPECT_EQ(entry.mispred, 0u);
  EXPECT_EQ(entry.predicted, 1u);
  EXPECT_EQ(entry.cycles, 0u);
}

TEST_F(ArchRead, PebsRecordsHaveNoHardwareIndexEvenAfterARead) {
  put(0, {0x401000, 0x402000, 0x1500000000000011});
  perf::Event e = LbrRig::event(ANY | USER);
  ASSERT_EQ(rig.sample(e).hw_index, 0u);
  const pebs::LbrRecord record{0x401000, 0x402000, 0x1500000000000011};
  EXPECT_EQ(rig.lbr.decode_records(e, std::span(&record, 1), RecordAge::now, rig.code).hw_index, ~u64{0});
  rig.lbr.read_in_pmi(rig.code);
  EXPECT_EQ(rig.lbr.stack(e)->hw_index, ~u64{0});
}

TEST(PebsRecords, OfLegacyPartsHaveTosUnlessTheyMayBeOld) {
  LbrRig rig(ice_lake());
  rig.put(msr::LBR_TOS, 9);
  rig.code.put(0x401000, {0xC3});
  perf::Event e = LbrRig::event(ANY | USER);
  ASSERT_EQ(rig.open(e), 0);
  rig.lbr.add(e);
  const pebs::LbrRecord records[] = {{0x401000, 0x402000, 0x8000000000000020}, {}, {0x401000, 0x402000, 1}};
  const perf::BranchStack fresh = rig.lbr.decode_records(e, records, RecordAge::now, rig.code);
  ASSERT_EQ(fresh.entries.size(), 1u);
  EXPECT_EQ(fresh.entries[0].mispred, 1u);
  EXPECT_EQ(fresh.entries[0].cycles, 32u);
  EXPECT_EQ(fresh.hw_index, 9u);
  EXPECT_EQ(rig.lbr.decode_records(e, records, RecordAge::unknown, rig.code).hw_index, ~u64{0});
}

TEST(PebsRecords, EveryFieldOfInfoHasItsPlaceInTheEntry) {
  LbrRig rig(ice_lake());
  perf::Event e = LbrRig::event(ANY | both);
  ASSERT_EQ(rig.open(e), 0);
  rig.lbr.add(e);
  pebs::LbrRecord record{};
  record.from = 0x401000;
  record.to = 0x402000;
  record.info = lbr_info::IN_TSX | u64{0xAB} << 32 | 0x1234;
  const std::span<const pebs::LbrRecord> records(&record, 1);
  const perf::BranchEntry inside =
      rig.lbr.decode_records(e, records, RecordAge::unknown, rig.code).entries[0];
  EXPECT_EQ(inside.from, 0x401000u);
  EXPECT_EQ(inside.to, 0x402000u);
  EXPECT_EQ(inside.predicted, 1u);
  EXPECT_EQ(inside.in_tx, 1u);
  EXPECT_EQ(inside.abort, 0u);
  EXPECT_EQ(inside.cycles, 0x1234u);
  EXPECT_EQ(inside.reserved, 0xABu);
  record.info = lbr_info::TSX_ABORT | lbr_info::MISPRED;
  const perf::BranchEntry aborted =
      rig.lbr.decode_records(e, records, RecordAge::unknown, rig.code).entries[0];
  EXPECT_EQ(aborted.mispred, 1u);
  EXPECT_EQ(aborted.predicted, 0u);
  EXPECT_EQ(aborted.in_tx, 0u);
  EXPECT_EQ(aborted.abort, 1u);
  EXPECT_EQ(aborted.type | aborted.spec | aborted.new_type | aborted.priv, 0u);
}

// SDM vol. 3, IA32_LBR_x_INFO: no bit of it, reserved ones included, changes a field that is not its own.
TEST_F(ArchRead, EachFieldDependsOnItsOwnBitsAlone) {
  constexpr unsigned perf_types[16] = {1, 3, 2, 5, 4, 6};  // by BR_TYPE
  perf::Event e = LbrRig::event(ANY | both);
  ASSERT_EQ(rig.open(e), 0);
  rig.lbr.add(e);
  std::mt19937_64 random(5);
  std::vector<pebs::LbrRecord> records(32);
  for (int round = 0; round < 200; ++round) {
    const u64 types = round % 2 == 0 ? 16 : 6;
    for (pebs::LbrRecord& record : records) {
      const u64 type = to_field(random() % types, 59, 56);
      record = {.from = 1 + random() / 2, .to = random() / 2, .info = (random() & ~bits(59, 56)) | type};
    }
    const u64 kernel = to_field(random() % 2, 63, 63);
    (random() % 2 == 0 ? records[random() % 32].from : records[random() % 32].to) |= kernel;
    std::vector<std::byte> entries(records.size() * sizeof(perf::BranchEntry));
    const DecodedBranches decoded = LbrDecoder(rig.lbr.traits()).decode_and_judge(records, entries.data());
    ASSERT_EQ(decoded.count, records.size());
    bool typed = true;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const u64 info = records[i].info;
      perf::BranchEntry entry;
      std::memcpy(&entry, entries.data() + i * sizeof(entry), sizeof(entry));
      EXPECT_EQ(entry.from, records[i].from);
      EXPECT_EQ(entry.to, records[i].to);
      EXPECT_EQ(entry.mispred, field(info, 63, 63));
      EXPECT_EQ(entry.predicted, 1 - field(info, 63, 63));
      EXPECT_EQ(entry.in_tx, field(info, 62, 62));
      EXPECT_EQ(entry.abort, field(info, 61, 61));
      EXPECT_EQ(entry.cycles, field(info, 60, 60) != 0 ? field(info, 15, 0) : 0);
      EXPECT_EQ(entry.type, perf_types[field(info, 59, 56)]);
      EXPECT_EQ(entry.spec | entry.new_type | entry.priv, 0u);
      EXPECT_EQ(entry.reserved, field(info, 39, 32));
      typed &= entry.type != 0;
    }
    EXPECT_EQ(decoded.typed, typed);
    EXPECT_EQ(decoded.user, kernel == 0);
  }
}

TEST_F(ArchRead, EventCountsFollowTheOrderOfTheGroup) {
  put(0, {0x401000, 0x402000, 0x1500000700000011});  // counter 0: 3, counter 1: 1
  perf::Event leader = LbrRig::event(ANY | USER), first = LbrRig::event(COUNTERS),
              second = LbrRig::event(COUNTERS);
  leader.leader = first.leader = second.leader = &leader;
  data_of(first).index = 1;
  data_of(second).index = 0;
  leader.siblings = {&first, &second};
  const perf::BranchStack stack = rig.sample(leader);
  EXPECT_THAT(stack.counters, ElementsAre(0xD));
  EXPECT_EQ(stack.entries[0].reserved, 0u);
}

TEST_F(ArchRead, AMemberThatIsOnlyLoggedSamplesItsLeadersBranches) {
  put(0, {0x401000, 0x402000, 0x1500000700000011});
  perf::Event leader = LbrRig::event(ANY | USER), logged = LbrRig::event(COUNTERS | USER);
  leader.leader = logged.leader = &leader;
  data_of(logged).index = 1;
  leader.siblings = {&logged};
  static_cast<void>(rig.sample(leader));
  const perf::BranchStack* const stack = rig.lbr.stack(logged);
  ASSERT_NE(stack, nullptr);
  ASSERT_EQ(stack->entries.size(), 1u);
  EXPECT_EQ(stack->entries[0].from, 0x401000u);
  EXPECT_THAT(stack->counters, ElementsAre(1));
}

TEST_F(ArchRead, OutsideALoggedGroupCountsStayInTheReservedBits) {
  put(0, {0x401000, 0x402000, 0x1500000700000011});
  perf::Event e = LbrRig::event(ANY | USER);
  const perf::BranchStack stack = rig.sample(e);
  EXPECT_THAT(stack.counters, IsEmpty());
  EXPECT_EQ(stack.entries[0].reserved, 7u);
}

/// A CPU with XSAVES of component 15: registers go into an image and come back.
class XsaveBus : public FakeBus {
 public:
  explicit XsaveBus(FakeBus bus) : FakeBus(std::move(bus)) {
    leaves[{0xD, 1}].ecx = 1u << 15;
    leaves[{0xD, 15}] = {lbr_component::bytes(32), 0, 1, 0};
    msrs[msr::XSS] = 0;
  }
  std::vector<u64> image;
  Fault xsaves(u64 address, u64 rfbm) override {
    if (rfbm != bit(15) || (msrs[msr::XSS] & rfbm) == 0) return Fault::gp;
    image = {msrs[msr::ARCH_LBR_CTL], msrs[msr::ARCH_LBR_DEPTH], 0, 0, 0};
    for (u32 i = 0; i < 32; ++i)
      for (const u32 row : {msr::ARCH_LBR_FROM_0, msr::ARCH_LBR_TO_0, msr::ARCH_LBR_INFO_0})
        image.push_back(msrs[row + i]);
    return write_memory(address + 576, std::as_bytes(std::span(image)));
  }
};

TEST(XsaveRead, TakesTheRecordsFromOneImage) {
  XsaveBus bus(lion_cove());
  RegisterAccess access(bus);
  LbrDriver lbr(access, enumerate(bus));
  lbr.set_up();
  bus.msrs[msr::ARCH_LBR_FROM_0] = 0x401000;
  bus.msrs[msr::ARCH_LBR_TO_0] = 0x402000;
  bus.msrs[msr::ARCH_LBR_INFO_0] = 0x1500000000000011;
  perf::Event e = LbrRig::event(ANY | USER);
  e.leader = &e;
  ASSERT_TRUE(lbr.init(e).ok());
  lbr.add(e);
  FakeCode code;
  bus.image.clear();
  lbr.read_in_pmi(code);
  EXPECT_FALSE(bus.image.empty());
  const perf::BranchStack stack = *lbr.stack(e);
  ASSERT_EQ(stack.entries.size(), 1u);
  EXPECT_EQ(stack.entries[0].from, 0x401000u);
  EXPECT_EQ(stack.entries[0].type, 6u);
}

TEST(LbrRead, AnEventWithoutABranchStackGetsNone) {
  LbrRig rig(skylake());
  perf::Event e = LbrRig::event(0);
  ASSERT_EQ(rig.open(e), 0);
  rig.lbr.add(e);
  EXPECT_FALSE(rig.lbr.in_use());
  EXPECT_EQ(rig.lbr.stack(e), nullptr);
}

TEST(LbrRead, IsSkippedWhereAllStacksComeInPebsRecords) {
  LbrRig rig(ice_lake());
  rig.put(FROM, 0x401000), rig.put(TO, 0x402000);
  perf::Event precise = LbrRig::event(ANY | both);
  precise.attr.precise_ip = 2;
  EXPECT_THAT(rig.sample(precise).entries, IsEmpty());
  perf::Event plain = LbrRig::event(ANY | both);
  EXPECT_EQ(rig.sample(plain).entries.size(), 32u);
}

}  // namespace
}  // namespace pmusim::driver::lbr_read_test
