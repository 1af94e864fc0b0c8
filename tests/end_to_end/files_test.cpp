// SPDX-License-Identifier: MIT
// Files that commands read and write: who may read them, what is refused, what does not block.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "command.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

unsigned mode_of(const std::string& path) { return static_cast<unsigned>(fs::status(path).permissions()); }

class Files : public testing::Test {
 protected:
  void SetUp() override { previous_mask_ = ::umask(022); }
  void TearDown() override { ::umask(previous_mask_); }
  std::string file(const std::string& name) const { return scratch_.file(name); }
  /// A trace with general registers, under this name.
  std::string trace(const std::string& name) const {
    fs::copy_file(recorded("branches", {"27"}, "gpr"), file(name));
    return file(name);
  }
  ScratchDirectory scratch_;

 private:
  mode_t previous_mask_ = 0;
};

TEST_F(Files, ThatHoldRegistersAreTheirOwnersAlone) {
  const std::string T = trace("T"), data = file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "-o", data, T}).status, 0);
  EXPECT_EQ(mode_of(data), 0644u);
  EXPECT_EQ(mode_of(recorded("branches", {"27"}, "gpr")), 0600u);
  for (const char* option : {"--intr-regs=ax,ip", "--user-regs=sp"}) {
    fs::remove(data);
    ASSERT_EQ(run({pmusim(), "record", "-q", option, "-o", data, T}).status, 0);
    EXPECT_EQ(mode_of(data), 0600u) << option;
  }
  fs::remove(data);
  ASSERT_EQ(run({pmusim(), "record", "-q", "--intr-regs=ip", "-o", data, T}).status, 0);
  EXPECT_EQ(mode_of(data), 0644u) << "the address of an instruction is in every sample";
}

TEST_F(Files, ThatAreReplacedKeepTheirModeButForRegisters) {
  const std::string T = trace("T"), data = file("perf.data");
  for (const unsigned mode : {0640u, 0600u, 0664u}) {
    ASSERT_EQ(run({pmusim(), "record", "-q", "-o", data, T}).status, 0);
    ::chmod(data.c_str(), mode);
    ASSERT_EQ(run({pmusim(), "record", "-q", "-o", data, T}).status, 0);
    EXPECT_EQ(mode_of(data), mode);
    EXPECT_EQ(mode_of(data + ".old"), mode);
  }
  ASSERT_EQ(run({pmusim(), "record", "-q", "-I", "-o", data, T}).status, 0);
  EXPECT_EQ(mode_of(data), 0600u);
}

TEST_F(Files, ThatArePipesWithoutAWriterAreRefusedAtOnce) {
  const std::string pipe = file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::vector<std::string>> commands{
      {"script", "-i", pipe},
      {"report", "-i", pipe},
      {"annotate", "-i", pipe},
      {"pebs", "drain", pipe},
      {"trace", "info", pipe},
      {"trace", "dump", pipe},
      {"stat", pipe},
      {"why", pipe},
      {"record", pipe},
      {"scenario", pipe},
      {"mem", "report", pipe},
      {"c2c", "report", pipe},
      {"diff", pipe, pipe},
      {"sweep", "-o", file("results"), pipe},
      {"stat", "-a", "--machine", pipe, trace("T")},
      {"trace", "import", "-f", "pt", "-o", file("out"), pipe},
      {"trace", "export", "-f", "pt", "-o", file("out"), pipe},
      {"experiment", "collisions", pipe},
      {"experiment", "acr", "--trace", pipe}};
  for (std::vector<std::string> command : commands) {
    const std::string what = command.front();
    command.insert(command.begin(), {"timeout", "20", pmusim()});
    const Output refused = run(command);
    EXPECT_EQ(refused.status, 2) << what;
    EXPECT_THAT(refused.err, HasSubstr(pipe + ": cannot read: it is a pipe or a device")) << what;
  }
}

TEST_F(Files, ThatAreTheInputAreNotOverwritten) {
  const std::string T = trace("T"), data = file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "-o", data, T}).status, 0);
  const std::string program = file("program");
  fs::copy_file(workload("branches"), program);
  fs::create_symlink("perf.data", file("link"));
  fs::create_hard_link(T, file("acr.data"));
  const std::vector<std::vector<std::string>> commands{
      {"annotate", "-i", data, "--html", data},
      {"report", "-i", data, "--html", file("link")},
      {"trace", "record", "--step", "-o", program, program, "1"},
      {"record", "--save-trace", program, "--", program, "1"},
      {"experiment", "acr", "--trace", T, "-o", scratch_.path().string()}};
  for (std::vector<std::string> command : commands) {
    const std::string what = command.front();
    command.insert(command.begin(), pmusim());
    const auto before = std::pair(read_file(data), read_file(program));
    const Output refused = run(command);
    EXPECT_EQ(refused.status, 2) << what;
    EXPECT_THAT(refused.err, HasSubstr(": is the input ")) << what;
    EXPECT_EQ(std::pair(read_file(data), read_file(program)), before) << what;
  }
  EXPECT_EQ(read_file(T), read_file(recorded("branches", {"27"}, "gpr")));
}

TEST_F(Files, WithoutANameOrAFolderAreRefusedBeforeAnythingRuns) {
  const std::string T = trace("T"), data = file("perf.data"), ran = file("ran");
  ASSERT_EQ(run({pmusim(), "record", "-q", "-o", data, T}).status, 0);
  for (const std::string& name : {std::string(), file("no/such"), scratch_.path().string()}) {
    const std::vector<std::vector<std::string>> commands{
        {"annotate", "-i", data, "--html", name},
        {"report", "-i", data, "--html", name},
        {"pebs", "generate", "--format", "3", "--records", "10", "-o", name},
        {"trace", "record", "--step", "-o", name, "--", "touch", ran}};
    for (std::vector<std::string> command : commands) {
      const std::string what = command.front() + " '" + name + "'";
      command.insert(command.begin(), pmusim());
      const Output refused = run(command);
      EXPECT_EQ(refused.status, 2) << what;
      EXPECT_THAT(refused.err, testing::AnyOf(HasSubstr("is a directory"), HasSubstr("there is no directory"),
                                              HasSubstr(" '': expected the name of a file")))
          << what;
    }
  }
  EXPECT_FALSE(fs::exists(ran));
}

TEST_F(Files, OfTheRecorderAreNotUnderTheLimitsOfTheProgram) {
  const std::string output = file("trace"), written = file("written");
  for (const char* const recorder : {" --step", " --fast"}) {
    const Output limited = run({"bash", "-c",
                                "ulimit -c 0; ulimit -S -f 4; " + pmusim() + " trace record" + recorder +
                                    " -o " + output + " head -c 9000 /dev/zero > " + written});
    if (limited.err.find("package is qemu-user") != std::string::npos) continue;
    EXPECT_EQ(limited.status, 0) << limited.err;
    EXPECT_GT(fs::file_size(output), 4096u) << recorder;
    EXPECT_EQ(fs::file_size(written), 4096u) << recorder << ": the limit is the program's";
    EXPECT_EQ(run({pmusim(), "trace", "info", output}).err, "") << recorder << ": it is not truncated";
  }
}

TEST_F(Files, OfTheRecorderAreWholeAlthoughTheProgramRanOutOfItsTime) {
  const std::string output = file("trace");
  const Output limited = run({"bash", "-c",
                              "ulimit -c 0; ulimit -S -t 1; " + pmusim() + " trace record --step -o " +
                                  output + " " + workload("branches") + " 100000000"});
  EXPECT_EQ(limited.status, 0) << limited.err;
  EXPECT_THAT(limited.err, HasSubstr("the program was ended by signal 24"));
  EXPECT_EQ(run({pmusim(), "trace", "info", output}).err, "") << "it is not truncated";
}

}  // namespace
}  // namespace pmusim::test
