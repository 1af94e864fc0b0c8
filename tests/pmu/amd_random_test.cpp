// SPDX-License-Identifier: MIT
// Random register accesses, retirements and interrupts on AMD's models. PMUSIM_OPERATIONS says how many
// (docs/notes/amd.md has what ten million under sanitizers came to).
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/pmu/amd_cpu.h"
#include "tests/pmu/units.h"
#include "tests/support/dice.h"

namespace pmusim::amd_test {
namespace {

u64 operations_wanted() {
  const char* const said = std::getenv("PMUSIM_OPERATIONS");
  return said != nullptr ? std::strtoull(said, nullptr, 10) : 240'000;
}

/// One CPU among accesses that are legal, nearly legal, or neither.
class RandomCpu final : public PmiHandler {
 public:
  RandomCpu(const CpuModel& model, u64 seed) : pmu_(model), dice_(seed) { pmu_.set_pmi_handler(this); }
  RandomCpu(const RandomCpu&) = delete;
  RandomCpu& operator=(const RandomCpu&) = delete;

  void step() {
    switch (dice_.below(12)) {
      case 0:
        return write_reserved();
      case 1:
      case 2:
      case 3:
      case 4:
        return write_legal();
      case 5:
        return write_anywhere();
      case 6:
      case 7:
        return read();
      case 8:
        return wait();
      case 9:
        return arm();
      case 10:
        return retire_block();
      default:
        return retire();
    }
  }
  void check() const { ASSERT_TRUE(PmuUnits::of(pmu_).is_derived()); }
  u64 operations() const { return operations_; }
  u64 interrupts() const { return interrupts_; }

 private:
  const Register& any_register() {
    const auto all = pmu_.registers().all();
    return all[dice_.below(all.size())];
  }
  u64 number() {
    return dice_.one_in(2)   ? dice_.bits64()
           : dice_.one_in(2) ? bit(static_cast<unsigned>(dice_.below(64)))
                             : dice_.below(256);
  }
  Fault write(u32 address, u64 value) {
    ++operations_;
    return pmu_.wrmsr(address, value);
  }
  FaultOr<u64> read(u32 address) {
    ++operations_;
    return pmu_.rdmsr(address);
  }

  void write_legal() {
    const Register& target = any_register();
    const Fault fault = write(target.address, number() & (target.writable | target.ignored));
    if (target.takes.empty() && target.present.empty() && !target.read_only) {
      EXPECT_EQ(fault, Fault::none) << target.name();
    }
  }
  /// A bit that is neither writable nor ignored faults, and nothing has changed.
  void write_reserved() {
    const Register& target = any_register();
    const u64 reserved = ~(target.writable | target.ignored);
    if (reserved == 0) return;
    const FaultOr<u64> before = read(target.address);
    u64 value = number() & reserved;
    if (value == 0) value = reserved & -reserved;
    EXPECT_EQ(write(target.address, value | (number() & target.writable)), Fault::gp) << target.name();
    const FaultOr<u64> after = read(target.address);
    EXPECT_EQ(before.ok() ? *before : 0, after.ok() ? *after : 0) << target.name();
  }
  void write_anywhere() {
    constexpr u32 regions[] = {0, 0x800, 0xC0000080, 0xC0000300, 0xC0010000, 0xC0010200, 0xC0011030};
    const u32 address = regions[dice_.below(std::size(regions))] + static_cast<u32>(dice_.below(0x100));
    const bool exists = pmu_.registers().find(address) != nullptr;
    const Fault fault = write(address, number());
    if (!exists) {
      EXPECT_EQ(fault, Fault::gp) << std::hex << address;
    }
  }
  void read() {
    const Register& source = any_register();
    const FaultOr<u64> value = read(source.address);
    if (!source.write_only && source.present.empty()) {
      EXPECT_TRUE(value.ok()) << source.name();
    }
    static_cast<void>(pmu_.rdpmc(static_cast<u32>(number()), dice_.one_in(2) ? Cpl::user : Cpl::kernel));
    static_cast<void>(pmu_.cpuid(0x80000000 + static_cast<u32>(dice_.below(0x24)), 0));
    operations_ += 2;
  }
  /// Counters and IBS that count, close to their overflow.
  void arm() {
    constexpr u64 events[] = {0x76, 0xC0, 0xC2, 0xC4, 0x1'0000'00C9, 0x003 | 0xFF00, 0x003 | 0x100};
    const u32 n = 2 * static_cast<u32>(dice_.below(6));
    static_cast<void>(write(0xC0010201 + n, -dice_.below(40)));
    static_cast<void>(write(0xC0010200 + n, events[dice_.below(std::size(events))] | 0x530000));
    if (dice_.one_in(4)) static_cast<void>(write(0xC0010202 + n, 0xF004000FF));
    if (dice_.one_in(4)) static_cast<void>(write(0xC0000302, ~u64{0}));
    if (dice_.one_in(2)) static_cast<void>(write(0xC0000301, 0x3F));
    if (dice_.one_in(8))
      static_cast<void>(write(0xC0011033, bit(17) | bit(19) * dice_.below(2) | dice_.below(16)));
    if (dice_.one_in(8))
      static_cast<void>(write(0xC0011030, bit(48) | bit(57) * dice_.below(2) | dice_.below(16)));
    if (dice_.one_in(8)) static_cast<void>(write(0xC000010F, dice_.one_in(2) ? 0x40 : 0x1C));
    if (dice_.one_in(4)) static_cast<void>(write(0x834, 0x400));
    if (dice_.one_in(4)) static_cast<void>(write(0x850, 0x400));
  }
  void wait() {
    pmu_.wait_until(pmu_.now() + dice_.below(200), {.cpl = dice_.one_in(2) ? Cpl::user : Cpl::kernel});
    if (dice_.one_in(50)) pmu_.debug_exception();
    if (dice_.one_in(500)) pmu_.reset();
  }
  Retirement retirement() {
    Retirement r{.ip = 0x401000 + 4 * dice_.below(64), .cycle = pmu_.now() + dice_.below(4), .length = 4};
    r.signals = {Signal::instruction};
    r.next_ip = r.ip + 4;
    r.quantities[static_cast<unsigned>(Quantity::uops)] = static_cast<u32>(dice_.below(9));
    r.quantities[static_cast<unsigned>(Quantity::flops_add)] = static_cast<u32>(dice_.below(33));
    if (dice_.one_in(3)) {
      r.branch = static_cast<BranchKind>(1 + dice_.below(static_cast<u64>(BranchKind::tsx_abort)));
      r.taken = !dice_.one_in(3);
      r.mispredicted = dice_.one_in(8);
      if (r.taken) r.next_ip = number();
      r.fused_length = static_cast<u8>(dice_.below(8));
      r.signals = r.signals | branch_signals(r.branch) |
                  outcome_signals(r.branch, {.taken = r.taken, .mispredicted = r.mispredicted});
    }
    r.cpl = dice_.one_in(4) ? Cpl::kernel : Cpl::user;
    r.cpl_after = r.branch == BranchKind::none ? r.cpl : dice_.one_in(4) ? Cpl::kernel : Cpl::user;
    access_ = {.address = number(),
               .bytes = 8,
               .kind = dice_.one_in(2) ? AccessKind::load : AccessKind::store,
               .level = static_cast<CacheLevel>(dice_.below(5)),
               .tlb = static_cast<TlbLevel>(dice_.below(3)),
               .latency_cycles = static_cast<u32>(dice_.below(400))};
    r.memory = std::span(&access_, dice_.below(2));
    return r;
  }
  void retire() {
    for (u64 n = 1 + dice_.below(8); n != 0; --n) pmu_.retire(retirement());
  }
  /// In bulk what a copy does one by one.
  void retire_block() {
    Retirement r = retirement();
    const u64 start = pmu_.now(), length = r.cycle - start;
    Pmu exact = pmu_;
    exact.set_pmi_handler(nullptr);
    const u64 done = pmu_.advance(pmu_.totals({&r, 1}, start), 1 + dice_.below(60));
    for (u64 n = 1; n <= done; ++n) {
      r.cycle = start + n * length;
      exact.retire(r);
    }
    EXPECT_EQ(pmu_.state_hash(), exact.state_hash());
  }
  void handle_pmi(const InterruptFrame&) override {
    ++interrupts_;
    if (dice_.one_in(2)) static_cast<void>(write(0xC0000302, ~u64{0}));
    if (dice_.one_in(2)) write_legal();
    if (dice_.one_in(8)) pmu_.retire({.ip = 0x1000, .next_ip = 0x1004, .cycle = pmu_.now() + 1, .length = 4});
  }

  Pmu pmu_;
  Dice dice_;
  MemoryAccess access_;
  u64 operations_ = 0, interrupts_ = 0;
};

TEST(AmdRandom, OperationsLeaveRegistersAsTheyAreDescribed) {
  const auto models = cpu_models(Vendor::amd);
  const u64 each = operations_wanted() / models.size() + 1;
  u64 operations = 0, interrupts = 0;
  for (const CpuModel& model : models) {
    SCOPED_TRACE(model.name);
    // Registers that stay masked or frozen make for few interrupts: a new CPU now and then.
    for (u64 done = 0, seed = 0; done < each; ++seed) {
      CpuModel varied = model;
      varied.policies.ibs_wrong_path_ops = seed % 2 == 0 ? 0 : 20;
      RandomCpu cpu(varied, seed);
      while (cpu.operations() < 2'000) {
        cpu.step();
        cpu.check();
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
      done += cpu.operations();
      operations += cpu.operations();
      interrupts += cpu.interrupts();
    }
  }
  std::printf("%llu operations, %llu interrupts\n", static_cast<unsigned long long>(operations),
              static_cast<unsigned long long>(interrupts));
  EXPECT_GE(operations, operations_wanted());
  EXPECT_GT(interrupts, operations / 10'000);
}

}  // namespace
}  // namespace pmusim::amd_test
