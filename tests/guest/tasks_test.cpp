// SPDX-License-Identifier: MIT
// What a trace of the machine (docs/machine.md) knows of the guest's tasks: what its kernel writes down of
// them in, records of the trace out. Layouts are those of perf_event_open(2), limits those of
// <linux/threads.h>, <linux/sched.h> and <linux/limits.h>.
#include "pmu/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/guest/perf_records.h"

namespace pmusim::test {
namespace {

using machine::Tasks;

struct AsText {
  std::string operator()(const trace::ProcessStart& r) const {
    return (r.exec ? "exec " : "process ") + task(r.pid, r.tid) + " " + r.command;
  }
  std::string operator()(const trace::ThreadStart& r) const {
    return "start " + task(r.pid, r.tid) + " of " + task(r.parent_pid, r.parent_tid);
  }
  std::string operator()(const trace::ThreadExit& r) const { return "exit " + task(r.pid, r.tid); }
  std::string operator()(const trace::ThreadSwitch& r) const { return "switch " + task(r.pid, r.tid); }
  std::string operator()(const trace::ThreadName& r) const {
    return "name " + task(r.pid, r.tid) + " " + r.name;
  }
  std::string operator()(const trace::Map& r) const {
    const trace::Mapping& m = r.mapping;
    std::ostringstream text;
    text << "map " << r.pid << std::hex << ' ' << m.start << '+' << m.bytes << " of " << m.file_offset << ' '
         << m.path << " prot " << m.protection << " flags " << m.flags;
    for (const u8& each : m.build_id) text << (&each == m.build_id.data() ? " id " : ",") << unsigned{each};
    return text.str();
  }
  std::string operator()(const auto&) const { return "another record"; }
  static std::string task(u32 pid, u32 tid) { return std::to_string(pid) + "/" + std::to_string(tid); }
};

using Texts = std::vector<std::string>;

Texts told(Tasks& tasks, const std::vector<Bytes>& records) {
  Texts texts;
  for (const Bytes& record : records) {
    const auto changes = tasks.changes(record);
    if (!changes.ok()) return {changes.error().message};
    for (const auto& change : *changes) texts.push_back(std::visit(AsText{}, change));
  }
  return texts;
}

struct Story {
  const char* name;
  std::vector<Bytes> told_before;  ///< COMM records of tasks that there are
  std::vector<Bytes> records;
  Texts expected;
};

const std::vector<Story> stories{
    {"a program from its fork to its end",
     {},
     {fork_of(100, 100, 1, 1), switch_in(100, 100), comm(100, 100, "sh", true), exit_of(100, 100),
      switch_in(1, 1)},
     {"start 100/100 of 1/1", "switch 100/100", "exec 100/100 sh", "switch 1/1", "exit 100/100"}},
    {"a task that was there before has its name",
     {comm(2, 2, "kthreadd")},
     {switch_in(2, 2), switch_in(1, 1), switch_in(2, 2)},
     {"start 2/2 of 1/1", "name 2/2 kthreadd", "switch 2/2", "switch 1/1", "switch 2/2"}},
    {"a task that nobody has told of has none", {}, {switch_in(3, 3)}, {"start 3/3 of 1/1", "switch 3/3"}},
    {"nobody to run is the idle task",
     {},
     {switch_in(0, 0), switch_in(1, 1), switch_in(0, 0)},
     {"start 4194304/4194304 of 1/1", "name 4194304/4194304 swapper/0", "switch 4194304/4194304",
      "switch 1/1", "switch 4194304/4194304"}},
    {"who leaves tells nothing, nor who runs already", {}, {switch_out(1, 1), switch_in(1, 1)}, {}},
    {"a thread of a process that nobody has told of",
     {},
     {fork_of(100, 101, 100, 100)},
     {"start 100/100 of 1/1", "start 100/101 of 100/100"}},
    {"what the idle task forks is the first task's", {}, {fork_of(50, 50, 0, 0)}, {"start 50/50 of 1/1"}},
    {"a fork that is told twice is one",
     {},
     {fork_of(5, 5, 1, 1), fork_of(5, 5, 1, 1)},
     {"start 5/5 of 1/1"}},
    {"a number that is given again is another task",
     {},
     {fork_of(5, 5, 1, 1), exit_of(5, 5), fork_of(5, 5, 1, 1)},
     {"start 5/5 of 1/1", "exit 5/5", "start 5/5 of 1/1"}},
    {"the end of a task that nobody has told of", {}, {exit_of(6, 6)}, {}},
    {"another name", {}, {comm(1, 1, "worker")}, {"name 1/1 worker"}},
    {"a program that executes takes its place at once",
     {},
     {fork_of(5, 5, 1, 1), comm(5, 5, "fifteen-letters", true)},
     {"start 5/5 of 1/1", "switch 5/5", "exec 5/5 fifteen-letters"}},
    {"a mapping by device and inode",
     {},
     {mmap2(1, "/usr/bin/busybox")},
     {"map 1 401000+2000 of 1000 /usr/bin/busybox prot 5 flags 2"}},
    {"a mapping by build ID",
     {},
     {mmap2_with_build_id(1, "/x", 20)},
     {"map 1 401000+2000 of 1000 /x prot 5 flags 2 id 1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,13,14"}},
    {"a short build ID",
     {},
     {mmap2_with_build_id(1, "/x", 3)},
     {"map 1 401000+2000 of 1000 /x prot 5 flags 2 id 1,2,3"}},
    {"a record of another kind", {}, {PerfRecord(9).quad(1).done()}, {}},
};

TEST(GuestTasks, BecomeRecordsOfTheTrace) {
  for (const Story& story : stories) {
    Tasks tasks;
    for (const Bytes& record : story.told_before) ASSERT_TRUE(tasks.know(record).ok()) << story.name;
    EXPECT_EQ(told(tasks, story.records), story.expected) << story.name;
    EXPECT_EQ(tasks.left_out(), 0u) << story.name;
    EXPECT_EQ(tasks.lost(), 0u) << story.name;
  }
}

TEST(GuestTasks, RecordsThatTheKernelLostAreCounted) {
  Tasks tasks;
  EXPECT_EQ(told(tasks, {lost(3), lost(4)}), Texts());
  EXPECT_EQ(tasks.lost(), 7u);
}

// PID_MAX_LIMIT is 4 * 1024 * 1024 where a word has 64 bits: the largest number is one less.
TEST(GuestTasks, TheLargestNumberOfLinuxIsATasks) {
  Tasks tasks;
  EXPECT_EQ(told(tasks, {fork_of(4194303, 4194303, 1, 1)}), Texts{"start 4194303/4194303 of 1/1"});
  EXPECT_EQ(tasks.left_out(), 0u);
}

TEST(GuestTasks, NumbersThatLinuxGivesToNoneAreLeftOut) {
  for (const u32 number : {u32{0}, u32{4194304}, u32{4194305}, ~u32{0}}) {
    Tasks tasks;
    const std::vector<Bytes> records{
        comm(number, number, "x"), comm(1, number, "x", true), fork_of(number, 5, 1, 1),
        fork_of(5, number, 1, 1),  fork_of(5, 5, number, 7),   exit_of(number, number),
        switch_in(number, 5),      switch_in(5, number),       mmap2(number, "/x"),
    };
    EXPECT_EQ(told(tasks, records), Texts()) << number;
    EXPECT_EQ(tasks.left_out(), records.size()) << number;
    EXPECT_TRUE(tasks.know(comm(number, number, "x")).ok());
    EXPECT_EQ(tasks.left_out(), records.size() + 1) << number;
  }
}

/// A mapping of number ~0 would be the kernel's.
TEST(GuestTasks, AMappingOfTheKernelIsNotTheGuestsToTell) {
  Tasks tasks;
  EXPECT_EQ(told(tasks, {mmap2(trace::kernel_pid, "/etc/passwd")}), Texts());
}

Bytes cut(Bytes record, std::size_t bytes) {
  record.resize(bytes);
  const auto size = static_cast<u16>(bytes);
  std::memcpy(record.data() + 6, &size, sizeof size);
  return record;
}

struct Shortest {
  const char* name;
  Bytes record;
  std::size_t bytes;  ///< that tell all that is asked of it
};

const std::vector<Shortest> shortest{
    {"COMM", comm(5, 5, ""), 8 + 2 * 4 + 1},
    {"FORK", fork_of(5, 5, 1, 1), 8 + 4 * 4 + 8},
    {"EXIT", exit_of(5, 5), 8 + 4 * 4 + 8},
    {"MMAP2", mmap2(5, ""), 8 + 2 * 4 + 3 * 8 + 24 + 2 * 4 + 1},
    {"SWITCH_CPU_WIDE", switch_in(5, 5), 8 + 2 * 4 + 2 * 4},
    {"LOST", lost(1), 8 + 2 * 8},
};

TEST(GuestTasks, ShortRecordsAreRefused) {
  for (const Shortest& kind : shortest) {
    Tasks whole;
    EXPECT_TRUE(whole.changes(cut(kind.record, kind.bytes)).ok()) << kind.name;
    for (std::size_t bytes = 8; bytes < kind.bytes; ++bytes) {
      Tasks tasks;
      const auto changes = tasks.changes(cut(kind.record, bytes));
      ASSERT_FALSE(changes.ok()) << kind.name << " of " << bytes;
      EXPECT_EQ(changes.error().message, std::string("a record ") + kind.name + " of " +
                                             std::to_string(bytes) + " bytes; expected " +
                                             std::to_string(kind.bytes) + " at least");
      EXPECT_EQ(tasks.lost() + tasks.left_out(), 0u);
    }
  }
}

TEST(GuestTasks, TextsHaveAnEndAndLinuxsLength) {
  Tasks tasks;
  EXPECT_EQ(
      told(tasks, {cut(comm(5, 5, "sh"), 18)}),
      Texts{"a record COMM of 18 bytes, in which its text does not end; expected a byte of 0 behind it"});
  EXPECT_EQ(told(tasks, {comm(5, 5, "sixteen--letters")}),
            Texts{"a record COMM of 48 bytes, with a text of 16 letters; expected 15 at most"});
  EXPECT_EQ(told(tasks, {mmap2(5, std::string(4096, 'a'))}),
            Texts{"a record MMAP2 of 4184 bytes, with a text of 4096 letters; expected 4095 at most"});
  EXPECT_EQ(told(tasks, {mmap2_with_build_id(5, "/x", 255)}).size(), 1u);  // a build ID has 20 bytes at most
}

TEST(GuestTasks, AreMadeKnownByNamesAlone) {
  Tasks tasks;
  const auto other = tasks.know(fork_of(5, 5, 1, 1));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "a record of kind 7; expected COMM, 3");
  const auto none = tasks.know({});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "a record COMM of 0 bytes; expected 17 at least");
}

}  // namespace
}  // namespace pmusim::test
