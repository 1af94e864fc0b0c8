// SPDX-License-Identifier: MIT
// Extended registers on their way from retirements to interrupts.
#include <gtest/gtest.h>

#include <optional>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

using enum StateComponent;

/// What the interrupted code had in the low half of XMM0 at each PMI; nothing where it was not known.
class Handler : public PmiHandler {
 public:
  explicit Handler(Pmu& pmu) { pmu.set_pmi_handler(this); }
  void handle_pmi(const InterruptFrame& frame) override {
    seen.push_back(frame.extended != nullptr ? std::optional(frame.extended->vector(0)[0]) : std::nullopt);
  }
  std::vector<std::optional<u64>> seen;
};

/// Loads the number of its cycle into XMM0.
class Load {
 public:
  explicit Load(u64 cycle) : values_{cycle, 0} { retirement.cycle = cycle; }
  Load(const Load&) = delete;

 private:
  std::array<u64, 2> values_;
  std::array<ExtendedWrite, 1> writes_{ExtendedWrite{sse, 0, values_}};
  ExtendedChange change_{state_bit(sse), writes_};

 public:
  Retirement retirement{.ip = 0x1000, .signals = {Signal::instruction}, .length = 4, .extended = &change_};
};

/// Interrupts the instruction after the first.
Pmu interrupting_after_one_instruction() {
  CpuModel model = *find_cpu_model("icelake");
  model.policies.pmi_skid_cycles = 0;
  Pmu pmu(model);
  EXPECT_EQ(pmu.wrmsr(msr::A_PMC0, low_bits(48)), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::USR | msr::evtsel::EN | msr::evtsel::INT | 0xC0),
            Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  return pmu;
}

TEST(ExtendedRegisters, AtAnInterruptAreThoseBeforeTheInstruction) {
  Pmu pmu = interrupting_after_one_instruction();
  Handler handler(pmu);
  pmu.retire(Load(1).retirement);
  pmu.retire(Load(2).retirement);
  ASSERT_EQ(handler.seen.size(), 1u);
  EXPECT_EQ(handler.seen[0], 1u);
  EXPECT_EQ(pmu.extended_state().vector(0)[0], 2u);
}

TEST(ExtendedRegisters, AreNotKnownWhereNoRetirementHasThem) {
  Pmu pmu = interrupting_after_one_instruction();
  Handler handler(pmu);
  for (const u64 cycle : {1, 2}) pmu.retire({.cycle = cycle, .signals = {Signal::instruction}, .length = 4});
  ASSERT_EQ(handler.seen.size(), 1u);
  EXPECT_FALSE(handler.seen[0]);
}

TEST(ExtendedRegisters, ChangeWithTheThreadThatRuns) {
  Pmu pmu = interrupting_after_one_instruction();
  Handler handler(pmu);
  pmu.retire(Load(1).retirement);
  ExtendedState other;
  other.write(sse, 0, {77});
  pmu.set_extended_state(&other);
  pmu.retire(Load(2).retirement);
  EXPECT_EQ(handler.seen.at(0), 77u);
}

// FCW[6] is always 1, PKRU and MXCSR have 32 and 16 bits, ST7 80 (SDM vol. 1, 8.1 and 10.2.3).
TEST(ExtendedRegisters, HaveNoBitsThatAnXrstorWouldNotBringBack) {
  Pmu pmu(*find_cpu_model("skylake-x"));
  ExtendedState given;
  given.write(x87, 0, {0});
  given.write(x87, 18, {~u64{0}});
  given.write(sse, ExtendedState::mxcsr_qword, {~u64{0}});
  pmu.set_extended_state(&given);
  EXPECT_EQ(pmu.extended_state().component(x87)[0], 0x40u);
  EXPECT_EQ(pmu.extended_state().component(x87)[18], 0xFFFFu);
  EXPECT_EQ(pmu.extended_state().component(sse)[ExtendedState::mxcsr_qword], 0xFFFFu);

  constexpr u64 keys[] = {~u64{0}};
  const ExtendedWrite write{pkru, 0, keys};
  const ExtendedChange change{state_bits(x87, pkru), {&write, 1}};
  pmu.retire({.cycle = 1, .signals = {Signal::instruction}, .length = 4, .extended = &change});
  EXPECT_EQ(pmu.extended_state().component(pkru)[0], low_bits(32));
}

TEST(ExtendedRegisters, SupervisorStateIsInitialIfWrmsrWouldFault) {
  Pmu pmu(*find_cpu_model("sapphirerapids"));
  ExtendedState given;
  given.write(cet_u, 1, {0x1003});  // IA32_PL3_SSP: bits 1:0 are reserved
  pmu.set_extended_state(&given);
  EXPECT_EQ(pmu.extended_state().ssp(), 0u);
  given.write(cet_u, 1, {0x1008});
  pmu.set_extended_state(&given);
  EXPECT_EQ(pmu.extended_state().ssp(), 0x1008u);
}

TEST(ExtendedRegisters, AreCopiedWithTheProcessor) {
  Pmu pmu = interrupting_after_one_instruction();
  pmu.retire(Load(1).retirement);
  const Pmu snapshot = pmu;
  pmu.retire(Load(2).retirement);
  EXPECT_EQ(snapshot.extended_state().vector(0)[0], 1u);
}

}  // namespace
}  // namespace pmusim
