// SPDX-License-Identifier: MIT
// Programs whose DWARF names other files, as -gsplit-dwarf and dwz make them: what is opened of those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "symbols/module.h"

namespace pmusim::symbols {

namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class SideFiles : public testing::Test {
 protected:
  SideFiles() {
    std::string name = (fs::temp_directory_path() / "pmusim-side-files-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) directory_ = name;
    std::ofstream(file("t.c")) << "volatile int x;\n"
                                  "static inline __attribute__((always_inline)) void g(void) { ++x; }\n"
                                  "void _start(void) { g(); for (;;) g(); }\n";
    is_built_ = shell("cc -g -gsplit-dwarf -O1 -ffreestanding -fno-pie -S t.c -o t.s") && make();
    alarm(60);  // a pipe that is waited for would take longer
  }
  ~SideFiles() override {
    alarm(0);
    fs::remove_all(directory_);
  }
  void SetUp() override {
    if (!is_built_) GTEST_SKIP() << "no C compiler with -gsplit-dwarf";
  }

  /// The program of t.s, with t.dwo beside it.
  bool make() const {
    return shell("cc -gsplit-dwarf -c t.s -o t.o && cc -nostdlib -static -no-pie t.o -o t && test -e t.dwo");
  }
  bool shell(const std::string& command) const {
    return std::system(("cd " + directory_.string() + " && (" + command + ") >log 2>&1").c_str()) == 0;
  }
  std::string file(const std::string& name) const { return directory_ / name; }
  void make_pipe(const std::string& name) const {
    fs::remove(file(name));
    ASSERT_EQ(mkfifo(file(name).c_str(), 0600), 0);
  }

  /// Asks for all that lies in side files, and returns what is missing.
  std::string problem_of_reading() const {
    Module module = Module::open({file("t"), {}}, directory_);
    const Symbol* const start = module.find("_start");
    if (start == nullptr) return "no symbol";
    has_line_ = module.position(start->start).has_value();
    inlined_ = module.inlined_calls(start->start, start->end).size();
    return module.problem();
  }
  mutable bool has_line_ = false;
  mutable std::size_t inlined_ = 0;

 private:
  fs::path directory_;
  bool is_built_ = false;
};

TEST_F(SideFiles, SplitDwarfIsRead) {
  EXPECT_EQ(problem_of_reading(), "");
  EXPECT_TRUE(has_line_);
  EXPECT_EQ(inlined_, 2u);
}

TEST_F(SideFiles, WithoutTheSplitFileThereAreLines) {
  fs::remove(file("t.dwo"));
  EXPECT_EQ(problem_of_reading(), "");
  EXPECT_TRUE(has_line_);
  EXPECT_EQ(inlined_, 0u);
}

TEST_F(SideFiles, APipeInPlaceOfASplitFileIsNotOpened) {
  make_pipe("t.dwo");
  EXPECT_THAT(problem_of_reading(), HasSubstr("names " + file("t.dwo") + ", which is no file of debug"));
  EXPECT_FALSE(has_line_);
}

TEST_F(SideFiles, AbsoluteNamesOfDevicesAndOtherFilesAreNotOpened) {
  for (const std::string name : {"/dev/zero", "/etc/passwd", "/proc/self/environ"}) {
    ASSERT_TRUE(shell("cp t.s kept.s && sed -i 's|\"t.dwo\"|\"" + name + "\"|' t.s && grep -q " + name +
                      " t.s && cc -c t.s -o t.o && cc -nostdlib -static -no-pie t.o -o t && mv kept.s t.s"));
    EXPECT_THAT(problem_of_reading(), HasSubstr("names " + name)) << name;
  }
}

TEST_F(SideFiles, APipeAsSharedDebugFileIsNotOpened) {
  make_pipe("shared");
  std::ofstream(file("link"), std::ios::binary) << "shared" << '\0' << std::string(20, '\x12');
  ASSERT_TRUE(shell("objcopy --add-section .gnu_debugaltlink=link t"));
  EXPECT_THAT(problem_of_reading(), HasSubstr("names " + file("shared")));
}

TEST_F(SideFiles, APipeAsPackageIsNotOpened) {
  make_pipe("t.dwp");
  EXPECT_THAT(problem_of_reading(), HasSubstr("names " + file("t.dwp")));
}

TEST_F(SideFiles, APipeAsModuleOrDebugFileIsNotOpened) {
  ASSERT_TRUE(shell("objcopy --strip-debug t && cp t real && objcopy --add-gnu-debuglink=real t"));
  make_pipe("real");
  EXPECT_THAT(problem_of_reading(), HasSubstr("has no debug information"));
  make_pipe("t");
  EXPECT_EQ(problem_of_reading(), "no symbol");
}

}  // namespace

}  // namespace pmusim::symbols
