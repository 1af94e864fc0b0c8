// SPDX-License-Identifier: MIT
// perf.data files whose records are laid out word by word as perf_event_open(2) has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/annotate/perf_data_fixture.h"

namespace pmusim::annotate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PerfDataTest, SamplesOfAFileAreShownInItsProgram) {
  open({.cpu_description = "a processor", .command_line = {"perf", "record", "-b"}});
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_round, .period = 7, .branches = counted::newest_first(counted::three_rounds())}));
  const Report r = report();
  EXPECT_EQ(r.input, path().string());
  EXPECT_EQ(r.command_line, "perf record -b");
  EXPECT_EQ(r.cpu, "a processor");
  EXPECT_EQ(r.events[0].name, "cycles");
  EXPECT_EQ(r.events[0].total, (Weight{1, 7}));
  EXPECT_EQ(r.totals.blocks, 7u);
  EXPECT_EQ(r.symbols[0].max_coverage, 3u);
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST_F(PerfDataTest, AnEventWithoutANameIsCalledByItsAttribute) {
  open();
  add_event("", attribute());
  add_event("", attribute(), 2);
  EXPECT_EQ(report().events[1].name, "raw 0x0:HG");
}

TEST_F(PerfDataTest, OnlyExecutableMappingsOfProcessesAreCode) {
  open();
  add_event("cycles", attribute());
  perf::Mmap2Record data = program(1), kernel = program(2), unreadable = program(3);
  data.misc = perf::misc::USER | perf::misc::MMAP_DATA;
  kernel.misc = perf::misc::KERNEL;
  unreadable.protection = 3;
  for (const auto& each : {data, kernel, unreadable}) tell(each);
  for (const u32 pid : {1u, 2u, 3u}) write(sample({.pid = pid, .ip = in_round}));
  EXPECT_THAT(names(report()), ElementsAre("[unknown]"));
}

TEST_F(PerfDataTest, WhatIsWritableTooIsCode) {
  open();
  add_event("cycles", attribute());
  perf::Mmap2Record all = program();
  all.protection = 7;
  tell(all);
  write(sample({.ip = in_round}));
  EXPECT_THAT(names(report()), ElementsAre("_start"));
}

// Records without a trailer do not say when they were written: what they map was there from the beginning.
TEST_F(PerfDataTest, AMappingWithoutATimeIsThereBeforeTheFirstSample) {
  open();
  perf::Attr attr = attribute();
  attr.sample_id_all = 0;
  add_event("cycles", attr);
  tell(program());
  write(sample({.ip = in_round, .time = 0}));
  EXPECT_THAT(names(report()), ElementsAre("_start"));
}

// The same of what a process did before.
TEST_F(PerfDataTest, AnExecWithoutATimeIsBeforeTheFirstSample) {
  open();
  perf::Attr attr = attribute();
  attr.sample_id_all = 0;
  add_event("cycles", attr);
  perf::Mmap2Record before = program();
  before.name = "/of/the/program/before";
  tell(before);
  tell(perf::CommRecord{1, 1, "counted", perf::misc::COMM_EXEC});
  tell(program());
  write(sample({.ip = in_round, .time = 0}));
  EXPECT_THAT(names(report()), ElementsAre("_start"));
}

TEST_F(PerfDataTest, AProcessHasWhatItsParentHadUntilItExecutes) {
  open();
  add_event("cycles", attribute());
  tell(program(), 1);
  tell(perf::TaskRecord{.pid = 2, .parent_pid = 1, .tid = 2, .parent_tid = 1, .time = 2}, 2);
  tell(perf::CommRecord{2, 2, "named"}, 3);
  tell(perf::CommRecord{2, 2, "other", perf::misc::COMM_EXEC}, 5);
  write(sample({.pid = 2, .ip = in_round, .time = 4}));
  const u64 behind = in_round + 3;
  write(sample({.pid = 2, .ip = behind, .time = 6}));
  const Report r = report();
  EXPECT_EQ(find_function(r, "_start")->instructions[1].weights, (Weights{{1, 1}}));
  EXPECT_EQ(find_function(r, "_start")->instructions[2].weights, (Weights{{0, 0}})) << "of another program";
}

// LOST: an id and a count. LOST_SAMPLES: a count. Both may be cut short in a broken file.
TEST_F(PerfDataTest, LossesAreAddedUp) {
  open();
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_round}));
  write(record(2, 0, {1, 5}));
  write(record(13, 0, {6}));
  EXPECT_THAT(report().notes, Contains("11 samples or records were lost"));
}
TEST_F(PerfDataTest, ALossWithoutANumberIsNone) {
  open();
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_round}));
  write(record(2, 0, {1}));
  write(record(13, 0, {}));
  EXPECT_THAT(report().notes, IsEmpty());
}

TEST_F(PerfDataTest, SamplesOfNoEventAreLeftOutAndSaid) {
  open();
  add_event("cycles", attribute());
  add_event("instructions", attribute(), 2);
  tell(program());
  write(sample({.ip = in_round}));
  write(sample({.id = 77, .ip = in_round}));
  const Report r = report();
  EXPECT_EQ(r.totals.samples, 1u);
  EXPECT_THAT(r.notes, ElementsAre("1 samples belong to no event of the file and are left out"));
}

TEST_F(PerfDataTest, CountsOfNoEventAreLeftOutAndSaid) {
  perf::Attr attr = attribute();
  attr.sample_type |= perf::sample::READ;
  attr.read_format = perf::read_format::GROUP | perf::read_format::ID;
  open();
  add_event("cycles", attr);
  add_event("instructions", attr, 2);
  tell(program());
  const u64 thread = u64{1} << 32 | 1;
  write(record(9, perf::misc::USER,
               {1, in_round, thread, 100, 1000, /* counts */ 3, 1000, 1, 700, 2, 5, 77, /* branches */ 0}));
  const Report r = report();
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].total.period, 1000u);
  EXPECT_EQ(r.events[1].total.period, 700u);
  EXPECT_THAT(r.notes, ElementsAre("1 samples belong to no event of the file and are left out"));
}

TEST_F(PerfDataTest, ASampleThatIsCutShortIsAnError) {
  open();
  add_event("cycles", attribute());
  write(record(9, perf::misc::USER, {1, in_round}));
  ASSERT_TRUE(writer->finish());
  EXPECT_FALSE(analyze(path(), {}).ok());
}

// A filter leaves branches out: what lies between two that are left is no straight line.
TEST_F(PerfDataTest, FilteredBranchesBoundNoLines) {
  struct Case {
    u64 filter;
    bool is_whole;
  };
  for (const auto [filter, is_whole] :
       {Case{every_branch, true}, Case{perf::branch::ANY_CALL, false},
        Case{every_branch | perf::branch::NO_TX, false}, Case{every_branch | perf::branch::IN_TX, false}}) {
    open();
    add_event("cycles", attribute(filter));
    tell(program());
    write(sample({.ip = in_round, .branches = counted::newest_first(counted::three_rounds())}));
    const Report r = report();
    EXPECT_EQ(r.branches.size(), 5u);
    EXPECT_EQ(r.totals.blocks, is_whole ? 7u : 0u) << filter;
    EXPECT_EQ(r.notes.size(), is_whole ? 0u : 1u) << filter;
  }
}

TEST_F(PerfDataTest, ACallStackOfTheLbrIsNoHistory) {
  open();
  add_event("cycles", attribute(perf::branch::CALL_STACK | perf::branch::USER));
  tell(program());
  write(sample({.ip = counted::leaf + counted::moved,
                .branches = counted::newest_first({{counted::call, counted::leaf}})}));
  const Report r = report();
  EXPECT_EQ(r.stack_source, StackSource::lbr_call_stack);
  EXPECT_THAT(r.branches, IsEmpty());
  EXPECT_EQ(r.stacks.size(), 3u);
}

TEST_F(PerfDataTest, AnEventWithoutBranchStacksHasNone) {
  open();
  perf::Attr attr = attribute();
  attr.sample_type &= ~perf::sample::BRANCH_STACK;
  add_event("cycles", attr);
  tell(program());
  write(record(9, perf::misc::USER, {1, in_round, u64{1} << 32 | 1, 100, 7}));
  const Report r = report();
  EXPECT_EQ(r.totals.samples, 1u);
  EXPECT_EQ(r.totals.branch_stacks, 0u);
  EXPECT_FALSE(find_function(r, "_start")->instructions[0].heat.has_value());
}

// Two events of a group are counted with each branch, in fields as wide as the file says: 4 bits.
TEST_F(PerfDataTest, CountersOfTheLbrAreAsWideAsTheFileSays) {
  open({.cpu_pmu_caps = {{"branches", "32"}, {"branch_counter_width", "4"}, {"max_precise", "3"}}});
  add_event("loads", attribute(every_branch | perf::branch::COUNTERS), 1);
  add_event("stores", attribute(every_branch | perf::branch::COUNTERS), 2);
  writer->add_group("", 0, 2);
  tell(program());
  write(sample(
      {.ip = in_round,
       .branches = counted::newest_first({{counted::jne, counted::round}, {counted::je, counted::skip}}),
       .counters = {0x96, 0}}));
  const Report r = report();
  EXPECT_THAT(r.branch_counters, ElementsAre("loads", "stores"));
  EXPECT_THAT(find_function(r, "_start")->blocks[0].counters, ElementsAre(6, 9));
}

TEST_F(PerfDataTest, RefusesAFunctionWithoutSamplesNamingTheNearest) {
  open();
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_round}));
  ASSERT_TRUE(writer->finish());
  const auto result = analyze(path(), {.symbols = {"_stark"}});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("no samples in a function '_stark'"));
  EXPECT_THAT(result.error().message, HasSubstr("_start"));
}

// Code without a file: what the compiler of the process wrote to perf-PID.map, at addresses of the process.
TEST_F(PerfDataTest, AnonymousCodeIsNamedByTheMapOfItsProcess) {
  const std::filesystem::path directory = path().parent_path();
  std::ofstream(directory / "perf-4.map") << "7f0000001000 100 compiled\n";
  open();
  add_event("cycles", attribute());
  tell(perf::Mmap2Record{.pid = 4,
                         .tid = 4,
                         .address = 0x7f0000001000,
                         .length = 0x1000,
                         .page_offset = 0x5000,
                         .protection = 7,
                         .name = "//anon"});
  write(sample({.pid = 4, .ip = 0x7f0000001010}));
  EXPECT_THAT(names(report({.jit_directory = directory})), ElementsAre("compiled"));
}

}  // namespace
}  // namespace pmusim::annotate
