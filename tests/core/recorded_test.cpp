// SPDX-License-Identifier: MIT
// The core on the recorded workloads (examples/workloads).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/core.h"
#include "tests/support/workload_recording.h"

namespace pmusim {
namespace {

CpuModel icelake() { return find_cpu_model("icelake").value(); }

class Recording : public WorkloadRecording {
 public:
  explicit Recording(std::vector<std::string> command)
      : WorkloadRecording(std::move(command), {.start_symbol = "main"}) {}

  /// Calls `sink` for every retirement and returns the last cycle.
  template <class Sink>
  u64 replay(Sink&& sink) const {
    trace::Reader reader = trace::Reader::open(path()).value();
    Core core = Core::create(icelake()).value();
    while (auto item = reader.next().value())
      if (const auto* run = std::get_if<trace::BlockRun>(&*item)) core.run(*run, sink);
    return core.cycle();
  }
  u64 instructions() const { return trace::Reader::open(path()).value().instruction_count(); }
};

struct BranchCounts {
  u64 retired = 0, mispredicted = 0;
};

std::map<u64, BranchCounts> conditionals(const Recording& recording) {
  std::map<u64, BranchCounts> by_ip;
  recording.replay([&](const Retirement& r) {
    if (r.branch != BranchKind::conditional) return;
    ++by_ip[r.ip].retired;
    by_ip[r.ip].mispredicted += r.mispredicted;
  });
  return by_ip;
}

// Published: about 11 and 21 % of all branches (docs/core-model.md).
TEST(RecordedMispredict, BothLoopsMissAboutAsOftenAsPublished) {
  constexpr u64 elements = 4096, passes = 2;
  const Recording recording({"mispredict", std::to_string(elements), std::to_string(passes)});
  std::vector<BranchCounts> in_loops;  // in the order of their addresses: two of loop 1, two of loop 2
  for (const auto& [ip, counts] : conditionals(recording))
    if (counts.retired == elements * passes || counts.retired == (elements + 1) * passes)
      in_loops.push_back(counts);
  ASSERT_EQ(in_loops.size(), 4u);
  const auto percent = [](const BranchCounts& a, const BranchCounts& b) {
    return 100. * static_cast<double>(a.mispredicted + b.mispredicted) /
           static_cast<double>(a.retired + b.retired);
  };
  const double loop1 = percent(in_loops[0], in_loops[1]), loop2 = percent(in_loops[2], in_loops[3]);
  EXPECT_GT(loop1, 8);
  EXPECT_LT(loop1, 16);
  EXPECT_GT(loop2, 18);
  EXPECT_LT(loop2, 27);
}

// examples/workloads/branches.c: a history predictor knows the third data-dependent branch, but not the other
// two.
TEST(RecordedBranches, TwoBranchesAreRandomAndNoneElseIs) {
  constexpr u64 rounds = 400;
  const Recording recording({"branches", std::to_string(rounds)});
  unsigned random = 0;
  for (const auto& [ip, counts] : conditionals(recording)) {
    if (counts.retired != rounds && counts.retired != rounds + 1) continue;
    const double missed = static_cast<double>(counts.mispredicted) / static_cast<double>(counts.retired);
    EXPECT_TRUE(missed < 0.1 || missed > 0.35) << std::hex << ip << " misses " << missed;
    random += missed > 0.35;
  }
  EXPECT_EQ(random, 2u);
}

TEST(RecordedBranches, EachInstructionRetiresInARepeatableCycle) {
  const Recording recording({"branches", "200"});
  u64 retired = 0, uops_and_lost = 0;
  const auto count = [&](const Retirement& r) {
    ++retired;
    for (const Quantity which :
         {Quantity::uops, Quantity::slots_bad_speculation, Quantity::slots_frontend, Quantity::slots_backend})
      uops_and_lost += r.quantities[static_cast<unsigned>(which)];
  };
  const u64 cycles = recording.replay(count);
  EXPECT_EQ(retired, recording.instructions());
  const u64 slots = cycles * icelake().core.issue_width;
  EXPECT_LE(uops_and_lost, slots);
  EXPECT_GT(uops_and_lost + icelake().core.issue_width, slots);
  EXPECT_EQ(recording.replay([](const Retirement&) {}), cycles);
}

}  // namespace
}  // namespace pmusim
