// SPDX-License-Identifier: MIT
// What a core holds when a replay begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/interval_core.h"
#include "core/warm_up.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/stat.h"
#include "tests/session/walk.h"

namespace pmusim {
namespace {

constexpr u64 walked_runs = 20'000, long_runs = 150'000;

/// A walk that can be gone again.
class Repeated final : public trace::Source {
 public:
  explicit Repeated(u64 seed, u64 runs = walked_runs) : seed_(seed), runs_(runs) {}
  const trace::Contents& contents() const override { return walk_.contents(); }
  std::optional<u64> length() const override { return walk_.length(); }
  const std::optional<std::string>& truncation() const override { return walk_.truncation(); }
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override {
    return walk_.code(pid, address, bytes);
  }
  Result<trace::Items, Error> read() override { return trace::items_of(walk_.next()); }
  Result<std::unique_ptr<trace::Source>, Error> again() const override {
    return std::unique_ptr<trace::Source>(std::make_unique<Repeated>(seed_, runs_));
  }

 private:
  u64 seed_, runs_;
  test::Walk walk_{seed_, runs_, test::Walk::Registers::unknown, test::Walk::Addresses::known};
};

/// Mispredicts, and accesses that met no line in L1D.
struct Found {
  u64 mispredicts = 0, misses = 0, cycles = 0;
};

Found run(IntervalCore& core, trace::Source& program) {
  Found found;
  const u64 begin = core.cycle();
  while (true) {
    const auto item = program.next();
    if (!item.value().has_value()) break;
    const auto* const run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) {
      if (std::holds_alternative<trace::SignalDelivery>(std::get<trace::SideBandRecord>(**item)))
        core.interrupt();
      continue;
    }
    core.retire(core.execute(*run), [&](const Retirement& r) {
      found.mispredicts += r.mispredicted;
      found.misses += r.signals.has(Signal::load_l1_miss);
    });
  }
  found.cycles = core.cycle() - begin;
  return found;
}

IntervalCore fresh_core(const trace::Source& program) {
  return IntervalCore::create(find_cpu_model("skylake").value(), program.contents()).value();
}

TEST(WarmUp, ACoreBeginsWithWhatARunOfTheProgramLeavesThere) {
  Repeated first(7), second(7), pass(7), program(7);
  IntervalCore twice = fresh_core(program), warm = fresh_core(program);
  const Found cold = run(twice, first), again = run(twice, second);
  ASSERT_TRUE(warm_up(warm, pass, [] { return true; }).ok());
  EXPECT_EQ(warm.cycle(), 0u);
  const Found found = run(warm, program);
  EXPECT_EQ(found.mispredicts, again.mispredicts);
  EXPECT_NEAR(static_cast<double>(found.misses), static_cast<double>(again.misses),
              0.002 * static_cast<double>(again.misses));
  EXPECT_NEAR(static_cast<double>(found.cycles), static_cast<double>(again.cycles),
              0.002 * static_cast<double>(again.cycles));
  EXPECT_LT(found.cycles, cold.cycles);
  EXPECT_LT(found.mispredicts, cold.mispredicts);
}

TEST(WarmUp, EndsWhenItIsToldTo) {
  Repeated pass(7, long_runs);
  IntervalCore core = fresh_core(pass);
  unsigned asked = 0;
  ASSERT_TRUE(warm_up(core, pass, [&] { return ++asked < 2; }).ok());
  EXPECT_EQ(asked, 2u);
  EXPECT_TRUE(pass.next().value().has_value());
}

StatReport counts(StartState start, CoreLevel level, Stepping stepping = Stepping::blocks) {
  const CpuModel model = find_cpu_model("icelake").value();
  const SessionOptions options{.model = model, .core = level, .start = start, .stepping = stepping};
  auto session = Session::open(std::make_unique<Repeated>(7), options);
  return stat(*session, {.events = events::parse_events("cycles,branch-misses", model).value()}).value();
}

u64 count(const StatReport& report, std::size_t event) { return report.events[event].value(); }

TEST(WarmStart, TakesFewerCyclesAndMispredictsLess) {
  for (const CoreLevel level : {CoreLevel::interval, CoreLevel::memory, CoreLevel::simple}) {
    const StatReport cold = counts(StartState::cold, level), warm = counts(StartState::warm, level);
    EXPECT_EQ(warm.instructions, cold.instructions);
    EXPECT_LT(count(warm, 0), count(cold, 0)) << name_of(level);
    EXPECT_LT(count(warm, 1), count(cold, 1)) << name_of(level);
  }
}

TEST(WarmStart, IsTheSameInstructionByInstruction) {
  for (const CoreLevel level : {CoreLevel::interval, CoreLevel::memory}) {
    const StatReport blocks = counts(StartState::warm, level),
                     exact = counts(StartState::warm, level, Stepping::instructions);
    for (const std::size_t event : {0u, 1u})
      EXPECT_EQ(count(blocks, event), count(exact, event)) << name_of(level) << ' ' << event;
  }
}

TEST(WarmStart, NeedsAProgramThatCanBeReadAgain) {
  const SessionOptions options{.model = find_cpu_model("icelake").value(), .start = StartState::warm};
  auto once = std::make_unique<test::Walk>(7, walked_runs, test::Walk::Registers::unknown);
  const auto session = Session::open(std::move(once), options);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message,
            "a warm start: the program can be read once; a trace in a file can be read again");
}

}  // namespace
}  // namespace pmusim
