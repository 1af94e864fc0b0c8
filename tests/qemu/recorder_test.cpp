// SPDX-License-Identifier: MIT
// The fast recorder on real programs, against the one that steps.
#include "pmusim/qemu/recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <map>

#include "tests/trace/sample_trace.h"
#include "tests/trace/symbols.h"

namespace pmusim::qemu {
namespace {

using trace::OwnedItem;

const std::string programs = TEST_PROGRAMS "/";
const std::string workloads = WORKLOADS "/";

/// A program under the fast recorder.
class Recorded {
 public:
  explicit Recorded(const std::vector<std::string>& command, u64 max_instructions = 0,
                    const trace::Region& region = {}) {
    const auto qemu = find_installation();
    const Installation installation{qemu.ok() ? qemu->qemu : "/usr/bin/qemu-x86_64", QEMU_PLUGIN};
    const auto result =
        record(installation, command,
               {.output = directory_.file("t"), .max_instructions = max_instructions, .region = region});
    if (!result.ok()) {
      error = result.error().message;
      return;
    }
    summary = *result;
    items = *trace::read_all(directory_.file("t"));
  }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const OwnedItem& item : items)
      if (item.side_band && std::holds_alternative<T>(*item.side_band))
        result.push_back(std::get<T>(*item.side_band));
    return result;
  }

  FastRecordingSummary summary;
  std::vector<OwnedItem> items;
  std::string error;

 private:
  trace::TemporaryDirectory directory_;
};

/// Where a program's own code lies.
struct Range {
  u64 start = 0, end = 0;
  bool has(u64 address) const { return address >= start && address < end; }
};

Range code_of(const std::vector<OwnedItem>& items, const std::string& path) {
  for (const OwnedItem& item : items) {
    const auto* const map = item.side_band ? std::get_if<trace::Map>(&*item.side_band) : nullptr;
    if (map != nullptr && map->mapping.path == path && (map->mapping.protection & PROT_EXEC) != 0)
      return {map->mapping.start, map->mapping.start + map->mapping.bytes};
  }
  return {};
}

/// Start and end of every run of the program's own code from `main` on: library code chooses its routines by
/// the CPU, and qemu's is another.
std::vector<std::pair<u64, u64>> own_code(const std::vector<OwnedItem>& items, Range own, u64 main) {
  std::vector<std::pair<u64, u64>> runs;
  bool begun = false;
  for (const OwnedItem& item : items) {
    begun = begun || item.start == main;
    if (!begun || item.side_band || !own.has(item.start)) continue;
    const u64 end = item.start + item.code.size();
    if (!runs.empty() && runs.back().second == item.start)
      runs.back().second = end;  // one straight line, wherever it was cut
    else
      runs.emplace_back(item.start, end);
  }
  return runs;
}

TEST(FastRecorder, AgreesWithTheSteppingOneInTheProgramsOwnCode) {
  const std::vector<std::string> command{workloads + "branches", "20"};
  trace::TemporaryDirectory directory;
  ASSERT_TRUE(trace::record(command, {directory.file("t")}).ok());
  const Recorded fast(command);
  const u64 main = trace::symbol_address(workloads + "branches", "main");
  const Range own = code_of(fast.items, command.front());
  const auto runs = own_code(fast.items, own, main);
  EXPECT_GT(runs.size(), 150u);
  EXPECT_EQ(runs, own_code(*trace::read_all(directory.file("t")), own, main));
}

TEST(FastRecorder, MapsTheProgramAsTheKernelDoes) {
  const std::vector<std::string> command{workloads + "branches", "1"};
  trace::TemporaryDirectory directory;
  ASSERT_TRUE(trace::record(command, {directory.file("t")}).ok());
  const Recorded fast(command);
  const auto executable = [&](const std::vector<OwnedItem>& items) {
    std::vector<trace::Mapping> maps;
    for (const OwnedItem& item : items) {
      const auto* const map = item.side_band ? std::get_if<trace::Map>(&*item.side_band) : nullptr;
      if (map != nullptr && map->mapping.path == command.front() &&
          (map->mapping.protection & PROT_EXEC) != 0)
        maps.push_back(map->mapping);
    }
    return maps;
  };
  EXPECT_EQ(executable(fast.items), executable(*trace::read_all(directory.file("t"))));
  EXPECT_EQ(executable(fast.items).size(), 1u);
}

TEST(FastRecorder, CountsTheIterationsOfRepInstructions) {
  const Recorded recorded({programs + "instructions"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.trace.status), 0);
  std::vector<u32> counts;
  const u64 repeat = trace::symbol_address(programs + "instructions", "repeat");
  for (const OwnedItem& item : recorded.items)
    if (item.start >= repeat && item.start < repeat + 64)
      counts.insert(counts.end(), item.rep_counts.begin(), item.rep_counts.end());
  EXPECT_THAT(counts, testing::ElementsAre(100u, 0u));
}

TEST(FastRecorder, FollowsThreads) {
  const Recorded recorded({programs + "threads"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.trace.status), 100);
  EXPECT_EQ(recorded.summary.trace.threads, 3u);
  EXPECT_EQ(recorded.all<trace::ThreadExit>().size(), 3u);
}

TEST(FastRecorder, KeepsWhatACrashingProgramExecutedLast) {
  const Recorded recorded({programs + "crash"});
  EXPECT_EQ(recorded.error, "");
  ASSERT_TRUE(WIFSIGNALED(recorded.summary.trace.status));
  EXPECT_EQ(WTERMSIG(recorded.summary.trace.status), SIGSEGV);
  const u64 work = trace::symbol_address(programs + "crash", "work");
  EXPECT_EQ(std::ranges::count(recorded.items, work, &OwnedItem::start), 700);
}

TEST(FastRecorder, KeepsWhatWasExecutedWhenItIsKilled) {
  const Recorded recorded({"/bin/sh", "-c", "while :; do :; done"}, 200'000);
  EXPECT_EQ(recorded.error, "");
  EXPECT_TRUE(recorded.summary.trace.stopped_early);
  EXPECT_GE(recorded.summary.trace.instructions, 200'000u);
}

TEST(FastRecorder, WhatRunsBehindTheRegionRunsAsItWould) {
  const std::string script =
      "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; sh -c 'exit 3'; exit $(($? + 4))";
  const Recorded recorded({"/bin/sh", "-c", script}, 0, {.count = 1000});
  EXPECT_EQ(recorded.error, "");
  EXPECT_FALSE(recorded.summary.trace.stopped_early);
  EXPECT_EQ(WEXITSTATUS(recorded.summary.trace.status), 7);
  EXPECT_EQ(recorded.summary.trace.processes, 1u);
  EXPECT_GE(recorded.summary.trace.instructions, 1000u);
  EXPECT_LT(recorded.summary.trace.instructions, 1100u);
}

TEST(FastRecorder, FollowsProgramsThatProgramsStart) {
  const Recorded recorded({"/bin/sh", "-c", "echo words | cat; exit 3"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.trace.status), 3);
  std::vector<std::string> commands;
  for (const auto& start : recorded.all<trace::ProcessStart>()) commands.push_back(start.command);
  EXPECT_THAT(commands, testing::IsSupersetOf({"cat"}));
  EXPECT_EQ(recorded.summary.unrecorded_programs, 0u);
}

TEST(FastRecorder, AChildHasItsParentsCodeWhenTheParentIsGone) {
  const Recorded recorded({programs + "orphans"});
  EXPECT_EQ(recorded.error, "");
  EXPECT_EQ(WEXITSTATUS(recorded.summary.trace.status), 7);
  EXPECT_EQ(recorded.summary.trace.processes, 41u);
}

/// Follows each thread of a trace: where control flow goes on must be what comes next.
class ControlFlow {
 public:
  explicit ControlFlow(const std::vector<OwnedItem>& items) {
    for (const OwnedItem& item : items) item.side_band ? take(*item.side_band) : take(item);
  }
  u64 deliveries = 0, returns = 0;
  std::string broken;  ///< the first place

 private:
  struct Thread {
    u64 next = 0;                  // 0: not known
    std::vector<u64> interrupted;  // by handlers that have not returned
  };
  void take(const OwnedItem& run) {
    Thread& thread = threads_[current_];
    if (thread.next != 0 && thread.next != run.start && broken.empty())
      broken = fmt::format("thread {} goes on at {:#x}, expected {:#x}", current_, run.start, thread.next);
    thread.next = run.next_ip;
  }
  void take(const trace::SideBandRecord& record) {
    if (const auto* change = std::get_if<trace::ThreadSwitch>(&record)) current_ = change->tid;
    if (const auto* start = std::get_if<trace::ProcessStart>(&record)) threads_[start->tid] = {};
    Thread& thread = threads_[current_];
    if (const auto* delivery = std::get_if<trace::SignalDelivery>(&record)) {
      ++deliveries;
      thread.interrupted.push_back(thread.next);
      thread.next = delivery->handler;
    }
    const auto* const call = std::get_if<trace::Syscall>(&record);
    if (call == nullptr || call->number != SYS_rt_sigreturn) return;
    ++returns;
    if (!thread.interrupted.empty()) thread.interrupted.pop_back();
  }
  std::map<u32, Thread> threads_;
  u32 current_ = 0;
};

class SignalKinds : public testing::TestWithParam<std::string> {};

TEST_P(SignalKinds, HaveEachADeliveryAndAReturn) {
  const Recorded recorded({programs + "signal_kinds", GetParam()});
  ASSERT_EQ(recorded.error, "");
  const auto handled = static_cast<u64>(WEXITSTATUS(recorded.summary.trace.status));
  const ControlFlow flow(recorded.items);
  EXPECT_GE(handled, GetParam() == "nested" ? 10u : 5u);
  EXPECT_EQ(flow.deliveries, handled);
  EXPECT_EQ(flow.returns, GetParam() == "escape" ? 0u : handled);
  EXPECT_EQ(flow.broken, "");
}

INSTANTIATE_TEST_SUITE_P(All, SignalKinds,
                         testing::Values("raise", "pipe", "itimer", "pause", "chld", "unblock", "nested",
                                         "escape", "division", "stack", "restart", "threads", "fork",
                                         "chain"),
                         [](const auto& kind) { return kind.param; });

TEST(FastRecorder, SaysThatAProgramCannotBeStarted) {
  EXPECT_THAT(Recorded({"/no/such/program"}).error, testing::HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace pmusim::qemu
