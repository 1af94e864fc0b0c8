// SPDX-License-Identifier: MIT
// perf.data files whose records are laid out word by word as perf_event_open(2) has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "pmusim/annotate/analyze.h"
#include "tests/annotate/counted_program.h"
#include "tests/perfdata/file_fixture.h"

namespace pmusim::annotate {
namespace {

using perfdata::Writer;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr u64 sampled = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID | perf::sample::TIME |
                        perf::sample::PERIOD | perf::sample::BRANCH_STACK;
constexpr u64 every_branch = perf::branch::ANY | perf::branch::USER;
constexpr u32 read_and_execute = 5;

perf::Attr attribute(u64 branches = every_branch) {
  perf::Attr attr;
  attr.type = 4;
  attr.sample_period = 1000;
  attr.sample_type = sampled;
  attr.branch_sample_type = branches;
  attr.sample_id_all = 1;
  return attr;
}

std::vector<std::byte> record(u32 type, u16 misc, const std::vector<u64>& words) {
  const perf::RecordHeader header{type, misc, static_cast<u16>(8 + 8 * words.size())};
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!words.empty()) std::memcpy(bytes.data() + sizeof header, words.data(), 8 * words.size());
  return bytes;
}

struct Sampled {
  u64 id = 1;
  u32 pid = 1;
  u64 ip = 0, time = 100, period = 1;
  std::vector<perf::BranchEntry> branches = {};
  std::vector<u64> counters = {};
};

/// PERF_RECORD_SAMPLE with the fields of `sampled`, in the order of the manual.
std::vector<std::byte> sample(const Sampled& s) {
  std::vector<u64> words{s.id, s.ip, u64{s.pid} << 32 | s.pid, s.time, s.period, s.branches.size()};
  for (const perf::BranchEntry& entry : s.branches) {
    u64 three[3];
    std::memcpy(three, &entry, sizeof entry);
    words.insert(words.end(), std::begin(three), std::end(three));
  }
  words.insert(words.end(), s.counters.begin(), s.counters.end());
  return record(9, perf::misc::USER, words);
}

class PerfDataTest : public perfdata::FileTest {
 protected:
  void open(perfdata::Metadata metadata = {}) {
    perfdata::Options form;
    form.metadata = std::move(metadata);
    writer.emplace(*Writer::create(path(), form));
  }
  void add_event(const std::string& name, const perf::Attr& attr, u64 id = 1) {
    event.attr = attr;
    event.id = id;
    ASSERT_TRUE(writer->add_event(attr, name, {&id, 1}));
  }
  void write(const std::vector<std::byte>& bytes) { ASSERT_TRUE(writer->write(bytes)); }
  template <class Record>
  void tell(const Record& what, u64 time = 1) {
    write(perf::encode_record(what, event, {1, 1, 0, time}));
  }
  /// Process `pid` maps the program 0x100000 above its own addresses.
  perf::Mmap2Record program(u32 pid = 1) const {
    return {.pid = pid,
            .tid = pid,
            .address = counted::start + counted::moved,
            .length = counted::text_bytes,
            .page_offset = counted::text_offset,
            .protection = read_and_execute,
            .name = counted::path};
  }
  Report report(const Options& options = {}) {
    EXPECT_TRUE(writer->finish());
    auto result = analyze(path(), options);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? *std::move(result) : Report{};
  }
  static std::vector<std::string> names(const Report& report) {
    std::vector<std::string> all;
    for (const Symbol& symbol : report.symbols) all.push_back(symbol.name);
    return all;
  }
  std::optional<Writer> writer;
  perf::Event event;
};

const u64 in_round = counted::round + counted::moved;

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

TEST_F(PerfDataTest, AnEventWithoutANameIsCalledByItsNumber) {
  open();
  add_event("", attribute());
  add_event("", attribute(), 2);
  EXPECT_EQ(report().events[1].name, "event 1");
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
TEST_F(PerfDataTest, AnExecutionWithoutATimeIsBeforeTheFirstSampleToo) {
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

TEST_F(PerfDataTest, AFunctionWithoutSamplesIsRefusedWithTheNearestName) {
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
