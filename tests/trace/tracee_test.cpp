// SPDX-License-Identifier: MIT
// The memory of a process, read as far as it is there; threads before a system call, or in none.
#include "trace/tracee.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/trace/child_process.h"

namespace pmusim::trace {
namespace {

/// Two pages with bytes in them that differ.
class TwoPages {
 public:
  TwoPages()
      : memory_(static_cast<std::byte*>(
            ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (std::size_t n = 0; n < 2 * page; ++n) memory_[n] = static_cast<std::byte>(n * 37 >> 3);
  }
  TwoPages(const TwoPages&) = delete;
  TwoPages& operator=(const TwoPages&) = delete;
  ~TwoPages() { ::munmap(memory_, 2 * page); }
  void hide_second() { ::mprotect(memory_ + page, page, PROT_NONE); }
  /// What is read of so many bytes from an offset on.
  std::vector<std::byte> read(std::size_t offset, std::size_t bytes) const {
    std::vector<std::byte> out(bytes);
    out.resize(read_memory(static_cast<u32>(::getpid()), reinterpret_cast<u64>(memory_ + offset), out));
    return out;
  }
  bool has(std::size_t offset, const std::vector<std::byte>& bytes) const {
    return std::ranges::equal(bytes, std::span(memory_ + offset, bytes.size()));
  }
  static constexpr std::size_t page = 4096;

 private:
  std::byte* memory_;
};

TEST(ReadMemory, GoesAcrossPages) {
  const TwoPages pages;
  for (const std::size_t offset : {std::size_t{0}, TwoPages::page - 7, TwoPages::page - 1, TwoPages::page}) {
    const auto bytes = pages.read(offset, 4000);
    EXPECT_EQ(bytes.size(), 4000u);
    EXPECT_TRUE(pages.has(offset, bytes)) << offset;
  }
}

// An instruction may be the last of a page behind which there is none.
TEST(ReadMemory, EndsWhereAPageCannotBeRead) {
  TwoPages pages;
  pages.hide_second();
  for (const std::size_t left : {1u, 5u, 15u}) {
    const auto bytes = pages.read(TwoPages::page - left, 15);
    EXPECT_EQ(bytes.size(), left);
    EXPECT_TRUE(pages.has(TwoPages::page - left, bytes));
  }
  EXPECT_TRUE(pages.read(TwoPages::page, 15).empty());
}

/// A child of this process that does nothing but keep a value in RAX.
class Spinning : public ChildProcess {
 public:
  explicit Spinning(u64 rax) {
    if (pid() == 0) __asm__ volatile("0: pause\n\tjmp 0b" : : "a"(rax));
  }
  void step() const {
    single_step(pid(), 0);
    ::waitpid(static_cast<pid_t>(pid()), nullptr, 0);
  }
};

// RAX may look like the result of a call that is repeated.
TEST(GoBackBeforeCall, LeavesAloneWhoIsInNone) {
  const auto restart = static_cast<u64>(i64{-512});  // ERESTARTSYS
  const Spinning child(restart);
  ASSERT_TRUE(attach(child.pid()).ok());
  auto before = thread_state(child.pid());
  for (; before && before->registers[Gpr::rax] != restart; before = thread_state(child.pid())) child.step();
  ASSERT_TRUE(before);
  go_back_before_call(child.pid());
  const auto after = thread_state(child.pid());
  ASSERT_TRUE(after);
  EXPECT_EQ(after->registers.rip, before->registers.rip);
  EXPECT_EQ(after->registers.gpr, before->registers.gpr);
}

// As `pmusim trace record` has it once a signal has asked it to end.
TEST(StartTraced, IsNotInterruptedByATimer) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};  // without SA_RESTART
  ::sigaction(SIGALRM, &action, &before);
  const auto set_timer = [](suseconds_t us) {
    const itimerval times{{0, us}, {0, us}};
    ::setitimer(ITIMER_REAL, &times, nullptr);
  };
  ProgramLimits limits;
  ::getrlimit(RLIMIT_FSIZE, &limits.file_size);
  ::getrlimit(RLIMIT_CPU, &limits.cpu_time);
  set_timer(200);
  for (int n = 0; n < 20; ++n) {
    const auto child = start_traced({"/bin/true"}, limits);
    EXPECT_TRUE(child.ok()) << child.error().message;
    if (!child.ok()) continue;
    ::kill(static_cast<pid_t>(*child), SIGKILL);
    int status = 0;
    wait_on(static_cast<pid_t>(*child), status, __WALL);
  }
  set_timer(0);
  ::sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace pmusim::trace
