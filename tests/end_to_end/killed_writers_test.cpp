// SPDX-License-Identifier: MIT
// Whatever writes a file, and however it ends: under the file's name is what was there before, or the whole
// of what was to be written, and nothing else is left beside it.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "command.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test::killed_writers_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using Command = std::vector<std::string>;

/// What a writer reads.
struct Inputs {
  ScratchDirectory scratch;
  std::string trace = recorded("branches", {"4000"}), short_trace = recorded("branches", {"400"}),
              profile = scratch.file("perf.data"), champsim = scratch.file("champsim"),
              sweep = scratch.file("sweep.json"), results = scratch.file("results");

  Inputs() {
    std::ofstream(sweep) << R"({"traces": [")" << trace
                         << R"("], "models": ["icelake"], "events": {"a": "cycles,instructions"}})";
    for (const Command& command : {Command{"record", "-q", "-b", "-o", profile, trace},
                                   {"trace", "export", "-f", "champsim", "-o", champsim, trace},
                                   {"sweep", "--quiet", "-o", results, sweep}}) {
      Command whole{pmusim()};
      whole.insert(whole.end(), command.begin(), command.end());
      EXPECT_EQ(run(whole).status, 0) << command.front();
    }
  }
};

struct Writer {
  const char* name;
  Command (*command)(const Inputs& inputs, const std::string& output);
  bool writes_the_same = true;  ///< each time
  friend std::ostream& operator<<(std::ostream& out, const Writer& writer) { return out << writer.name; }
};

const std::vector<Writer> writers{
    {"record",
     [](const Inputs& in, const std::string& out) {
       return Command{"record", "-q", "-b", "-c", "997", "-o", out, in.trace};
     }},
    {"stat",
     [](const Inputs& in, const std::string& out) {
       return Command{"stat", "-e", "cycles,branches", "-o", out, in.trace};
     }},
    {"trace_record",
     [](const Inputs&, const std::string& out) {
       return Command{"trace", "record", "-o", out, "--", workload("branches"), "4000"};
     },
     false},
    {"trace_record_step",
     [](const Inputs&, const std::string& out) {
       return Command{"trace", "record", "--step", "--start-symbol",     "main",
                      "-o",    out,      "--",     workload("branches"), "4"};
     },
     false},
    {"trace_import",
     [](const Inputs& in, const std::string& out) {
       return Command{"trace", "import", "-f", "champsim", "-o", out, in.champsim};
     }},
    {"trace_export",
     [](const Inputs& in, const std::string& out) {
       return Command{"trace", "export", "-f", "lackey", "-o", out, in.trace};
     }},
    {"annotate",
     [](const Inputs& in, const std::string& out) {
       return Command{"annotate", "--html", out, "-i", in.profile};
     }},
    {"report",
     [](const Inputs& in, const std::string& out) {
       return Command{"report", "--html", out, "-i", in.profile};
     }},
    {"report_export",
     [](const Inputs& in, const std::string& out) {
       return Command{"report", "--export", "callgrind", "-o", out, "-i", in.profile};
     }},
    {"diff",
     [](const Inputs& in, const std::string& out) {
       return Command{"diff", "--html", out, in.profile, in.profile};
     }},
    {"why",
     [](const Inputs& in, const std::string& out) {
       return Command{"why", "-q", "--html", out, in.short_trace};
     }},
    {"trace_info",
     [](const Inputs& in, const std::string& out) {
       return Command{"trace", "info", "--html", out, in.trace};
     }},
    {"hardware_log",
     [](const Inputs& in, const std::string& out) {
       return Command{"stat", "-e", "cycles", "--hw-log", out, in.trace};
     }},
    {"hardware_timeline",
     [](const Inputs& in, const std::string& out) {
       return Command{"stat", "-e", "cycles", "--hw-timeline", out, in.trace};
     }},
    {"pebs_generate",
     [](const Inputs&, const std::string& out) {
       return Command{"pebs", "generate", "--format", "4", "--records", "10000", "-o", out};
     }},
    {"sweep",
     [](const Inputs& in, const std::string& out) {
       return Command{"sweep", "--quiet", "-o", in.results, "--sqlite", out, in.sweep};
     }},
};

class Writers : public testing::TestWithParam<Writer> {
 protected:
  static const Inputs& inputs() {
    static const Inputs all;
    return all;
  }
  std::string output() const { return scratch_.file("out"); }
  Command command() const {
    Command whole = GetParam().command(inputs(), output());
    whole.insert(whole.begin(), pmusim());
    return whole;
  }
  std::string line() const {
    std::string text;
    for (const std::string& word : command()) text += " '" + word + "'";
    return text;
  }
  void write_old() const {
    for (const auto& entry : fs::directory_iterator(scratch_.path())) fs::remove_all(entry.path());
    std::ofstream(output()) << "old";
  }
  bool is_old() const { return read_file(output()) == "old"; }
  bool is_whole(const std::string& file, const std::string& whole) const {
    if (GetParam().writes_the_same) return read_file(file) == whole;
    const auto reader = trace::Reader::open(file);
    return reader.ok();
  }
  /// Beside the file: `perf record` keeps the one before.
  void expect_no_others() const {
    for (const auto& entry : fs::directory_iterator(scratch_.path()))
      EXPECT_THAT(entry.path().filename().string(), AnyOf("out", "out.old"));
  }
  /// Linux cannot give a file without a name the name of another one: for a moment the new one has a name of
  /// its own.
  void expect_no_halves(const std::string& whole) const {
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      const std::string name = entry.path().filename().string();
      if (name == "out" || name == "out.old") continue;
      EXPECT_TRUE(name.ends_with(".partial") && is_whole(entry.path().string(), whole)) << name;
    }
  }

  ScratchDirectory scratch_;
};

/// 13 moments for each of sixteen: 208. PMUSIM_KILLS is how many times as many.
unsigned rounds() { return 13 * number_from("PMUSIM_KILLS", 1); }

/// The shortest of three runs, which leave the whole file: the first one may wait for the disk.
std::chrono::microseconds time_of(const Command& command) {
  using Clock = std::chrono::steady_clock;
  auto shortest = Clock::duration::max();
  for (int times = 0; times < 3; ++times) {
    const auto start = Clock::now();
    EXPECT_EQ(run(command).status, 0);
    shortest = std::min(shortest, Clock::now() - start);
  }
  return std::chrono::duration_cast<std::chrono::microseconds>(shortest);
}

TEST_P(Writers, ThatAreKilledLeaveTheOldFileOrTheNewOne) {
  write_old();
  const auto all = time_of(command());
  const std::string whole = read_file(output());
  std::mt19937 random(number_from("PMUSIM_SEED", 42));
  unsigned old = 0;
  for (unsigned round = 0; round < rounds(); ++round) {
    write_old();
    const Running writer(command());
    // Spread evenly from the start until after the end: the first is killed before it has done anything.
    const auto moment = all * 5 / 4 * round / rounds();
    const auto spread = static_cast<std::uint64_t>(all.count()) * 5 / 4 / rounds() + 1;
    if (round > 0) std::this_thread::sleep_for(moment + std::chrono::microseconds(random() % spread));
    writer.end_with(SIGKILL);
    if (is_old())
      ++old;
    else
      EXPECT_TRUE(is_whole(output(), whole)) << "round " << round;
    expect_no_halves(whole);
  }
  EXPECT_GT(old, 0u);
}

/// A limit on the size of files, with its signal ignored, fails like a full disk.
TEST_P(Writers, ThatFindTheDiskFullLeaveTheOldFile) {
  write_old();
  const Output output = run({"bash", "-c", "(trap '' XFSZ; ulimit -f 0; exec" + line() + " 2>&1) | cat"});
  EXPECT_THAT(output.out, HasSubstr("pmusim: ")) << output.err;
  EXPECT_TRUE(is_old());
  expect_no_others();
}

TEST_P(Writers, ThatMayNotWriteThereSaySo) {
  write_old();
  const std::string folder = scratch_.path().string();
  const bool root = ::geteuid() == 0;
  const std::string shut = "mount --bind " + folder + " " + folder + " && mount -o remount,bind,ro " + folder;
  if (root && run({"unshare", "-m", "sh", "-c", shut}).status != 0) GTEST_SKIP() << "nothing can be mounted";
  if (!root) fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  const Output output =
      root ? run({"unshare", "-m", "sh", "-c", shut + " && exec" + line()}) : run(command());
  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("out"));
  EXPECT_TRUE(is_old());
  expect_no_others();
}

// Of a sweep each finished job is a file.
TEST(KilledSweep, LeavesWholeResultsAndGoesOnWithTheOthers) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("sweep.json");
  std::ofstream(file) << R"({"traces": [")" << recorded("branches", {"400"})
                      << R"("], "models": ["icelake", "skylake"],
                            "events": {"a": "cycles", "b": "branches"}})";
  const auto sweep_into = [&](const std::string& folder) {
    return Command{pmusim(), "sweep", "--quiet", "-o", scratch.file(folder), file};
  };
  const auto results_in = [&](const std::string& folder) {
    std::map<std::string, std::string> results;
    for (const auto& entry : fs::directory_iterator(scratch.file(folder)))
      results[entry.path().filename().string()] = read_file(entry.path().string());
    return results;
  };
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run(sweep_into("whole")).status, 0);
  const auto all =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  const auto whole = results_in("whole");
  std::mt19937 random(number_from("PMUSIM_SEED", 42));
  for (unsigned round = 0; round < rounds(); ++round) {
    fs::remove_all(scratch.file("killed"));
    fs::create_directory(scratch.file("killed"));
    const Running sweep(sweep_into("killed"));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(all.count())));
    sweep.end_with(SIGKILL);
    for (const auto& [name, result] : results_in("killed")) EXPECT_EQ(result, whole.at(name)) << round;
    EXPECT_EQ(run(sweep_into("killed")).status, 0);
    EXPECT_EQ(results_in("killed"), whole) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Writers, testing::ValuesIn(writers),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace pmusim::test::killed_writers_test
