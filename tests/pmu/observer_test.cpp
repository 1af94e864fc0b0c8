// SPDX-License-Identifier: MIT
// What an observer is told, by the docstrings of pmusim/pmu/observer.h.
#include "pmusim/pmu/observer.h"

#include <gmock/gmock.h>

#include <vector>

#include "pmu/sequencer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::observer_test {
namespace {

constexpr u64 counting = msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::OS | 0xC0;  // INST_RETIRED

/// Remembers everything that it is told.
struct Witness : Observer {
  std::vector<observed::RegisterWrite> writes;
  std::vector<observed::AccessFault> faults;
  std::vector<observed::Overflow> overflows;
  std::vector<observed::Freeze> freezes;
  std::vector<observed::PmiRequest> requests;
  std::vector<observed::PmiDelivery> deliveries;
  std::vector<observed::PmiReturn> returns;
  std::vector<observed::LbrRecord> branches;

  void on_register_write(const observed::RegisterWrite& e) override { writes.push_back(e); }
  void on_access_fault(const observed::AccessFault& e) override { faults.push_back(e); }
  void on_overflow(const observed::Overflow& e) override { overflows.push_back(e); }
  void on_freeze(const observed::Freeze& e) override { freezes.push_back(e); }
  void on_pmi_request(const observed::PmiRequest& e) override { requests.push_back(e); }
  void on_pmi_delivery(const observed::PmiDelivery& e) override { deliveries.push_back(e); }
  void on_pmi_return(const observed::PmiReturn& e) override { returns.push_back(e); }
  void on_lbr_record(const observed::LbrRecord& e) override { branches.push_back(e); }
};

struct Unmasking : PmiHandler {
  explicit Unmasking(Pmu& p) : pmu(p) {}
  void handle_pmi(const InterruptFrame&) override {
    EXPECT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  }
  Pmu& pmu;
};

struct RetirementCount : RetirementObserver {
  std::vector<u64> ips;
  void on_retirement(const Retirement& r) override { ips.push_back(r.ip); }
};

void write(Pmu& pmu, u32 address, u64 value) { ASSERT_EQ(pmu.wrmsr(address, value), Fault::none); }

Pmu skylake() {
  CpuModel model = *find_cpu_model("skylake");
  model.policies.pmi_skid_cycles = 5;
  return Pmu(model);
}

/// `count` instructions, one a cycle, from now on.
void retire(Pmu& pmu, u64 count) {
  for (u64 n = 0; n < count; ++n) {
    const u64 cycle = pmu.now() + 1, ip = 0x1000 + 4 * cycle;
    pmu.retire({.ip = ip, .next_ip = ip + 4, .cycle = cycle, .signals = {Signal::instruction}, .length = 4});
  }
}

void count_instructions(Pmu& pmu, u64 before_overflow, u64 select = counting | msr::evtsel::INT) {
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  write(pmu, msr::PMC0, -before_overflow & low_bits(32));
  write(pmu, msr::PERFEVTSEL0, select);
  write(pmu, msr::PERF_GLOBAL_CTRL, 1);
}

TEST(Observer, SeesWritesAndFaultsWithTheValueToBeWritten) {
  Pmu pmu = skylake();
  Witness witness;
  pmu.set_observer(&witness);
  write(pmu, msr::PMC0, 7);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_STATUS, 9), Fault::gp);
  EXPECT_FALSE(pmu.rdmsr(0x3F0).ok());
  EXPECT_FALSE(pmu.rdpmc(99).ok());
  ASSERT_EQ(witness.writes.size(), 1u);
  EXPECT_EQ(witness.writes[0].address, msr::PMC0);
  EXPECT_EQ(witness.writes[0].value, 7u);
  ASSERT_EQ(witness.faults.size(), 3u);
  EXPECT_EQ(witness.faults[0].access, observed::AccessInstruction::wrmsr);
  EXPECT_EQ(witness.faults[0].address, msr::PERF_GLOBAL_STATUS);
  EXPECT_EQ(witness.faults[0].value, 9u);
  EXPECT_EQ(witness.faults[1].access, observed::AccessInstruction::rdmsr);
  EXPECT_EQ(witness.faults[2].access, observed::AccessInstruction::rdpmc);
  EXPECT_EQ(witness.faults[2].address, 99u);
}

TEST(Observer, SeesAnOverflowBecomeAPmi) {
  Pmu pmu = skylake();
  Unmasking driver(pmu);
  pmu.set_pmi_handler(&driver);
  Witness witness;
  pmu.set_observer(&witness);
  count_instructions(pmu, 3);
  retire(pmu, 10);

  ASSERT_EQ(witness.overflows.size(), 1u);
  EXPECT_EQ(witness.overflows[0].cycle, 3u);
  EXPECT_EQ(witness.overflows[0].counter, 0u);
  EXPECT_TRUE(witness.overflows[0].sets_status);
  EXPECT_TRUE(witness.overflows[0].asks_for_pmi);
  EXPECT_FALSE(witness.overflows[0].writes_record);
  ASSERT_EQ(witness.requests.size(), 1u);
  EXPECT_EQ(witness.requests[0].cause, observed::PmiCause::overflow);
  EXPECT_EQ(witness.requests[0].fate, observed::PmiFate::on_its_way);
  EXPECT_EQ(witness.requests[0].due_cycle, 8u);
  ASSERT_EQ(witness.deliveries.size(), 1u);
  EXPECT_EQ(witness.deliveries[0].cycle, 8u);
  EXPECT_EQ(witness.deliveries[0].ip, 0x1020u) << "of the instruction that was going to retire in cycle 8";
  EXPECT_EQ(witness.returns.size(), 1u);
  EXPECT_EQ(witness.writes.back().address, msr::X2APIC_LVTPC) << "the driver's";
}

TEST(Observer, SeesOneFreezeForRepeatedRequests) {
  Pmu pmu = skylake();  // whose handler is none: nobody lifts the freeze
  Witness witness;
  pmu.set_observer(&witness);
  write(pmu, msr::DEBUGCTL, msr::debugctl::LBR | msr::debugctl::FREEZE_LBRS_ON_PMI);
  count_instructions(pmu, 2);
  write(pmu, msr::PMC0 + 1, -u64{3} & low_bits(32));
  write(pmu, msr::PERFEVTSEL0 + 1, counting | msr::evtsel::INT);
  write(pmu, msr::PERF_GLOBAL_CTRL, 3);
  retire(pmu, 4);
  ASSERT_EQ(witness.requests.size(), 2u);
  EXPECT_EQ(witness.requests[1].fate, observed::PmiFate::merged);
  ASSERT_EQ(witness.freezes.size(), 1u);
  EXPECT_EQ(witness.freezes[0].unit, observed::FrozenUnit::lbr);
  EXPECT_EQ(witness.freezes[0].cycle, 2u);
}

TEST(Observer, SeesTheBranchesThatTheLbrTakesIn) {
  Pmu pmu = skylake();
  Witness witness;
  pmu.set_observer(&witness);
  const Retirement branch{.ip = 0x10,
                          .next_ip = 0x80,
                          .cycle = 1,
                          .length = 2,
                          .branch = BranchKind::conditional,
                          .taken = true,
                          .mispredicted = true};
  pmu.retire(branch);
  EXPECT_TRUE(witness.branches.empty()) << "the LBR is off";
  write(pmu, msr::DEBUGCTL, msr::debugctl::LBR);
  pmu.retire(branch);
  ASSERT_EQ(witness.branches.size(), 1u);
  EXPECT_EQ(witness.branches[0].from, 0x10u);
  EXPECT_EQ(witness.branches[0].to, 0x80u);
  EXPECT_EQ(witness.branches[0].kind, BranchKind::conditional);
  EXPECT_TRUE(witness.branches[0].mispredicted);
}

TEST(Observer, BelongsToItsPmuAndToNoCopy) {
  Pmu pmu = skylake();
  Witness witness;
  RetirementCount retirements;
  pmu.set_observer(&witness);
  pmu.set_retirement_observer(&retirements);
  const Pmu snapshot = pmu;
  Pmu copy = snapshot;
  write(copy, msr::PMC0, 1);
  retire(copy, 1);
  EXPECT_TRUE(witness.writes.empty());
  EXPECT_TRUE(retirements.ips.empty());

  pmu = snapshot;
  write(pmu, msr::PMC0, 1);
  pmu.reset();
  write(pmu, msr::PMC0, 1);
  EXPECT_EQ(witness.writes.size(), 2u) << "neither a restored snapshot nor RESET takes the observer off";
  Pmu moved = std::move(pmu);
  write(moved, msr::PMC0, 1);
  EXPECT_EQ(witness.writes.size(), 3u);
}

TEST(Observer, OfRetirementsSeesThemAllAndInOrder) {
  Pmu pmu = skylake();
  RetirementCount retirements;
  pmu.set_retirement_observer(&retirements);
  retire(pmu, 3);
  EXPECT_THAT(retirements.ips, testing::ElementsAre(0x1004, 0x1008, 0x100C));
}

TEST(Observer, KeepsThePmuFromPassingOverWhatItWantsToSee) {
  Pmu pmu = skylake();
  count_instructions(pmu, 1000, counting);
  const Retirement r{.ip = 0x10, .next_ip = 0x14, .cycle = 1, .signals = {Signal::instruction}, .length = 4};
  const BlockTotals totals = pmu.totals({&r, 1}, 0);
  EXPECT_GT(pmu.headroom(totals), 0u);
  Witness witness;
  pmu.set_observer(&witness);
  EXPECT_EQ(pmu.headroom(totals), 0u);
  pmu.set_observer(nullptr);
  EXPECT_GT(pmu.headroom(totals), 0u);
}

TEST(Observer, ChangesNothing) {
  Pmu watched = skylake(), alone = skylake();
  Witness witness;
  RetirementCount retirements;
  watched.set_observer(&witness);
  watched.set_retirement_observer(&retirements);
  Unmasking first(watched), second(alone);
  watched.set_pmi_handler(&first);
  alone.set_pmi_handler(&second);
  for (Pmu* const pmu : {&watched, &alone}) {
    write(*pmu, msr::DEBUGCTL, msr::debugctl::LBR | msr::debugctl::FREEZE_LBRS_ON_PMI);
    count_instructions(*pmu, 4);
    retire(*pmu, 20);
  }
  for (const Register& r : alone.registers().all())
    EXPECT_EQ(watched.rdmsr(r.address).value_or(~u64{0}), alone.rdmsr(r.address).value_or(~u64{0}))
        << r.name();
}

}  // namespace
}  // namespace pmusim::observer_test
