// SPDX-License-Identifier: MIT
// The recorder on real programs: those of examples/workloads and of tests/trace/programs.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>
#include <map>

#include "pmusim/trace/trace.h"
#include "tests/trace/programs.h"
#include "tests/trace/sample_trace.h"
#include "tests/trace/symbols.h"

namespace pmusim::trace::recorder_test {
namespace {

const std::string workloads = WORKLOADS "/";

/// A recorded program: its items in memory, and what there is to check of any trace.
class Recorded {
 public:
  explicit Recorded(const std::vector<std::string>& command,
                    RecordedRegisters registers = RecordedRegisters::none) {
    const auto result = record(command, {directory_.file("t"), registers});
    if (!result.ok()) {
      ADD_FAILURE() << result.error().message;
      return;
    }
    summary = *result;
    auto read = read_all(directory_.file("t"));
    if (!read.ok()) {
      ADD_FAILURE() << read.error().message;
      return;
    }
    items = *std::move(read);
    expect_connected();
  }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const OwnedItem& item : items) {
      if (item.side_band && std::holds_alternative<T>(*item.side_band))
        result.push_back(std::get<T>(*item.side_band));
    }
    return result;
  }

  RecordingSummary summary;
  std::vector<OwnedItem> items;

 private:
  // Every run begins where its thread went on: nothing is missing, nothing is counted twice.
  void expect_connected() const {
    EXPECT_EQ(summary.gaps, 0u);
    std::map<u32, u64> next;
    u32 tid = 0;
    for (const OwnedItem& item : items) {
      if (!item.side_band) {
        const auto expected = next.find(tid);
        if (expected != next.end()) {
          EXPECT_EQ(item.start, expected->second);
        }
        next[tid] = item.next_ip;
      } else if (const auto* to = std::get_if<ThreadSwitch>(&*item.side_band)) {
        tid = to->tid;
      } else if (const auto* signal = std::get_if<SignalDelivery>(&*item.side_band)) {
        next[tid] = signal->handler;
      }
    }
  }

  TemporaryDirectory directory_;
};

TEST(Recorder, ArgumentOfLfsrFollowsItsRecurrence) {
  const Recorded recorded({workloads + "branches", "27"}, RecordedRegisters::gpr);
  const u64 lfsr = symbol_address(workloads + "branches", "lfsr");
  std::vector<u64> arguments;
  for (const OwnedItem& item : recorded.items) {
    if (item.side_band || item.next_ip != lfsr) continue;
    arguments.push_back(item.registers.back()[Gpr::rdi]);
  }
  ASSERT_EQ(arguments.size(), 54u);  // twice per round
  EXPECT_EQ(arguments.front(), 0x9e3779b97f4a7c16u);
  for (std::size_t n = 1; n < arguments.size(); ++n) {
    const u64 s = arguments[n - 1];
    EXPECT_EQ(arguments[n], (s >> 1) ^ ((~(s & 1) + 1) & 0xd800000000000000)) << n;
  }
}

TEST(Recorder, NamesTheModulesWithTheirBuildIds) {
  const Recorded recorded({workloads + "branches", "1"});
  const PlacedSymbol code = find_symbol(workloads + "branches", "main");
  bool program = false, vdso = false;
  for (const Map& map : recorded.all<Map>()) {
    if ((map.mapping.protection & PROT_EXEC) == 0) continue;
    if (map.mapping.path == workloads + "branches") {
      const u64 into_mapping = code.address - map.mapping.start;
      program = into_mapping < map.mapping.bytes &&
                map.mapping.file_offset + into_mapping == code.file_offset &&
                map.mapping.build_id.size() == 20;
    }
    vdso = vdso || (map.mapping.path == "[vdso]" && map.mapping.build_id.size() == 20);
  }
  EXPECT_TRUE(program);
  EXPECT_TRUE(vdso);
}

TEST(Recorder, ThreadsTakeTurnsAndAreAllFollowed) {
  const Recorded recorded({programs + "threads"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.status), 100);
  EXPECT_EQ(recorded.summary.threads, 3u);
  EXPECT_EQ(recorded.summary.processes, 1u);
  EXPECT_EQ(recorded.all<ThreadStart>().size(), 2u);
  EXPECT_EQ(recorded.all<ThreadExit>().size(), 3u);
  // Each of them runs work(), which is entered by an indirect call.
  const u64 work = symbol_address(programs + "threads", "work");
  EXPECT_EQ(std::ranges::count(recorded.items, work, &OwnedItem::start), 2);
}

TEST(Recorder, AThreadThatWakesIsFollowedWhileAnotherSpins) {
  TemporaryDirectory directory;
  RecordingOptions options{directory.file("t")};
  options.max_instructions = 5'000'000;
  const auto summary = record({programs + "sleeper"}, options);
  ASSERT_TRUE(summary.ok());
  EXPECT_FALSE(summary->stopped_early) << "nobody told the one that spins";
  EXPECT_EQ(WEXITSTATUS(summary->status), 6);
}

TEST(Recorder, ForkAndExecAreFollowed) {
  const Recorded recorded({programs + "processes"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.status), 73);
  EXPECT_EQ(recorded.summary.processes, 3u);
  const auto starts = recorded.all<ProcessStart>();
  ASSERT_EQ(starts.size(), 2u);  // the first program, and the vforked child's
  EXPECT_EQ(starts[0].command, "processes");
  EXPECT_NE(starts[1].pid, starts[0].pid);
  std::vector<int> statuses;
  for (const ThreadExit& exit : recorded.all<ThreadExit>()) statuses.push_back(WEXITSTATUS(exit.status));
  EXPECT_EQ(statuses, (std::vector{7, 3, 73}));
  // main runs in the first program, and in the executed one; the forked child goes on inside it.
  const u64 main = symbol_address(programs + "processes", "main");
  EXPECT_EQ(std::ranges::count(recorded.items, main, &OwnedItem::start), 2);
}

TEST(Recorder, SignalsReachTheirHandlersWithoutABranch) {
  const Recorded recorded({programs + "signals"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.status), 4);
  const u64 count = symbol_address(programs + "signals", "count");
  const u64 escape = symbol_address(programs + "signals", "escape");
  std::vector<std::pair<u32, u64>> deliveries;
  for (const auto& s : recorded.all<SignalDelivery>()) deliveries.emplace_back(s.signal, s.handler);
  EXPECT_EQ(deliveries, (std::vector<std::pair<u32, u64>>{
                            {SIGUSR1, count}, {SIGSEGV, escape}, {SIGTRAP, count}, {SIGALRM, count}}));
  constexpr u64 pause_call = 34;
  const auto calls = recorded.all<Syscall>();
  const auto paused = std::ranges::find(calls, pause_call, &Syscall::number);
  ASSERT_NE(paused, calls.end());
  EXPECT_EQ(paused->result, -EINTR);
}

TEST(Recorder, InstructionsRetireAsOnHardware) {
  const Recorded recorded({programs + "instructions"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.status), 0);  // the trap flag stays hidden
  const u64 repeat = symbol_address(programs + "instructions", "repeat");
  std::vector<u32> counts;
  std::vector<std::byte> loaded;  // the constant of each version of the code written at run time
  for (const OwnedItem& item : recorded.items) {
    if (item.start == repeat) counts.push_back(item.rep_counts.at(0));
    if (item.code.size() == 6 && item.code[4] == std::byte{0x5A}) loaded.push_back(item.code[1]);
  }
  EXPECT_EQ(counts, (std::vector<u32>{100, 0}));
  EXPECT_EQ(loaded, (std::vector{std::byte{1}, std::byte{2}, std::byte{3}}));
}

TEST(Recorder, ASignalBetweenIterationsOfARepLeavesNoGap) {
  const Recorded recorded({programs + "interrupted"});
  EXPECT_EQ(WEXITSTATUS(recorded.summary.status), 0);
  const u64 repeat = symbol_address(programs + "interrupted", "repeated");
  // What was interrupted retires when the handler has returned.
  EXPECT_NE(std::ranges::find(recorded.items, repeat, &OwnedItem::start), recorded.items.end());
}

TEST(Recorder, TheSameProgramTakesTheSameWay) {
  const auto flow = [] {
    std::vector<std::pair<u64, u64>> runs;
    for (const OwnedItem& item : Recorded({workloads + "branches", "3"}).items) {
      if (!item.side_band) runs.emplace_back(item.start, item.next_ip);
    }
    return runs;
  };
  EXPECT_EQ(flow(), flow());
}

TEST(Recorder, StopsAtALimitAndKeepsWhatItHas) {
  TemporaryDirectory directory;
  RecordingOptions options{directory.file("t")};
  options.max_instructions = 1000;
  const auto summary = record({workloads + "branches", "1000000"}, options);
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->stopped_early);
  EXPECT_EQ(summary->instructions, 1000u);
  EXPECT_EQ(Reader::open(options.output)->instruction_count(), 1000u);
}

TEST(Recorder, KeepsWhatItHasWhenStopped) {
  TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  RecordingOptions options{directory.file("t")};
  options.stop = &stop;
  options.progress = [&](u64) { stop = true; };
  const auto summary = record({workloads + "branches", "1000000"}, options);
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->stopped_early);
  EXPECT_GT(summary->instructions, 0u);
  EXPECT_EQ(Reader::open(options.output)->instruction_count(), summary->instructions);
}

// A wake-up across CPUs costs more than a step.
TEST(Recorder, KeepsItselfAndTheProgramOnOneCpuAsLongAsItRecords) {
  const auto cpus = [] {
    cpu_set_t set{};
    ::sched_getaffinity(0, sizeof set, &set);
    return CPU_COUNT(&set);
  };
  const int before = cpus();
  TemporaryDirectory directory;
  RecordingOptions options{directory.file("t")};
  options.max_instructions = 1 << 15;
  int meanwhile = 0;
  options.progress = [&](u64) { meanwhile = cpus(); };
  ASSERT_TRUE(record({workloads + "branches", "1000000"}, options).ok());
  EXPECT_EQ(meanwhile, 1);
  EXPECT_EQ(cpus(), before);
}

TEST(Recorder, AMissingProgramLeavesNoFile) {
  TemporaryDirectory directory;
  const auto summary = record({"/no-such-program"}, {directory.file("t")});
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().message, "/no-such-program: cannot be started: No such file or directory");
  EXPECT_EQ(directory.entries(), 0u);
}

TEST(Recorder, RefusesAnUnwritableOutputBeforeTheProgramRuns) {
  TemporaryDirectory directory;
  const auto summary = record({"touch", directory.file("ran")}, {directory.file("missing/t")});
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(directory.entries(), 0u);
}

}  // namespace
}  // namespace pmusim::trace::recorder_test
