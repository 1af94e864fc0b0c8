// SPDX-License-Identifier: MIT
// Inputs made to harm: names that a terminal acts on, JSON that overflows stacks, pipes in place of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "command.h"
#include "pmusim/trace/trace.h"
#include "tests/perfdata/file_fixture.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile_name = "evil\x1b[2J\x1b]0;pwn\a\n  99.99%  forged";

using Arguments = std::vector<std::string>;

/// Nothing that a terminal acts on but ends of lines and tabs.
MATCHER(IsFitForATerminal, "") {
  return std::ranges::none_of(arg, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
}

class Hostile : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return scratch_.file(name); }
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string pipe(const std::string& name) const {
    fs::remove(file(name));
    EXPECT_EQ(mkfifo(file(name).c_str(), 0600), 0);
    return file(name);
  }
  Output sweep(const std::string& path, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"timeout", "60", pmusim(), "sweep", path, "-o", file("results")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  }

  /// A perf.data in which program, file and event are called `name`.
  std::string profile(const std::string& name) const {
    perf::Event event = perfdata::sampled_event();
    auto writer = perfdata::Writer::create(file("perf.data"), {});
    EXPECT_TRUE(writer->add_event(event.attr, name, {&event.id, 1}));
    EXPECT_TRUE(writer->write(perf::encode_record(perf::CommRecord{1, 1, name, 0}, event, {1, 1, 0, 1})));
    const std::string path = "/tmp/" + name;
    const perf::Mmap2Record mapping{
        .pid = 1, .tid = 1, .address = 0x1000, .length = 0x1000, .protection = 5, .name = path};
    EXPECT_TRUE(writer->write(perf::encode_record(mapping, event, {1, 1, 0, 2})));
    struct {
      perf::RecordHeader header{9, perf::misc::USER, sizeof(*this)};
      u64 id = 7, ip = 0x1010;
      u32 pid = 1, tid = 1;
      u64 time = 3, entries = 1;
      perf::BranchEntry branch{.from = 0x1010, .to = 0x1000};
    } sample;
    EXPECT_TRUE(writer->write(std::as_bytes(std::span(&sample, 1))));
    EXPECT_TRUE(writer->finish());
    return file("perf.data");
  }

  /// A trace in which program and file are called `name`, and which is called so itself.
  std::string trace(const std::string& name, trace::Contents contents = {.addresses = true}) const {
    constexpr u8 loop[] = {0x48, 0x8B, 0x04, 0xCE, 0x75, 0xFA}, call[] = {0x0F, 0x05};
    constexpr u8 loop_lengths[] = {4, 2}, call_lengths[] = {2};
    const std::string path = file(name);
    auto writer = trace::Writer::create(path, contents);
    EXPECT_TRUE(writer.ok());
    const auto tell = [&](const trace::SideBandRecord& record) {
      EXPECT_TRUE(writer->side_band(record).ok());
    };
    tell(trace::ProcessStart{1, 1, name.substr(0, 15), true});
    tell(trace::Map{1, {0x400000, 0x1000, 0, 5, 2, "/tmp/" + name, {}}});
    tell(trace::ThreadSwitch{1, 1});
    const trace::Block& body = writer->add_block(0x400100, std::as_bytes(std::span(loop)), loop_lengths);
    const trace::Block& end = writer->add_block(body.end(), std::as_bytes(std::span(call)), call_lengths);
    constexpr u64 rounds = 1000;
    for (u64 round = 1; round <= rounds; ++round) {
      const u64 address = 0x600000 + 8 * round;
      const u64 next = round == rounds ? body.end() : body.start();
      EXPECT_TRUE(writer->run({.block = &body, .next_ip = next, .addresses = {&address, 1}}).ok());
    }
    EXPECT_TRUE(writer->run({.block = &end, .next_ip = end.end()}).ok());
    EXPECT_TRUE(writer->finish().ok());
    return path;
  }

  static Output pmusim_with(const Arguments& command, const Arguments& last = {}) {
    Arguments all{pmusim()};
    all.insert(all.end(), command.begin(), command.end());
    all.insert(all.end(), last.begin(), last.end());
    return run(all);
  }

 private:
  ScratchDirectory scratch_;
};

// --- names

TEST_F(Hostile, NamesOfAProfileAreShownAsBytes) {
  const std::string input = profile(hostile_name);
  for (const Arguments& command : {Arguments{"script", "-F", "+brstack"},
                                   {"report", "--sort", "symbol,module,line,branch"},
                                   {"report", "--header", "--sort", "comm,pid"},
                                   {"annotate"}}) {
    const Output output = pmusim_with(command, {"-i", input});
    EXPECT_EQ(output.status, 0) << command[0];
    EXPECT_THAT(output.out + output.err,
                AllOf(IsFitForATerminal(), HasSubstr("evil\\x1b[2J\\x1b]0;pwn\\x07")))
        << command[0];
    EXPECT_THAT(output.out + output.err, Not(HasSubstr("\n  99.99%"))) << command[0];
  }
}

TEST_F(Hostile, NamesOfATraceAreShownAsBytes) {
  const std::string input = trace(hostile_name), out = file("out");
  for (const Arguments& command : {Arguments{"trace", "info"},
                                   {"trace", "dump"},
                                   {"trace", "export", "-f", "insn-trace", "-o", out},
                                   {"stat"},
                                   {"stat", "-x,", "--per-thread"},
                                   {"record", "-v", "-c", "100", "-o", out},
                                   {"why"},
                                   {"mem", "report"},
                                   {"diff", "--models", "icelake,skylake"}}) {
    const Output output = pmusim_with(command, {input});
    EXPECT_EQ(output.status, 0) << command[0] << ": " << output.err;
    EXPECT_THAT(output.out + output.err, AllOf(IsFitForATerminal(), Not(HasSubstr("\n  99.99%"))))
        << command[0] << ' ' << command[1];
  }
  EXPECT_THAT(pmusim_with({"trace", "info"}, {input}).out, HasSubstr("evil\\x1b[2J"));
}

TEST_F(Hostile, NamesOfBothSidesOfAComparisonAreShownAsBytes) {
  const std::string input = profile(hostile_name);
  const Output output = pmusim_with({"diff", input, input});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out + output.err, AllOf(IsFitForATerminal(), HasSubstr("evil\\x1b[2J")));
}

TEST_F(Hostile, NamesGivenToEventsAreShownAsBytes) {
  const std::string input = trace("T"), event = "cycles/name=evil\x1b[2J/u";
  for (const Arguments& command : {Arguments{"stat", "-v", "-e", event},
                                   {"record", "-v", "-c", "100", "-o", file("out"), "-e", event}}) {
    const Output output = pmusim_with(command, {input});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out + output.err, AllOf(IsFitForATerminal(), HasSubstr("evil\\x1b[2J"))) << command[0];
  }
}

TEST_F(Hostile, NamesInExportsEndNoLine) {
  const std::string input = profile(hostile_name);
  for (const char* const format : {"collapsed", "callgrind"}) {
    const Output output = pmusim_with({"report", "--export", format, "-i", input});
    EXPECT_EQ(output.status, 0) << format << output.err;
    EXPECT_THAT(output.out, AllOf(IsFitForATerminal(), Not(HasSubstr("\n  99.99%")))) << format;
  }
}

TEST_F(Hostile, JsonKeepsNamesAsTheyAre) {
  const std::string input = profile(hostile_name);
  const auto samples = parse_json(run({pmusim(), "script", "--json", "-i", input}).out);
  EXPECT_EQ(samples.at(0).at("event"), hostile_name);
  const auto report = parse_json(run({pmusim(), "report", "--json", "-i", input}).out);
  EXPECT_EQ(report.at("events").at(0).at("name"), hostile_name);
  const auto change = parse_json(run({pmusim(), "diff", "--json", input, input}).out);
  EXPECT_EQ(change.at("events").at(0).at("event"), hostile_name);
}

TEST_F(Hostile, ThePageHasNoElementsOutOfNames) {
  const std::string input = profile("</script><img src=x onerror=alert(1)>");
  ASSERT_EQ(run({pmusim(), "report", "--html", file("page.html"), "-i", input}).status, 0);
  EXPECT_THAT(read_file(file("page.html")), AllOf(Not(HasSubstr("<img")), HasSubstr("\\u003cimg")));
}

TEST_F(Hostile, KernelSymbolsThatAreAPipeAreNotWaitedFor) {
  const std::string input = trace("T", {.addresses = true, .kernel = true});
  pipe("T.kallsyms");
  const Output output =
      run({"timeout", "20", pmusim(), "record", "-q", "-c", "100", "-o", file("out"), input});
  EXPECT_EQ(output.status, 0) << output.err;
}

TEST_F(Hostile, NamesOf32KibAreOrdinaryNames) {
  const std::string input = profile(std::string(32000, 'n'));
  for (const char* const command : {"script", "report", "annotate"})
    EXPECT_EQ(run({pmusim(), command, "-i", input}).status, 0) << command;
  EXPECT_EQ(run({pmusim(), "report", "--html", file("page.html"), "-i", input}).status, 0);
}

TEST_F(Hostile, SentencesShowNamesAsBytes) {
  const std::string scenario = written("esc.pmu", "model icelake\nwrmsr \x1b]0;pwn\a 1\n");
  const std::string models =
      written("esc.json",
              "{\"traces\":[\"x\\u001b[31m.pmutrace\"],\"models\":[\"ice\\u001b[2Jlake\"],"
              "\"events\":{\"a\":\"cyc\\u001b[2J\"}}");
  for (const Output& output : {run({pmusim(), "scenario", scenario}), sweep(models),
                               run({pmusim(), "report", "-i", file("\x1b[2J")}),
                               run({pmusim(), "stat", "-e", "cyc\x1b[2J", file("nothing\x1b\n")})}) {
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err, AllOf(IsFitForATerminal(), HasSubstr("\\x1b")));
    EXPECT_EQ(lines(output.err).size(), 1u) << output.err;
  }
}

TEST_F(Hostile, SentencesNameTheFile) {
  const std::string input = written("damaged.data", "PERFILE2 and no more");
  for (const char* const command : {"script", "report", "annotate"})
    EXPECT_THAT(run({pmusim(), command, "-i", input}).err, HasSubstr("damaged.data: ")) << command;
}

// --- JSON

TEST_F(Hostile, DeepJsonIsRefusedWithItsDepth) {
  const std::string deep = std::string(60000, '[') + std::string(60000, ']');
  const Output output = sweep(written("deep.json", "{\"x\":" + deep + "}"));
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("deep.json: is nested deeper than 64"));
}

TEST_F(Hostile, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_THAT(sweep(written("x.json", "{\n  \"traces\" [\"a\"]}")).err,
              HasSubstr("x.json: is not JSON: line 2, column"));
}

TEST_F(Hostile, ANumberThatNoTypeHoldsIsRefusedWithTheFile) {
  const Output output = sweep(written("x.json", "{\"traces\": 9e999}"));
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("x.json: has a number that is too large"));
}

TEST_F(Hostile, APipeAsSweepFileIsRefused) {
  EXPECT_THAT(sweep(pipe("sweep.json")).err, HasSubstr("expected a regular file"));
}

class HostileResult : public Hostile {
 protected:
  HostileResult() {
    fs::copy_file(recorded("branches", {"27"}), file("one.pmutrace"));
    written("sweep.json", R"({"traces": ["one.pmutrace"], "models": ["icelake"],
                              "events": {"branches": "branches,branch-misses"}, "core": "simple"})");
    EXPECT_EQ(sweep(file("sweep.json")).status, 0);
  }
  std::string result() const { return file("results/one.icelake.branches.json"); }
  Output merged() const { return sweep(file("sweep.json"), {"--merge"}); }
  /// The result with one word replaced.
  void replace(const std::string& word, const std::string& other) const {
    std::string text = read_file(result());
    const std::size_t at = text.rfind(word);
    ASSERT_NE(at, std::string::npos);
    std::ofstream(result()) << text.replace(at, word.size(), other);
  }
};

TEST_F(HostileResult, WithoutAnEventIsRefusedWithItsName) {
  replace("\"event\"", "\"\"");
  const Output output = merged();
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("one.icelake.branches.json: \"counts\": expected a list"));
}

TEST_F(HostileResult, WithoutATimeIsRefusedWithItsName) {
  replace("\"elapsed_ns\"", "\"\"");
  EXPECT_THAT(merged().err, HasSubstr("one.icelake.branches.json: \"elapsed_ns\": expected a number"));
}

TEST_F(HostileResult, ThatIsAPipeIsRefused) {
  pipe("results/one.icelake.branches.json");
  EXPECT_THAT(merged().err, HasSubstr("one.icelake.branches.json: cannot read: it is a pipe or a device"));
}

TEST_F(HostileResult, ThatIsDeepIsRefused) {
  written("results/one.icelake.branches.json", std::string(60000, '['));
  EXPECT_THAT(merged().err, HasSubstr("one.icelake.branches.json: is nested deeper than 64"));
}

TEST_F(HostileResult, WithANameOfManyLinesIsOneLine) {
  replace("branch-misses\",", "a\\nb\\\"c,\\u001b\",");
  EXPECT_THAT(merged().out, AllOf(IsFitForATerminal(), HasSubstr("\"a\\x0ab\"\"c,\\x1b\"")));
}

// --- symbols

TEST_F(Hostile, AMonstrousMangledNameCostsNothing) {
  // f(a<int, int>, a<S0_, S0_>, ...): each parameter is twice as long as the one before.
  std::string name = "_Z1f1aIiiE";
  for (const char c : std::string("0123456789ABCDEFGHIJKLMNOPQRST"))
    name += std::string("S_IS") + c + "_S" + c + "_E";
  written("t.s",
          ".text\n.globl _start\n.type _start,@function\n_start: mov $60,%eax\nxor %edi,%edi\nsyscall\n"
          ".globl \"" +
              name + "\"\n.type \"" + name + "\",@function\n\"" + name + "\": ret\n");
  if (run({"cc", "-nostdlib", "-static", file("t.s"), "-o", file("t")}).status != 0)
    GTEST_SKIP() << "no compiler";
  const Output output = run({"timeout", "20", pmusim(), "trace", "record", "--start-symbol", "nope", "-o",
                             file("t.pmutrace"), "--", file("t")});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("nope"));
}

}  // namespace
}  // namespace pmusim::test
