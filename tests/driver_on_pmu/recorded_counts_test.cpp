// SPDX-License-Identifier: MIT
// Counts that samples read from their PEBS records (docs/pebs.md, "Counts from records").
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "machine.h"

namespace pmusim::driver {
namespace {

using perf::Event;
using perf::HardwareId;
namespace sample = perf::sample;

constexpr u64 first_ip = 0x10000;

/// Linux 7.3 takes counts as samples leave, and slips (CountsOfSamples; docs/notes/linux-7.3-arch-pebs.md).
constexpr DriverOptions before_7_3{.kernel = perf::Kernel::v7_1};

perf::Attr reading(HardwareId id, u64 period) {
  perf::Attr attr = hardware(id, period);
  attr.precise_ip = 2;
  attr.sample_type = sample::IP | sample::READ;
  attr.read_format = perf::read_format::GROUP;
  attr.exclude_kernel = 1;
  return attr;
}

perf::Attr counting(HardwareId id) {
  perf::Attr attr = hardware(id);
  attr.exclude_kernel = 1;
  return attr;
}

/// A program in which no address comes twice, so that a sample's address tells how far the program was.
class StraightProgram {
 public:
  explicit StraightProgram(Machine& machine) : machine_(machine) {}

  /// Every fifth instruction is a branch, and every seventh fifth another one after it.
  void run(unsigned instructions) {
    for (unsigned i = 0; i < instructions; ++i) {
      machine_.ip = first_ip + 4 * executed_;
      ++executed_;
      const bool branch = executed_ % 5 == 0 || executed_ % 35 == 1;
      branches_ += branch;
      branches_at_[machine_.ip] = branches_;
      if (branch)
        machine_.branch(machine_.ip, machine_.ip + 4);
      else
        machine_.instruction();
    }
  }
  u64 instructions() const { return executed_; }
  u64 branches() const { return branches_; }
  static u64 instructions_at(u64 ip) { return (ip - first_ip) / 4 + 1; }
  u64 branches_at(u64 ip) const { return branches_at_.at(ip); }

 private:
  Machine& machine_;
  u64 executed_ = 0, branches_ = 0;
  std::map<u64, u64> branches_at_;
};

u64 count_of(const perf::SampleData& data, const Event& event) {
  const auto found = std::ranges::find(data.counts, &event, &perf::CountAtSample::event);
  return found == data.counts.end() ? ~u64{0} : found->count;
}

class RecordedCounts : public testing::TestWithParam<const char*> {
 protected:
  Machine machine{model_with_skid(GetParam(), 24), before_7_3};
  StraightProgram program{machine};
  unsigned samples = 0;

  /// Every sample shall read what had been counted at its own instruction.
  void expect_exact_reads(const Event& instructions, const Event& branches) {
    machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
      ++samples;
      EXPECT_EQ(count_of(data, instructions), StraightProgram::instructions_at(*data.ip));
      EXPECT_EQ(count_of(data, branches), program.branches_at(*data.ip));
    };
  }
  void expect_exact_totals(const Event& instructions, const Event& branches) {
    EXPECT_EQ(instructions.count, program.instructions());
    EXPECT_EQ(branches.count, program.branches());
    EXPECT_EQ(describe(machine.driver.statistics().faults), "");
  }
};

TEST_P(RecordedCounts, EachRecordOfADrainHasItsOwnCounts) {
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  Event& instructions = machine.opened(counting(HardwareId::instructions), &branches);
  expect_exact_reads(instructions, branches);
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  program.run(10'000);
  EXPECT_EQ(samples, 0u) << "the group can wait for a full buffer";
  machine.unschedule(branches);
  EXPECT_GT(samples, 30u);
  expect_exact_totals(instructions, branches);
}

TEST_P(RecordedCounts, ReloadedBySoftwareTheyAreAsExact) {
  perf::Attr attr = reading(HardwareId::branch_instructions, 50);
  attr.wakeup_events = 1;
  Event& branches = machine.opened(attr);
  Event& instructions = machine.opened(counting(HardwareId::instructions), &branches);
  expect_exact_reads(instructions, branches);
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  program.run(10'000);
  EXPECT_GT(samples, 25u);
  machine.unschedule(branches);
  expect_exact_totals(instructions, branches);
}

TEST_P(RecordedCounts, TwoSamplingMembersKeepCountsMonotonic) {
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  Event& instructions = machine.opened(reading(HardwareId::instructions, 171), &branches);
  expect_exact_reads(instructions, branches);
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  program.run(10'000);
  machine.unschedule(branches);
  EXPECT_GT(samples, 80u);
  expect_exact_totals(instructions, branches);
}

TEST_P(RecordedCounts, ReadingInBetweenNeitherLosesNorDoublesCounts) {
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  Event& instructions = machine.opened(counting(HardwareId::instructions), &branches);
  expect_exact_reads(instructions, branches);
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  for (unsigned i = 0; i < 20; ++i) {
    program.run(333);
    machine.driver.read(i % 2 == 0 ? instructions : branches);
    EXPECT_EQ(i % 2 == 0 ? instructions.count : branches.count,
              i % 2 == 0 ? program.instructions() : program.branches());
  }
  machine.unschedule(branches);
  EXPECT_GT(samples, 20u);
  expect_exact_totals(instructions, branches);
}

TEST_P(RecordedCounts, OverflowOfAnOrdinaryMemberDrainsFirst) {
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  perf::Attr ordinary = counting(HardwareId::instructions);
  ordinary.sample_period = 777;
  ordinary.sample_type = sample::IP;
  Event& instructions = machine.opened(ordinary, &branches);
  unsigned ordinary_samples = 0;
  machine.sink.tell = [&](Event& event, const perf::SampleData& data, const InterruptFrame&) {
    if (&event == &instructions) {
      ++ordinary_samples;
      return;
    }
    ++samples;
    EXPECT_EQ(count_of(data, instructions), StraightProgram::instructions_at(*data.ip));
    EXPECT_EQ(count_of(data, branches), program.branches_at(*data.ip));
  };
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  program.run(10'000);
  EXPECT_GT(samples, 20u) << "each of the other event's interrupts takes the records along";
  machine.unschedule(branches);
  EXPECT_GT(ordinary_samples, 10u);
  expect_exact_totals(instructions, branches);
}

TEST_P(RecordedCounts, AnEventThatIsNoMemberIsNotInTheSample) {
  Event& stranger = machine.opened(counting(HardwareId::instructions));
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    EXPECT_EQ(data.counts.size(), 1u);
    EXPECT_EQ(count_of(data, branches), program.branches_at(*data.ip));
  };
  ASSERT_TRUE(machine.schedule(stranger) && machine.schedule(branches)) << machine.refusal;
  program.run(10'000);
  machine.unschedule(branches);
  EXPECT_GT(samples, 30u);
}

/// Address, weight, registers, counts and branches of every sample of a run.
std::vector<std::vector<u64>> samples_with_fragments_of(u32 bytes) {
  CpuModel model = model_with_skid("cougarcove", 24);
  model.policies.pebs_fragment_bytes = bytes;
  Machine machine(model);
  std::vector<std::vector<u64>> samples;
  machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
    std::vector<u64>& words = samples.emplace_back();
    words = {*data.ip, data.weight, data.registers->rip};
    for (const perf::CountAtSample& known : data.counts) words.push_back(known.count);
    for (const perf::BranchEntry& entry : data.branches->entries)
      words.insert(words.end(), {entry.from, entry.to});
  };
  perf::Attr attr = reading(HardwareId::branch_instructions, 50);
  attr.sample_type |= sample::REGS_INTR | sample::BRANCH_STACK | sample::WEIGHT | sample::ADDR;
  attr.sample_regs_intr = 0xFF;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  Event& branches = machine.opened(attr);
  machine.opened(counting(HardwareId::instructions), &branches);
  EXPECT_TRUE(machine.schedule(branches)) << machine.refusal;
  StraightProgram(machine).run(10'000);
  machine.unschedule(branches);
  return samples;
}

TEST(FragmentedRecords, GiveTheSameSamplesAsWholeOnes) {
  const auto whole = samples_with_fragments_of(0);
  ASSERT_GT(whole.size(), 30u);
  EXPECT_GT(whole.back().size(), 30u) << "counts and branches are there";
  for (const u32 bytes : {64u, 128u, 200u, 1000u})
    EXPECT_EQ(samples_with_fragments_of(bytes), whole) << bytes;
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedCounts,
                         testing::Values("lioncove", "skymont", "cougarcove", "darkmont", "diamondrapids"));

perf::Attr topdown(u64 code) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = code;
  attr.exclude_kernel = 1;
  return attr;
}

class RecordedMetrics : public testing::TestWithParam<const char*> {};

TEST_P(RecordedMetrics, SlotsAndTheirSharesAreThoseOfTheRecord) {
  Machine machine(model_with_skid(GetParam(), 24), before_7_3);
  const u64 width = machine.pmu.model().core.issue_width;
  Event& slots = machine.opened(topdown(0x0400));
  Event& retiring = machine.opened(topdown(0x8000), &slots);
  machine.opened(reading(HardwareId::branch_instructions, 50), &slots);
  unsigned samples = 0;
  machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    const u64 expected = width * StraightProgram::instructions_at(*data.ip);
    EXPECT_EQ(count_of(data, slots), expected);
    EXPECT_NEAR(static_cast<double>(count_of(data, retiring)), static_cast<double>(expected) / 4,
                static_cast<double>(expected) / 255);
  };
  ASSERT_TRUE(machine.schedule(slots)) << machine.refusal;
  constexpr u64 instructions = 10'000;
  for (u64 i = 0; i < instructions; ++i) {  // one per cycle, and a quarter of its slots retire something
    Retirement r{.ip = first_ip + 4 * i, .next_ip = first_ip + 4 * i + 4, .cycle = i + 1, .length = 4};
    r.signals = {Signal::instruction};
    r.quantities[static_cast<unsigned>(Quantity::uops)] = static_cast<u32>(width / 4);
    if (i % 5 == 0) {
      r.signals = {Signal::instruction, Signal::branch, Signal::conditional};
      r.branch = BranchKind::conditional;
    }
    machine.pmu.retire(r);
    if (i % 3000 == 2999) machine.driver.read(slots);  // which clears both
  }
  machine.unschedule(slots);
  EXPECT_GT(samples, 30u);
  EXPECT_EQ(slots.count, width * instructions);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedMetrics, testing::Values("lioncove", "cougarcove", "diamondrapids"));

TEST(WithoutRecordedCounts, EveryGroupReadSampleInterrupts) {
  Machine machine(model_with_skid("icelake", 24));
  unsigned samples = 0;
  machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    EXPECT_TRUE(data.counts.empty());
  };
  Event& branches = machine.opened(reading(HardwareId::branch_instructions, 50));
  Event& instructions = machine.opened(counting(HardwareId::instructions), &branches);
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  StraightProgram(machine).run(10'000);
  EXPECT_GT(samples, 30u);
  machine.unschedule(branches);
  EXPECT_EQ(instructions.count, 10'000u);
}

}  // namespace
}  // namespace pmusim::driver
