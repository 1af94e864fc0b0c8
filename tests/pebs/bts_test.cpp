// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/pebs/pebs_machine.h"

namespace pmusim {
namespace {

using testing::PebsMachine;
constexpr u64 base = PebsMachine::buffer;
constexpr u64 tracing = msr::debugctl::TR | msr::debugctl::BTS;

Retirement jump(u64 from, u64 to) {
  return {.ip = from, .next_ip = to, .length = 2, .branch = BranchKind::direct_jump, .taken = true};
}

/// A buffer of three records that interrupts at the second.
void set_up(PebsMachine& m) {
  m.set_pointer(offsetof(DsArea64, bts_base), base);
  m.set_pointer(offsetof(DsArea64, bts_index), base);
  m.set_pointer(offsetof(DsArea64, bts_maximum), base + 3 * 24);
  m.set_pointer(offsetof(DsArea64, bts_threshold), base + 2 * 24);
}
u64 index(const PebsMachine& m) { return m.pointer(offsetof(DsArea64, bts_index)); }

TEST(BranchTraceStore, WritesSourceTargetAndPrediction) {
  PebsMachine m(3);
  set_up(m);
  Retirement mispredicted = jump(0x20, 0x30);
  mispredicted.mispredicted = true;
  EXPECT_EQ(m.pebs.trace(m.memory, jump(0x10, 0x20), tracing).outcome, AssistOutcome::wrote);
  EXPECT_EQ(m.pebs.trace(m.memory, mispredicted, tracing).outcome, AssistOutcome::wrote);
  const auto first = m.record_at<BtsRecord64>(0), second = m.record_at<BtsRecord64>(24);
  EXPECT_EQ(first.from, 0x10u);
  EXPECT_EQ(first.to, 0x20u);
  EXPECT_EQ(first.flags, 0x10u);
  EXPECT_EQ(second.flags, 0u);
}

TEST(BranchTraceStore, CircularBufferWrapsAndNeverInterrupts) {  // BTINT = 0
  PebsMachine m(3);
  set_up(m);
  for (u64 i = 1; i <= 4; ++i) EXPECT_FALSE(m.pebs.trace(m.memory, jump(i, i + 1), tracing).interrupt);
  EXPECT_EQ(m.record_at<BtsRecord64>(0).from, 4u);
  EXPECT_EQ(index(m), base + 24);
}

TEST(BranchTraceStore, BtintInterruptsAtThresholdAndStopsAtTheEnd) {
  PebsMachine m(3);
  set_up(m);
  constexpr u64 debugctl = tracing | msr::debugctl::BTINT;
  EXPECT_FALSE(m.pebs.trace(m.memory, jump(1, 2), debugctl).interrupt);
  EXPECT_TRUE(m.pebs.trace(m.memory, jump(2, 3), debugctl).interrupt);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(3, 4), debugctl).outcome, AssistOutcome::wrote);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(4, 5), debugctl).outcome, AssistOutcome::full);
  EXPECT_EQ(index(m), base + 3 * 24);
}

TEST(BranchTraceStore, AnAreaUnalignedToDoublewordsTakesNothing) {  // docs/pebs.md
  PebsMachine m(3);
  m.write(msr::DS_AREA, PebsMachine::area + 2);
  m.set_pointer(2 + offsetof(DsArea64, bts_base), base);
  m.set_pointer(2 + offsetof(DsArea64, bts_index), base);
  m.set_pointer(2 + offsetof(DsArea64, bts_maximum), base + 3 * 24);
  m.set_pointer(2 + offsetof(DsArea64, bts_threshold), base + 2 * 24);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(0x10, 0x20), tracing).outcome, AssistOutcome::misaligned);
  EXPECT_EQ(m.record_at<u64>(0), 0u);
}

TEST(BranchTraceStore, DebugctlChoosesBranchesByPrivilege) {
  using namespace msr::debugctl;
  Retirement kernel = jump(1, 2);
  kernel.cpl = Cpl::kernel;
  EXPECT_TRUE(PebsUnit::traces(jump(1, 2), tracing));
  EXPECT_FALSE(PebsUnit::traces(jump(1, 2), TR));
  EXPECT_FALSE(PebsUnit::traces(jump(1, 2), tracing | BTS_OFF_USR));
  EXPECT_TRUE(PebsUnit::traces(kernel, tracing | BTS_OFF_USR));
  EXPECT_FALSE(PebsUnit::traces(kernel, tracing | BTS_OFF_OS));
  Retirement not_taken = jump(1, 2);
  not_taken.taken = false;
  EXPECT_FALSE(PebsUnit::traces(not_taken, tracing));
}

TEST(BranchTraceStore, BadSetUpsWriteNothing) {
  PebsMachine m(3);
  set_up(m);
  m.set_pointer(offsetof(DsArea64, bts_index), base - 24);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(1, 2), tracing).outcome, AssistOutcome::index_before_base);
  m.set_pointer(offsetof(DsArea64, bts_maximum), 0);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(1, 2), tracing).outcome, AssistOutcome::full);
  m.write(msr::DS_AREA, 0x7000'0000);
  const BtsOutcome outcome = m.pebs.trace(m.memory, jump(1, 2), tracing);
  EXPECT_EQ(outcome.outcome, AssistOutcome::unmapped);
  EXPECT_EQ(outcome.address, 0x7000'0000u);
  m.write(msr::DS_AREA, 0);
  EXPECT_EQ(m.pebs.trace(m.memory, jump(1, 2), tracing).outcome, AssistOutcome::no_area);
}

TEST(BranchTraceStore, AreaWithout64BitFieldsHasRecordsOf12Bytes) {
  CpuModel model = testing::model_with_format(1);
  model.pebs.dtes64 = false;
  PebsMachine m(model);
  const le32 pointers[] = {le32(base), le32(base), le32(base + 24), le32(base + 24)};
  ASSERT_EQ(m.memory.write(PebsMachine::area, std::as_bytes(std::span(pointers))), Fault::none);
  ASSERT_EQ(m.pebs.trace(m.memory, jump(0x10, 0x20), tracing).outcome, AssistOutcome::wrote);
  EXPECT_EQ(m.record_at<BtsRecord32>(0).to, 0x20u);
  EXPECT_EQ(m.word_at(PebsMachine::area) >> 32, base + 12);
}

}  // namespace
}  // namespace pmusim
