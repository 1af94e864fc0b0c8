// SPDX-License-Identifier: MIT
// A program with ring-0 instructions, which no trace has, sampled by PEBS through the whole chain.
#include <gtest/gtest.h>

#include "pmusim/perf/core.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver::kernel_samples_test {
namespace {

namespace sample = perf::sample;

constexpr u64 user_code = 0x401000, kernel_code = 0xFFFF'FFFF'8100'0000, kernel_start = bit(63);
constexpr u64 rax_ip_cs = bit(0) | bit(8) | bit(10);

/// One sample as a reader finds it: IP, then both register blocks.
struct Read {
  u16 misc = 0;
  u64 ip = 0;
  struct Block {
    u64 abi, rax, ip, cs;
    friend bool operator==(const Block&, const Block&) = default;
  } user{}, interrupt{};
};

/// PMU, driver and perf core, and a program that alternates between user code and the kernel.
class Machine final : private WholeKernel, private perf::Target {
 public:
  explicit Machine(const char* model) : WholeKernel(*find_cpu_model(model)) {
    cpu.set_target(*this);
    start_program(100);
  }

  void sample_branches(u64 period, u64 registers) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::hardware);
    attr.config = static_cast<u64>(perf::HardwareId::branch_instructions);
    attr.precise_ip = 2;
    attr.sample_period = period;
    attr.sample_type = sample::IP | registers;
    attr.sample_regs_user = attr.sample_regs_intr = rax_ip_cs;
    const auto event = core.open(attr, 100, -1);
    ASSERT_TRUE(event) << event.error().message;
    ring_ = core.mmap(**event, 64).value();
  }

  /// `runs` of some branches each, in user code and kernel by turns.
  void run(unsigned runs) {
    for (unsigned i = 0; i < runs; ++i) {
      const Cpl level = i % 2 == 0 ? Cpl::user : Cpl::kernel;
      const u64 base = level == Cpl::user ? user_code : kernel_code;
      for (u64 n = 0; n < 11; ++n) branch(base + 16 * n, level);
    }
    cpu.switch_to(0);  // drains what is left
  }

  std::vector<Read> samples() {
    std::vector<std::byte> all;
    perf::RingReader(*ring_).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
    std::vector<Read> found;
    for (std::size_t at = 0; at < all.size();) {
      struct {
        u32 type;
        u16 misc, size;
      } header;
      std::memcpy(&header, all.data() + at, sizeof header);
      Read read;
      read.misc = header.misc;
      std::memcpy(&read.ip, all.data() + at + 8, header.size - 8u);
      if (header.type == static_cast<u32>(perf::RecordType::sample)) found.push_back(read);
      at += header.size;
    }
    return found;
  }

  /// What RAX holds after the branch at an address.
  static u64 rax_after(u64 ip) { return ip * 3; }
  const Registers* user_registers() const override { return &saved_; }

 private:
  void branch(u64 ip, Cpl level) {
    Registers registers;
    registers.rip = ip + 16;
    registers[Gpr::rax] = rax_after(ip);
    if (level == Cpl::user) saved_ = registers;
    pmu.retire(
        {.ip = ip,
         .next_ip = ip + 16,
         .cycle = ++cycle_,
         .signals = {Signal::instruction, Signal::branch, Signal::conditional, Signal::conditional_taken},
         .length = 2,
         .branch = BranchKind::conditional,
         .taken = true,
         .cpl = level,
         .cpl_after = level,
         .registers = &registers});
  }
  void handle_pmi(const InterruptFrame& frame) override {
    cpu.set_time(cycle_);
    driver.handle_pmi(frame);
  }

  perf::RingBuffer* ring_ = nullptr;
  u64 cycle_ = 0;
  Registers saved_;
};

class KernelSamples : public testing::TestWithParam<const char*> {};

TEST_P(KernelSamples, PrivilegeAndCsFollowTheSampledInstruction) {
  Machine machine(GetParam());
  machine.sample_branches(37, sample::REGS_USER | sample::REGS_INTR);
  machine.run(400);
  unsigned in_kernel = 0, in_user = 0;
  for (const Read& read : machine.samples()) {
    const bool kernel = read.ip >= kernel_start;
    ++(kernel ? in_kernel : in_user);
    EXPECT_EQ(read.misc & perf::misc::CPUMODE_MASK, kernel ? perf::misc::KERNEL : perf::misc::USER);
    EXPECT_EQ(read.interrupt.cs, kernel ? 0x10u : 0x33u);
    EXPECT_EQ(read.interrupt.ip, read.ip);
    EXPECT_EQ(read.interrupt.rax, Machine::rax_after(read.ip));
  }
  EXPECT_GT(in_kernel, 30u);
  EXPECT_GT(in_user, 30u);
}

TEST_P(KernelSamples, UserRegistersAreTheRecordsOrInKernelTheTasks) {
  Machine machine(GetParam());
  machine.sample_branches(37, sample::REGS_USER | sample::REGS_INTR);
  machine.run(400);
  for (const Read& read : machine.samples()) {
    if (read.ip < kernel_start) {
      EXPECT_EQ(read.user, read.interrupt);
    } else {
      EXPECT_LT(read.user.ip, kernel_start);
      EXPECT_EQ(read.user.cs, 0x33u);
      EXPECT_EQ(read.user.rax, Machine::rax_after(read.user.ip - 16));
    }
  }
}

/// Formats whose general registers come in a group that REGS_USER asks for too.
class UserRegistersOfGroups : public testing::TestWithParam<const char*> {};

TEST_P(UserRegistersOfGroups, AreTheRecordsWithoutInterruptRegisters) {
  Machine machine(GetParam());
  machine.sample_branches(37, sample::REGS_USER);
  machine.run(400);
  unsigned in_user = 0;
  for (const Read& read : machine.samples()) {
    if (read.ip >= kernel_start) continue;
    ++in_user;
    EXPECT_EQ(read.user.ip, read.ip);
    EXPECT_EQ(read.user.rax, Machine::rax_after(read.ip));
  }
  EXPECT_GT(in_user, 30u);
}

INSTANTIATE_TEST_SUITE_P(Models, UserRegistersOfGroups, testing::Values("icelake", "lioncove", "cougarcove"),
                         [](const auto& model) { return std::string(model.param); });

// PEBS formats 2 and 3, 4 (adaptive) and architectural.
INSTANTIATE_TEST_SUITE_P(Models, KernelSamples,
                         testing::Values("haswell", "skylake", "icelake", "cougarcove"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace pmusim::driver::kernel_samples_test
