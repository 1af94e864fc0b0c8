// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Classifies a branch by its text alone: independent of how the trace and `info` see it.
bool is_branch_text(const std::string& text) {
  const std::string mnemonic = text.substr(0, text.find(' '));
  return mnemonic.starts_with("j") || mnemonic.starts_with("loop") || mnemonic == "call" ||
         mnemonic == "ret" || mnemonic == "syscall";
}

TEST(TraceCommand, InfoCountsWhatDumpPrints) {
  const std::string trace = recorded("branches", {"27"});
  std::map<std::string, std::uint64_t> kinds;
  std::uint64_t instructions = 0, branches = 0, taken = 0, loads = 0, calls = 0;
  for (const std::string& line : lines(run({pmusim(), "trace", "dump", "--json", trace}).out)) {
    const Json json = parse_json(line);
    if (json.contains("record")) {
      calls += json["record"] == "system call" ? 1 : 0;
      continue;
    }
    EXPECT_EQ(json["ordinal"], instructions);
    ++instructions;
    EXPECT_EQ(json.contains("branch"), is_branch_text(json["text"])) << line;
    if (json.contains("branch")) {
      ++branches;
      ++kinds[json["branch"]];
      taken += json["taken"] == true ? 1 : 0;
    }
    bool is_load = false;
    for (const Json& access : json.value("memory", Json::array()))
      is_load = is_load || access["access"] != "store";
    loads += is_load ? 1 : 0;
  }
  const Json info = parse_json(run({pmusim(), "trace", "info", "--json", trace}).out);
  EXPECT_GT(instructions, 50'000u);
  EXPECT_EQ(info["instructions"], instructions);
  EXPECT_EQ(info["branches"], branches);
  EXPECT_EQ(info["taken_branches"], taken);
  EXPECT_EQ(info["loads"], loads);
  EXPECT_EQ(info["system_calls"], calls);
  for (const auto& [kind, count] : kinds) EXPECT_EQ(info["branch_kinds"][kind]["executed"], count) << kind;
  EXPECT_EQ(kinds["system call"], calls);
}

TEST(TraceCommand, InfoShowsMixThreadsAndFootprint) {
  const std::string trace = recorded("branches", {"27"});
  std::uint64_t multiplications = 0;
  std::set<std::uint64_t> lines_of_code;
  std::map<std::uint64_t, std::uint64_t> by_thread;
  for (const std::string& line : lines(run({pmusim(), "trace", "dump", "--json", trace}).out)) {
    const Json json = parse_json(line);
    if (json.contains("record")) continue;
    const std::string text = json["text"], code = json["code"];
    multiplications += text.starts_with("imul ") || text.starts_with("mul ") ? 1 : 0;
    const std::uint64_t first = std::stoull(std::string(json["ip"]), nullptr, 16);
    for (std::uint64_t byte = first; byte < first + code.size() / 2; ++byte) lines_of_code.insert(byte / 64);
    ++by_thread[json["tid"]];
  }
  const Json info = parse_json(run({pmusim(), "trace", "info", "--json", trace}).out);
  std::uint64_t mix = 0;
  for (const auto& [name, count] : info["mix"].items()) mix += count.get<std::uint64_t>();
  EXPECT_EQ(info["mix"]["branch"], info["branches"]);
  EXPECT_EQ(mix, info["instructions"]);
  EXPECT_GT(multiplications, 0u);
  EXPECT_EQ(info["mix"]["integer multiplication"], multiplications);
  EXPECT_EQ(info["code_lines"], lines_of_code.size());
  ASSERT_EQ(info["threads_that_ran"].size(), 1u);
  const Json& thread = info["threads_that_ran"][0];
  EXPECT_EQ(thread["instructions"], by_thread[thread["tid"]]);
}

TEST(TraceCommand, InfoAsAPageSaysWhatInfoSaysWithoutAScript) {
  ScratchDirectory directory;
  const std::string trace = recorded("branches", {"200"}), page = directory.file("info.html");
  const Output printed = run({pmusim(), "trace", "info", "--html", page, trace});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.out, "");
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json info = parse_json(run({pmusim(), "trace", "info", "--json", trace}).out);
  const auto digits = [](const Json& number) {
    return fmt::format("{}", fmt::group_digits(number.get<std::uint64_t>()));
  };
  EXPECT_THAT(text, testing::AllOf(testing::StartsWith("<!DOCTYPE html>"), testing::EndsWith("</html>\n"),
                                   testing::Not(HasSubstr("<script"))));
  for (const char* figure :
       {"instructions", "file_bytes", "loads", "stores", "distinct_instructions", "code_pages"})
    EXPECT_THAT(text, HasSubstr(">" + digits(info[figure]) + "<")) << figure;
  for (const auto& [name, stream] : info["streams"].items())
    EXPECT_THAT(
        text, HasSubstr(fmt::format(
                  "<td class=\"wide\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>", name,
                  digits(stream["raw_bytes"]), digits(stream["stored_bytes"]))));
  for (const Json& module : info["modules"]) EXPECT_THAT(text, HasSubstr(module["path"].get<std::string>()));
  EXPECT_THAT(text, HasSubstr(digits(info["threads_that_ran"][0]["instructions"])));

  const Output refused = run({pmusim(), "trace", "info", "--html", trace, trace});
  EXPECT_EQ(refused.status, 2);
}

TEST(TraceCommand, DumpFromTheMiddleIsTheTailOfTheWhole) {
  const std::string trace = recorded("branches", {"27"});
  const auto whole = lines(run({pmusim(), "trace", "dump", trace}).out);
  for (const std::string from : {"1", "5000", "60001"}) {
    const auto tail = lines(run({pmusim(), "trace", "dump", "--from", from, trace}).out);
    ASSERT_GT(tail.size(), 1000u);
    ASSERT_GT(whole.size(), tail.size());
    EXPECT_TRUE(std::equal(tail.rbegin(), tail.rend(), whole.rbegin())) << from;
    EXPECT_THAT(tail.front(), HasSubstr(" " + from + " "));
  }
}

TEST(TraceCommand, AReplayFromTheMiddleCountsTheRest) {
  const std::string trace = recorded("branches", {"27"});
  const auto instructions = [&](const std::string& from) {
    return parse_json(run({pmusim(), "stat", "--json", "-e", "instructions:u", "--from", from, trace})
                          .out)["events"][0]["value"]
        .get<std::uint64_t>();
  };
  const std::uint64_t all = instructions("0"), rest = instructions("50000");
  EXPECT_EQ(all, parse_json(run({pmusim(), "trace", "info", "--json", trace}).out)["instructions"]);
  EXPECT_GE(rest, all - 50000);
  EXPECT_LT(rest, all - 50000 + 256) << "the block that holds it";
}

TEST(TraceCommand, AProfileFromTheMiddleNamesFunctions) {
  ScratchDirectory directory;
  const std::string trace = recorded("branches", {"2000"}), profile = directory.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "--from", "50000", "-c", "997", "-o", profile, trace}).status, 0);
  EXPECT_THAT(perf_output({"script", "-F", "comm,ip,sym"}, profile),
              testing::AllOf(HasSubstr("lfsr"), HasSubstr("_dl_relocate_object")));
}

/// A profile that does not tell how many threads its command was given.
std::string without_jobs(std::string profile) {
  const auto option = profile.find("--jobs");
  const auto value = profile.find_first_of("124", option);
  if (option != std::string::npos && value != std::string::npos) profile[value] = '0';
  return profile;
}

TEST(TraceCommand, AReplayIsTheSameOnOneThreadAndOnTwo) {
  ScratchDirectory directory;
  const std::string trace = recorded("branches", {"200"});
  std::ifstream input(trace, std::ios::binary);
  std::string part{std::istreambuf_iterator<char>(input), {}};
  part[part.size() / 2] = static_cast<char>(part[part.size() / 2] ^ 0x10);
  std::ofstream(directory.file("damaged"), std::ios::binary) << part;
  for (const std::string& file : {trace, directory.file("damaged")}) {
    std::vector<Output> outputs;
    for (const std::string jobs : {"1", "2", "4"}) {
      std::filesystem::remove(directory.file("perf.data"));
      outputs.push_back(run({pmusim(), "record", "-b", "--jobs", jobs, "-c", "997", "-o",
                             directory.file("perf.data"), "--from", "100", file}));
      std::ifstream profile(directory.file("perf.data"), std::ios::binary);
      outputs.back().out = without_jobs({std::istreambuf_iterator<char>(profile), {}});
      EXPECT_EQ(outputs.back().out, outputs.front().out) << file << " --jobs " << jobs;
      EXPECT_EQ(outputs.back().err, outputs.front().err);
      EXPECT_EQ(outputs.back().status, file == trace ? 0 : 2);
    }
  }
}

TEST(TraceCommand, CountsAreTheSameOnOneThreadAndOnMore) {
  const std::string trace = recorded("mispredict", {"512", "2"});
  for (const std::string core : {"interval", "memory", "simple", "flat"})
    for (const std::string events : {"cycles,instructions,branches,branch-misses",
                                     "L1-dcache-load-misses,cycles", "{ref-cycles,instructions}"}) {
      std::vector<Output> outputs;
      for (const std::string jobs : {"1", "2", "4"})
        outputs.push_back(
            run({pmusim(), "stat", "-x,", "--core", core, "--jobs", jobs, "-e", events, trace}));
      EXPECT_NE(outputs.front().err, "");
      for (const Output& output : outputs) {
        EXPECT_EQ(output.err, outputs.front().err) << core << " " << events;
        EXPECT_EQ(output.status, outputs.front().status);
      }
    }
}

TEST(TraceCommand, ABeginningThatTheTraceDoesNotHaveIsRefused) {
  const std::string trace = recorded("branches", {"27"});
  for (const std::string command : {"stat", "record"}) {
    const Output output = run({pmusim(), command, "--from", "99999999", trace});
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err, HasSubstr(trace + ": cannot begin at instruction 99999999: it has "));
  }
  const Output live = run({pmusim(), "stat", "--from", "5", "--", "true"});
  EXPECT_EQ(live.status, 2);
  EXPECT_THAT(live.err, HasSubstr("'pmusim trace record --skip N' begins a recording N instructions later"));
}

TEST(TraceCommand, DumpPrintsTheInstructionsAskedFor) {
  const std::string trace = recorded("branches", {"27"});
  const auto some = lines(run({pmusim(), "trace", "dump", "--from", "100", "--count", "3", trace}).out);
  ASSERT_EQ(some.size(), 3u);
  EXPECT_THAT(some[0], HasSubstr("       100 "));
}

TEST(TraceCommand, RecordSucceedsAndReportsTheProgramsStatus) {
  ScratchDirectory directory;
  const Output output = run({pmusim(), "trace", "record", "-o", directory.file("t"), "--", "false"});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr("instructions of 1 thread in 1 process to " + directory.file("t")));
  EXPECT_THAT(output.err, HasSubstr("the program exited with status 1"));
}

TEST(TraceCommand, RecordSaysNothingWhereItIsToBeQuiet) {
  const ScratchDirectory directory;
  for (const char* how : {"--step", "--fast"}) {
    const Output output =
        run({pmusim(), "trace", "record", "-q", how, "-o", directory.file("t"), "--", "true"});
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.out + output.err, "");
    EXPECT_EQ(run({pmusim(), "trace", "info", directory.file("t")}).status, 0);
  }
}

TEST(TraceCommand, RecordIsFastWhereNothingAsksForSingleSteps) {
  ScratchDirectory directory;
  const auto recorder = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{
        pmusim(), "trace", "record", "-o", directory.file("t"), "--max-instructions", "1000"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", workload("branches"), "1"});
    return run(command).err;
  };
  EXPECT_THAT(recorder({}), HasSubstr("recorded under qemu: no registers"));
  EXPECT_THAT(recorder({"--fast", "--no-addresses"}), HasSubstr("recorded under qemu: no registers"));
  EXPECT_THAT(recorder({"--step"}), HasSubstr("recorded by single steps"));
  EXPECT_THAT(recorder({"--regs", "gpr"}), HasSubstr("recorded by single steps"));
  EXPECT_THAT(recorder({"--fast", "--regs", "gpr"}), HasSubstr("--fast cannot record registers"));
  EXPECT_THAT(recorder({"--step", "--no-addresses"}), HasSubstr("--no-addresses is for the fast recorder"));
}

TEST(TraceCommand, RecordsByStepsAndSaysWhyWhereQemuIsNotInstalled) {
  ScratchDirectory directory;
  const Output output = run({"/usr/bin/env", "PATH=/nowhere", pmusim(), "trace", "record", "-o",
                             directory.file("t"), "--max-instructions", "1000", workload("branches"), "1"});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr("recorded by single steps, slowly: no qemu-x86_64 in PATH: install it"));
}

TEST(TraceCommand, OptionsBehindTheProgramAreItsOwn) {
  ScratchDirectory directory;
  const Output output =
      run({pmusim(), "trace", "record", "-o", directory.file("t"), "echo", "-o", "--regs", "stat"});
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.out, "-o --regs stat\n");
}

TEST(TraceCommand, WhatCannotBeUsedEndsWithASentenceAndStatus2) {
  ScratchDirectory directory;
  const Output missing =
      run({pmusim(), "trace", "record", "-o", directory.file("t"), "--", "/no-such-program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.err, "pmusim: /no-such-program: cannot be started: No such file or directory\n");
  EXPECT_FALSE(std::filesystem::exists(directory.file("t")));
  const Output none = run({pmusim(), "trace", "info", directory.file("t")});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "pmusim: " + directory.file("t") + ": cannot read: No such file or directory\n");
  const Output no_trace = run({pmusim(), "trace", "dump", pmusim()});
  EXPECT_EQ(no_trace.status, 2);
  EXPECT_THAT(no_trace.err, HasSubstr("not a trace: it does not begin with \"PMUTRACE\""));
}

}  // namespace
}  // namespace pmusim::test
