// SPDX-License-Identifier: MIT
// Code at ring 0 in a replay: what counts there, what branch records and samples show of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"
#include "tests/session/outcome.h"
#include "tests/session/walk.h"
#include "tests/support/dice.h"
#include "tests/support/system_call_loop.h"
#include "tests/trace/sample_trace.h"

namespace pmusim::test::kernel_code_test {
namespace {

constexpr u64 kernel_text = 0xFFFF'FFFF'8100'0000;

SessionOptions machine(CoreLevel core = CoreLevel::flat, const char* model = "skylake") {
  return {.model = *find_cpu_model(model), .core = core, .kernel_entries = trace::KernelEntries{}};
}

std::vector<u64> counts(Session& session, const std::string& events) {
  const auto report = stat(session, {.events = *events::parse_events(events, session.model())});
  EXPECT_TRUE(report.ok()) << report.error().message;
  std::vector<u64> values;
  if (report.ok())
    for (const EventTotal& event : report->events) values.push_back(event.value());
  return values;
}

Samples samples_of(Session& session, const std::string& events, RecordOptions options) {
  options.events = *events::parse_events(events, session.model());
  auto samples = sample(session, options);
  EXPECT_TRUE(samples.ok()) << samples.error().message;
  return std::move(samples).value();
}

Session loop(unsigned rounds, const SessionOptions& options, trace::Contents contents = {.addresses = true}) {
  return *Session::open(std::make_unique<SystemCallLoop>(rounds, contents), options);
}

class EachCore : public testing::TestWithParam<CoreLevel> {};

// 1000 calls, 50 instructions of the program and 200 of the kernel in each.
TEST_P(EachCore, CountsRingsApart) {
  Session session = loop(1000, machine(GetParam()));
  EXPECT_THAT(counts(session,
                     "instructions:u,instructions:k,instructions,br_inst_retired.far_branch,"
                     "br_inst_retired.far_branch:u,br_inst_retired.far_branch:k,context-switches"),
              testing::ElementsAre(50'000, 200'000, 250'000, 2000, 1000, 1000, 0));
}

TEST_P(EachCore, CyclesOfBothRingsAreAllCycles) {
  Session session = loop(300, machine(GetParam()));
  const auto cycles = counts(session, "cycles:u,cycles:k,cycles");
  EXPECT_EQ(cycles[0] + cycles[1], cycles[2]);
  EXPECT_GT(cycles[1], 0u);
}

INSTANTIATE_TEST_SUITE_P(Levels, EachCore,
                         testing::Values(CoreLevel::flat, CoreLevel::simple, CoreLevel::memory,
                                         CoreLevel::interval),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(KernelCode, BlocksAndInstructionsLeaveTheSame) {
  for (u64 seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    SessionOptions options = machine(dice.one_in(2) ? CoreLevel::interval : CoreLevel::flat);
    options.model = cpu_models()[seed % cpu_models().size()];
    if (!options.model.has_timing_model) options.core = CoreLevel::flat;
    options.kernel_entries = {.system_call = 61 + static_cast<u32>(dice.below(300)),
                              .tick = 200,
                              .tick_every = dice.one_in(2) ? 500u : 0u};
    draw_policies(options.model, dice);
    const auto registers = dice.one_in(2) ? Walk::Registers::known : Walk::Registers::unknown;
    RecordOptions record{.period = 200 + dice.below(300)};
    const std::string events = dice.one_in(2) ? "instructions" : dice.one_in(2) ? "cycles:u" : "branches:k";
    const auto parsed = events::parse_events(events, options.model);
    if (!parsed.ok()) continue;
    record.events = *parsed;
    if (dice.one_in(2)) record.branch_sample_type = perf::branch::ANY;
    std::vector<Outcome> outcomes;
    for (const Stepping stepping : {Stepping::blocks, Stepping::instructions}) {
      options.stepping = stepping;
      auto session =
          Session::open(std::make_unique<Walk>(seed, 2000, registers, Walk::Addresses::known), options);
      outcomes.push_back(outcome_of(*session, record));
    }
    ASSERT_EQ(outcomes[0], outcomes[1]) << "seed " << seed << ": " << outcomes[0].error;
  }
}

/// Whether what was recorded last begins where the one before led to, in a straight line.
bool is_consecutive(const perf::BranchEntry& older, const perf::BranchEntry& newer) {
  return older.to <= newer.from && newer.from < older.to + 4096;
}

TEST(KernelCode, BranchStacksHaveNoImpossiblePair) {
  SessionOptions options = machine(CoreLevel::interval);
  options.kernel_entries->tick_every = 333;
  Session session = loop(3000, options);
  RecordOptions record{.period = 5003};
  record.branch_sample_type = perf::branch::ANY;
  u64 pairs = 0, into_kernel = 0;
  for (const auto& [event, sample] : samples_of(session, "instructions", record))
    for (std::size_t n = 0; n + 1 < sample.branches.size(); ++n, ++pairs) {
      ASSERT_TRUE(is_consecutive(sample.branches[n + 1], sample.branches[n]));
      into_kernel += sample.branches[n].from < kernel_text && sample.branches[n].to >= kernel_text;
    }
  EXPECT_GT(pairs, 3000u);
  EXPECT_GT(into_kernel, 10u);
}

// The way back into the program is kept with the kernel's address by stacks of old, and without by those of
// the architecture, from where the driver takes it out.
TEST(KernelCode, AUsersBranchStackKeepsWhatLeadsToTheUser) {
  const auto kernel_froms = [](const char* model, const char* kernel) {
    SessionOptions options = machine(CoreLevel::flat, model);
    options.kernel = *perf::find_kernel(kernel);
    Session session = loop(1000, options);
    RecordOptions record{.period = 997};
    record.branch_sample_type = perf::branch::ANY | perf::branch::USER;
    u64 from_kernel = 0, to_kernel = 0, calls = 0;
    for (const auto& [event, sample] : samples_of(session, "instructions:u", record))
      for (const perf::BranchEntry& branch : sample.branches) {
        from_kernel += branch.from >= kernel_text;
        to_kernel += branch.to >= kernel_text;
        calls += branch.from == SystemCallLoop::call;
      }
    EXPECT_EQ(to_kernel, 0u);
    EXPECT_EQ(calls, 0u);
    return from_kernel;
  };
  EXPECT_GT(kernel_froms("skylake", "7.0"), 100u);
  EXPECT_EQ(kernel_froms("skylake", "7.3"), 0u) << "newer drivers take out what comes from the kernel";
  EXPECT_EQ(kernel_froms("goldencove", "7.0"), 0u);
}

TEST(KernelCode, FilterKKeepsTheKernelsAlone) {
  Session session = loop(1000, machine());
  RecordOptions record{.period = 997};
  record.branch_sample_type = perf::branch::ANY | perf::branch::KERNEL;
  u64 branches = 0;
  for (const auto& [event, sample] : samples_of(session, "instructions", record))
    for (const perf::BranchEntry& branch : sample.branches) {
      EXPECT_GE(branch.to, kernel_text);
      ++branches;
    }
  EXPECT_GT(branches, 1000u);
}

TEST(KernelCode, SamplesSayWhereTheyAre) {
  Session session = loop(1000, machine());
  u64 kernel = 0, user = 0;
  for (const auto& [event, sample] : samples_of(session, "instructions", {.period = 997})) {
    const bool in_kernel = (sample.misc & perf::misc::CPUMODE_MASK) == perf::misc::KERNEL;
    EXPECT_EQ(in_kernel, sample.ip >= kernel_text);
    ++(in_kernel ? kernel : user);
  }
  EXPECT_EQ(kernel + user, 250u);
  EXPECT_NEAR(static_cast<double>(kernel), 200, 10);
}

// An event of the user's overflows before the call, and its interrupt arrives in the kernel: the sample is
// the kernel's, and the registers of user mode are those at the entry.
TEST(KernelCode, ALateInterruptArrivesInTheKernel) {
  SessionOptions options = machine();
  options.kernel = *perf::find_kernel("6.12");  // later ones hide the kernel's address
  options.model.policies.pmi_skid_cycles = 24;
  Session session = loop(40, options, {.addresses = true, .registers = true});
  RecordOptions record{.period = 45};
  record.user_registers = bits(8, 0);
  u64 kernel = 0;
  for (const auto& [event, sample] : samples_of(session, "instructions:u", record)) {
    if (sample.ip < kernel_text) continue;
    ++kernel;
    EXPECT_EQ(sample.misc & perf::misc::CPUMODE_MASK, perf::misc::KERNEL);
    ASSERT_EQ(sample.user_registers.values.size(), 9u);
    EXPECT_EQ(sample.user_registers.values[8], SystemCallLoop::jump) << "RIP";
    EXPECT_EQ(sample.user_registers.values[0], SystemCallLoop::number) << "RAX";
    EXPECT_EQ(sample.user_registers.values[2], SystemCallLoop::jump) << "RCX";
    EXPECT_EQ(sample.user_registers.values[7], SystemCallLoop::stack) << "RSP";
  }
  EXPECT_GT(kernel, 0u);
}

TEST(KernelCode, CallChainsHaveBothHalves) {
  SessionOptions options = machine();
  options.call_stacks = true;
  Session session = loop(1000, options);
  RecordOptions record{.period = 997};
  record.call_graph_trace = true;
  u64 kernel = 0;
  for (const auto& [event, sample] : samples_of(session, "instructions:k", record)) {
    if (sample.ip < kernel_text) continue;  // late
    ASSERT_GE(sample.callchain.size(), 4u);
    EXPECT_EQ(sample.callchain[0], static_cast<u64>(-128));
    EXPECT_EQ(sample.callchain[1], sample.ip);
    EXPECT_EQ(sample.callchain[2], static_cast<u64>(-512));
    EXPECT_EQ(sample.callchain[3], SystemCallLoop::jump);
    ++kernel;
  }
  EXPECT_GT(kernel, 150u);
}

// What a thread executed before it had its name is its own, too, and a thread that it starts has its name.
TEST(KernelCode, ThreadsHaveTheNamesThatTheyWereGiven) {
  trace::TemporaryDirectory directory;
  const std::string path = directory.file("t");
  auto writer = trace::Writer::create(path, {.kernel = true});
  const std::vector<std::byte> nops(10, std::byte{0x90});
  const trace::Block& block =
      writer->add_block(kernel_text, nops, std::vector<u8>(nops.size(), 1), Cpl::kernel);
  const auto tell = [&](const trace::SideBandRecord& record) { ASSERT_TRUE(writer->side_band(record).ok()); };
  const auto run = [&](u32 pid, unsigned times) {
    tell(trace::ThreadSwitch{pid, pid});
    for (; times != 0; --times)
      ASSERT_TRUE(writer->run({.block = &block, .next_ip = kernel_text, .next_ring = Cpl::kernel}).ok());
  };
  tell(trace::ProcessStart{1, 1, "init", true});
  run(1, 1);
  tell(trace::ThreadStart{2, 2, 1, 1});
  run(2, 2);
  tell(trace::ThreadName{2, 2, "kworker/0:1"});
  run(1, 4);
  run(2, 8);
  tell(trace::ThreadStart{3, 3, 2, 2});
  run(3, 16);
  ASSERT_TRUE(writer->finish().ok());

  SessionOptions options = machine();
  options.kernel_entries.reset();
  auto session = Session::open(path, options);
  ASSERT_TRUE(session.ok()) << session.error().message;
  const auto report =
      stat(*session, {.events = *events::parse_events("instructions:k", options.model), .per_thread = true});
  ASSERT_TRUE(report.ok()) << report.error().message;
  std::vector<std::pair<std::string, u64>> counted;
  for (const ThreadTotals& thread : report->threads)
    counted.emplace_back(thread.command, thread.events.front().value());
  EXPECT_THAT(counted, testing::ElementsAre(std::pair("init", 50), std::pair("kworker/0:1", 100),
                                            std::pair("kworker/0:1", 160)));
}

TEST(KernelCode, WithoutIsRefusedWithTheWayToGetIt) {
  SessionOptions options = machine();
  options.kernel_entries.reset();
  Session session = loop(1, options);
  const auto report = stat(session, {.events = *events::parse_events("instructions:k", session.model())});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, testing::HasSubstr("--kernel-entries"));
}

TEST(KernelCode, CoreSampledRefusesIt) {
  const auto session = Session::open(std::make_unique<SystemCallLoop>(1), machine(CoreLevel::sampled));
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().message, testing::HasSubstr("ring 0"));
}

}  // namespace
}  // namespace pmusim::test::kernel_code_test
