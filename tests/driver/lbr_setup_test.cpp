// SPDX-License-Identifier: MIT
// What events may ask of the LBR, and what start-up finds (Linux: intel_pmu_setup_lbr_filter, _lbr_init_*).
#include <gtest/gtest.h>

#include <cerrno>

#include "lbr_fixture.h"

namespace pmusim::driver::lbr_setup_test {
namespace {

using namespace perf::branch;
constexpr u64 u = USER, k = KERNEL;

struct FilterRow {
  u64 request;
  u64 user, kernel, both;
};

TEST(LbrFilter, SelectOfSandyBridgeAndLater) {
  const FilterRow rows[] = {{ANY, 0x001, 0x002, 0x000},        {ANY_CALL, 0x0E5, 0x0E6, 0x0E4},
                            {ANY_RETURN, 0x0DD, 0x0DE, 0x0DC}, {IND_CALL, 0x1ED, 0x1EE, 0x1EC},
                            {COND, 0x1F9, 0x1FA, 0x1F8},       {IND_JUMP, 0x1BD, 0x1BE, 0x1BC},
                            {CALL, 0x1F5, 0x1F6, 0x1F4}};
  LbrRig old(sandy_bridge()), modern(skylake());
  for (const FilterRow& row : rows) {
    for (LbrRig* rig : {&old, &modern}) {
      EXPECT_EQ(rig->filter_of(row.request | u), row.user) << row.request;
      EXPECT_EQ(rig->filter_of(row.request | k), row.kernel) << row.request;
      EXPECT_EQ(rig->filter_of(row.request | u | k), row.both) << row.request;
    }
  }
  EXPECT_EQ(modern.filter_of(CALL_STACK | u), 0x3C5u);
  EXPECT_EQ(modern.filter_of(CALL_STACK | k), 0x3C6u);
  EXPECT_EQ(modern.filter_of(CALL_STACK | u | k), 0x3C4u);
}

TEST(LbrFilter, SelectOfNehalemNamesJumpsWithCalls) {
  LbrRig rig(nehalem());
  EXPECT_EQ(rig.filter_of(ANY_CALL | u), 0x025u);
  EXPECT_EQ(rig.filter_of(ANY_RETURN | u), 0x01Du);
  EXPECT_EQ(rig.filter_of(IND_CALL | u), 0x1ADu);
  EXPECT_EQ(rig.filter_of(CALL | u), 0x1FDu);  // suppresses everything
}

TEST(LbrFilter, ControlOfArchitecturalLbr) {
  const FilterRow rows[] = {{ANY, 0x7F0004, 0, 0x7F0006},        {ANY_CALL, 0x580004, 0, 0x580006},
                            {ANY_RETURN, 0x600004, 0, 0x600006}, {IND_CALL, 0x100004, 0, 0x100006},
                            {COND, 0x010004, 0, 0x010006},       {IND_JUMP, 0x040004, 0, 0x040006},
                            {CALL, 0x080004, 0, 0x080006},       {CALL_STACK, 0x38000C, 0, 0x38000E}};
  LbrRig rig(lion_cove());
  for (const FilterRow& row : rows) {
    EXPECT_EQ(rig.filter_of(row.request | u), row.user) << row.request;
    EXPECT_EQ(rig.filter_of(row.request | u | k), row.both) << row.request;
  }
}

TEST(LbrFilter, ArchitecturalLbrAlwaysSavesTypes) {
  LbrRig rig(lion_cove());
  perf::Event e = LbrRig::event(ANY | u);
  ASSERT_EQ(rig.open(e), 0);
  EXPECT_EQ(data_of(e).branch_software_filter,
            branch_class::ANY | branch_class::USER | branch_class::TYPE_SAVE);
}

TEST(LbrFilter, NoFlagsAndNoCyclesTogetherMarkInfoAsUnneeded) {
  LbrRig rig(skylake());
  EXPECT_EQ(rig.filter_of(ANY | u | NO_FLAGS | NO_CYCLES), bit(63) | 1);
  EXPECT_EQ(rig.filter_of(ANY | u | NO_FLAGS), 1u);
  LbrRig without_info(haswell());
  EXPECT_EQ(without_info.filter_of(ANY | u | NO_FLAGS | NO_CYCLES), 1u);
}

TEST(LbrFilter, Core2FiltersInSoftwareAlone) {
  LbrRig rig(core2());
  perf::Event e = LbrRig::event(ANY_CALL | u);
  ASSERT_EQ(rig.open(e), 0);
  EXPECT_EQ(data_of(e).branch_config, 0u);
  EXPECT_EQ(data_of(e).branch_software_filter, 0x8C55u);
}

TEST(LbrValidation, WithoutRecordsNothingIsSupported) {
  FakeBus none = skylake();
  none.leaves[{1, 0}].ecx |= 1u << 31;
  none.msrs.erase(msr::LBR_NHM_TO_IP + 31);
  LbrRig rig(none);
  EXPECT_EQ(rig.lbr.entries(), 0u);
  EXPECT_EQ(rig.open_with(ANY | u), EOPNOTSUPP);
  EXPECT_EQ(rig.refusal, "branch_sample_type: this CPU has no last-branch records");
}

TEST(LbrValidation, CallStacksNeedTheMode) {
  LbrRig old(sandy_bridge()), modern(haswell());
  EXPECT_EQ(old.open_with(CALL_STACK | u), EOPNOTSUPP);
  EXPECT_EQ(old.refusal, "branch_sample_type: this CPU's LBR has no call-stack mode");
  EXPECT_EQ(modern.open_with(CALL_STACK | u), 0);
}

TEST(LbrValidation, CallStacksExcludeOtherKindsExceptThree) {
  LbrRig rig(skylake());
  for (const u64 other : {ANY, ANY_CALL, ANY_RETURN, IND_CALL, ABORT_TX, IN_TX, NO_TX, COND})
    EXPECT_EQ(rig.open_with(CALL_STACK | u | other), EINVAL) << other;
  EXPECT_EQ(rig.refusal,
            "branch_sample_type: call_stack cannot be combined with other kinds of branches (0x400)");
  for (const u64 other : {IND_JUMP, CALL, TYPE_SAVE})
    EXPECT_EQ(rig.open_with(CALL_STACK | u | other), 0) << other;
}

FakeBus arch_with_filters(u32 ebx) {
  FakeBus bus = lion_cove();
  bus.leaves[{0x1C, 0}].ebx = ebx;
  return bus;
}

TEST(LbrValidation, ArchLbrWithoutPrivilegeFilterRefusesPrivileges) {
  LbrRig rig(arch_with_filters(lbr_leaf::EBX_BRANCH_FILTER));
  EXPECT_EQ(rig.open_with(ANY | u), EOPNOTSUPP);
  EXPECT_EQ(rig.refusal, "branch_sample_type: this CPU's LBR cannot filter by 0x1");
}

TEST(LbrValidation, ArchitecturalLbrWithoutTypeFilterRefusesTypes) {
  LbrRig rig(arch_with_filters(lbr_leaf::EBX_CPL_FILTER));
  for (const u64 type : {ANY, ANY_CALL, ANY_RETURN, IND_CALL, COND, IND_JUMP, CALL})
    EXPECT_EQ(rig.open_with(type | u), EOPNOTSUPP) << type;
  EXPECT_EQ(rig.open_with(CALL_STACK | u), EOPNOTSUPP);
}

TEST(LbrValidation, ArchLbrWithoutAnyFilterUsesTheSoftwareFilter) {
  LbrRig rig(arch_with_filters(0));
  EXPECT_EQ(rig.filter_of(COND | u), 0u);
}

TEST(LbrValidation, ACountingEventReadWithItsGroupNeedsNoRecords) {
  LbrRig rig(skylake());
  perf::Event e = LbrRig::event(CALL_STACK | ANY | u);
  e.attr.sample_period = 0;
  e.attr.sample_type |= perf::sample::READ;
  EXPECT_EQ(rig.open(e), 0);
  EXPECT_FALSE(LbrDriver::uses_lbr(e));
}

/// A leader with a branch stack and logged events beside it.
class LoggedGroup : public testing::Test {
 protected:
  LoggedGroup() : rig(lion_cove()), leader(LbrRig::event(ANY | u)) {
    leader.leader = &leader;
    EXPECT_EQ(rig.open(leader), 0);
  }
  int open_member(perf::Event& e, u64 config = 0xC5) {
    e = LbrRig::event(COUNTERS | u);
    e.attr.config = config;
    e.leader = &leader;
    return rig.open(e);
  }
  LbrRig rig;
  perf::Event leader, a, b;
};

TEST_F(LoggedGroup, AMemberGetsTheLoggingBitAndTheLoggingCounters) {
  ASSERT_EQ(open_member(a), 0);
  EXPECT_EQ(data_of(a).config, msr::evtsel::BR_CNTR);
  EXPECT_EQ(data_of(a).dynamic_constraint, 0xFu);
  EXPECT_FALSE(LbrDriver::uses_lbr(a));
}

TEST_F(LoggedGroup, OnlyPlainEventsCanBeLogged) {
  EXPECT_EQ(open_member(a, 0xC5 | msr::evtsel::INV), EINVAL);
  EXPECT_EQ(
      rig.refusal,
      "branch_sample_type: only plain events can be logged: config 0x8000c5 has bits beside event and umask");
  EXPECT_EQ(open_member(a, 0x20C4), 0);
}

TEST_F(LoggedGroup, NoMoreEventsThanCounters) {
  std::array<perf::Event, 5> members;
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_EQ(open_member(members[i]), 0);
    leader.siblings.push_back(&members[i]);
  }
  EXPECT_EQ(open_member(members[4]), EINVAL);
  EXPECT_EQ(rig.refusal, "branch_sample_type: more than 4 logged events in one group");
}

TEST_F(LoggedGroup, ALeaderThatIsLoggedIsOneOfThem) {
  perf::Event logged = LbrRig::event(COUNTERS | ANY | u);
  logged.attr.config = 0xC4;
  ASSERT_EQ(rig.open(logged), 0);
  std::array<perf::Event, 4> members;
  for (unsigned i = 0; i < 4; ++i) {
    members[i] = LbrRig::event(COUNTERS | u);
    members[i].attr.config = 0xC5;
    members[i].leader = &logged;
    EXPECT_EQ(rig.open(members[i]), i < 3 ? 0 : EINVAL);
    logged.siblings.push_back(&members[i]);
  }
}

TEST_F(LoggedGroup, NotInAGroupWithACallStack) {
  perf::Event call_stack = LbrRig::event(CALL_STACK | u);
  leader.siblings.push_back(&call_stack);
  EXPECT_EQ(open_member(a), EINVAL);
  EXPECT_EQ(rig.refusal, "branch_sample_type: events cannot be logged in a group with a call stack");
}

TEST_F(LoggedGroup, TheLeaderNeedsABranchStack) {
  data_of(leader).branch_software_filter = 0;
  EXPECT_EQ(open_member(a), EINVAL);
  EXPECT_EQ(rig.refusal, "branch_sample_type: the group leader of a logged event needs a branch stack");
}

TEST_F(LoggedGroup, PartsWithoutLoggingRefuse) {
  LbrRig old(sapphire_rapids());
  perf::Event e = LbrRig::event(ANY | u | COUNTERS);
  EXPECT_EQ(old.open(e), EINVAL);
  EXPECT_EQ(old.refusal, "branch_sample_type: this CPU's LBR does not log events");
}

TEST_F(LoggedGroup, TheNumberOfCountersIsThePositionOfTheHighest) {
  FakeBus bus = lion_cove();
  bus.leaves[{0x1C, 0}].ecx = 0x00040007;  // counter 2 alone
  LbrRig sparse(bus);
  EXPECT_EQ(sparse.lbr.branch_counter_count(), 3u);
  EXPECT_EQ(sparse.lbr.branch_counter_width(), 2u);
  EXPECT_EQ(LbrRig(skylake()).lbr.branch_counter_width(), 0u);
}

TEST(LbrSetUp, DepthIsTheLargestThatCpuidLists) {
  LbrRig rig(lion_cove());
  EXPECT_EQ(rig.lbr.entries(), 32u);
  EXPECT_EQ(rig.value(msr::ARCH_LBR_DEPTH), 32u);
}

TEST(LbrSetUp, ADepthThatFaultsMeansNoRecords) {
  FakeBus bus = lion_cove();
  bus.msrs.erase(msr::ARCH_LBR_DEPTH);
  EXPECT_EQ(LbrRig(bus).lbr.entries(), 0u);
}

TEST(LbrSetUp, StaleRecordsAndEnablesAreCleared) {
  FakeBus bus = haswell();
  bus.msrs[msr::DEBUGCTL] = msr::debugctl::LBR;
  bus.msrs[msr::LBR_NHM_FROM_IP + 3] = bus.msrs[msr::LBR_NHM_TO_IP + 3] = 0x1234;
  LbrRig rig(bus);
  EXPECT_EQ(rig.value(msr::DEBUGCTL), 0u);
  EXPECT_EQ(rig.value(msr::LBR_NHM_FROM_IP + 3), 0u);
  EXPECT_EQ(rig.value(msr::LBR_NHM_TO_IP + 3), 0u);
}

TEST(LbrProbe, BareMetalIsTakenAtItsWord) {
  FakeBus bus = haswell();
  bus.msrs.erase(msr::LBR_TOS);
  EXPECT_EQ(LbrRig(bus).lbr.entries(), 16u);
}

TEST(LbrProbe, UnderAHypervisorEveryRegisterMustHoldWhatIsWritten) {
  FakeBus guest = haswell();
  guest.leaves[{1, 0}].ecx |= 1u << 31;
  EXPECT_EQ(LbrRig(guest).lbr.entries(), 16u);
  for (const u32 address : {msr::LBR_TOS, msr::LBR_NHM_FROM_IP + 15, msr::LBR_NHM_TO_IP}) {
    FakeBus broken = guest;
    broken.msrs.erase(address);
    EXPECT_EQ(LbrRig(broken).lbr.entries(), 0u) << address;
  }
}

TEST(LbrProbe, WithoutSelectOnlyTheHardwareFilterIsLost) {
  FakeBus guest = haswell();
  guest.leaves[{1, 0}].ecx |= 1u << 31;
  guest.msrs.erase(msr::LBR_SELECT);
  LbrRig rig(guest);
  EXPECT_EQ(rig.lbr.entries(), 16u);
  EXPECT_EQ(rig.filter_of(COND | u), 0u);
  EXPECT_EQ(rig.open_with(CALL_STACK | u), EOPNOTSUPP);
}

}  // namespace
}  // namespace pmusim::driver::lbr_setup_test
