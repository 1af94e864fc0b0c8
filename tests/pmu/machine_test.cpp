// SPDX-License-Identifier: MIT
// Several CPUs at one memory: what each has for itself, what they share, and what a snapshot is.
#include <gmock/gmock.h>

#include <cstring>

#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/pmu/pmu.h"
#include "tests/support/dice.h"

namespace pmusim::machine_test {
namespace {

CpuModel model_named(const std::string& name) {
  CpuModel model = *find_cpu_model(name);
  model.policies.pmi_skid_cycles = 0;
  model.policies.pebs_pmi_skid_cycles = 0;
  model.policies.pebs_arm_cycles = 0;
  return model;
}

void write(Pmu& cpu, u32 address, u64 value) {
  EXPECT_EQ(cpu.wrmsr(address, value), Fault::none) << std::hex << address;
}
u64 read(Pmu& cpu, u32 address) { return cpu.rdmsr(address).value_or(~u64{0}); }

void retire(Pmu& cpu, unsigned count, u64 ip = 0x401000) {
  for (unsigned n = 0; n < count; ++n, ip += 4)
    cpu.retire(
        {.ip = ip, .next_ip = ip + 4, .cycle = cpu.now() + 1, .signals = {Signal::instruction}, .length = 4});
}

void count_instructions(Pmu& cpu, u64 from = 0) {
  using namespace msr::evtsel;
  write(cpu, msr::PERFEVTSEL0, EN | USR | INT | 0xC0);
  write(cpu, msr::PMC0, from);
  write(cpu, msr::PERF_GLOBAL_CTRL, 1);
}

/// Where PMIs went, and the CPU that takes them unmasks its own LVT.
struct Handler : PmiHandler {
  explicit Handler(Pmu& of) : cpu(of) {
    cpu.set_pmi_handler(this);
    write(cpu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void handle_pmi(const InterruptFrame& frame) override {
    ips.push_back(frame.registers.rip);
    write(cpu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  Pmu& cpu;
  std::vector<u64> ips;
};

TEST(Machine, RetiresOnEachCpuIntoItsOwnRegisters) {
  Machine machine(model_named("skylake"), 2);
  for (const unsigned n : {0u, 1u}) count_instructions(machine.cpu(n));
  retire(machine.cpu(0), 3);
  retire(machine.cpu(1), 5);
  retire(machine.cpu(0), 4);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 7u);
  EXPECT_EQ(read(machine.cpu(1), msr::PMC0), 5u);
  EXPECT_EQ(machine.cpu(0).now(), 7u);
  EXPECT_EQ(machine.cpu(1).now(), 5u);
  EXPECT_THROW(machine.cpu(2), std::out_of_range);
}

TEST(Machine, DeliversAPmiToTheCpuThatAskedForIt) {
  Machine machine(model_named("skylake"), 2);
  Handler first(machine.cpu(0)), second(machine.cpu(1));
  count_instructions(machine.cpu(0), u64{0xFFFFFFFF});
  count_instructions(machine.cpu(1));
  retire(machine.cpu(1), 2, 0x500000);
  retire(machine.cpu(0), 2, 0x400000);
  EXPECT_THAT(first.ips, testing::ElementsAre(0x400004));
  EXPECT_THAT(second.ips, testing::IsEmpty());
  EXPECT_EQ(read(machine.cpu(0), msr::PERF_GLOBAL_STATUS), 1u);
  EXPECT_EQ(read(machine.cpu(1), msr::PERF_GLOBAL_STATUS), 0u);
}

/// A DS area at `area` and a PEBS buffer behind it. The second instruction is a record, then every third.
void sample_into(Pmu& cpu, u64 area) {
  const u64 buffer = area + 0x400;
  struct {
    DsArea64 pointers;
    le64 reset;
  } ds{{.pebs_base = buffer,
        .pebs_index = buffer,
        .pebs_maximum = buffer + 0xC00,
        .pebs_threshold = buffer + 0xC00},
       -u64{2}};
  EXPECT_EQ(cpu.write_memory(area, std::as_bytes(std::span(&ds, 1))), Fault::none);
  write(cpu, msr::DS_AREA, area);
  write(cpu, msr::PEBS_ENABLE, 1);
  count_instructions(cpu, u64{0xFFFFFFFF});
}
std::vector<u64> sampled_ips(Pmu& reader, u64 area) {
  DsArea64 ds;
  EXPECT_EQ(reader.read_memory(area, std::as_writable_bytes(std::span(&ds, 1))), Fault::none);
  std::vector<u64> ips;
  for (u64 at = ds.pebs_base; at < ds.pebs_index; at += sizeof(pebs::FixedRecord)) {
    pebs::FixedRecord record;
    EXPECT_EQ(reader.read_memory(at, std::as_writable_bytes(std::span(&record, 1))), Fault::none);
    ips.push_back(record.eventing_ip);
  }
  return ips;
}

TEST(Machine, LetsACpuReadThePebsBufferOfAnother) {
  Machine machine(model_named("skylake"), 2);
  ASSERT_TRUE(machine.map_memory(0x10000, 0x2000));
  sample_into(machine.cpu(0), 0x10000);
  sample_into(machine.cpu(1), 0x11000);
  retire(machine.cpu(0), 5, 0x400000);  // the record of the fourth, which overflows, is of the fifth
  retire(machine.cpu(1), 2, 0x500000);
  EXPECT_THAT(sampled_ips(machine.cpu(1), 0x10000), testing::ElementsAre(0x400004, 0x400010));
  EXPECT_THAT(sampled_ips(machine.cpu(0), 0x11000), testing::ElementsAre(0x500004));
  EXPECT_EQ(
      std::memcmp(machine.memory(0x10000, 0x40).data(), machine.cpu(1).memory(0x10000, 0x40).data(), 64), 0);
  EXPECT_TRUE(machine.cpu(1).unmap_memory(0x10000));
  EXPECT_TRUE(machine.cpu(0).memory(0x10000, 1).empty());
}

TEST(Machine, NumbersItsCpusByTheInitialApicId) {
  Machine machine(model_named("skylake"), 260);
  for (const unsigned n : {0u, 1u, 7u, 255u, 259u}) {
    EXPECT_EQ(machine.cpu(n).number(), n);
    EXPECT_EQ(machine.cpu(n).cpuid(1, 0).ebx >> 24, n & 0xFF);
  }
  EXPECT_EQ(Pmu(model_named("skylake")).cpuid(1, 0).ebx >> 24, 0u);
  const u64 before = machine.cpu(1).cpuid(1, 0).ebx;
  machine.cpu(1).reset();
  EXPECT_EQ(machine.cpu(1).cpuid(1, 0).ebx, before);
  EXPECT_NE(machine.cpu(0).state_hash(), machine.cpu(1).state_hash());
}

TEST(Machine, MayHaveCpusOfSeveralModels) {
  Machine machine({model_named("goldencove"), model_named("gracemont"), model_named("gracemont")});
  ASSERT_EQ(machine.cpus(), 3u);
  EXPECT_EQ(machine.cpu(0).cpuid(0x1A, 0).eax >> 24, 0x40u);  // SDM vol. 2: Core
  EXPECT_EQ(machine.cpu(1).cpuid(0x1A, 0).eax >> 24, 0x20u);  // Atom
  EXPECT_TRUE(machine.cpu(0).rdmsr(msr::PERF_METRICS).ok());
  EXPECT_FALSE(machine.cpu(2).rdmsr(msr::PERF_METRICS).ok());
  ASSERT_TRUE(machine.map_memory(0x1000, 8));
  const u64 stored = 0x1234;
  EXPECT_EQ(machine.cpu(0).write_memory(0x1000, std::as_bytes(std::span(&stored, 1))), Fault::none);
  EXPECT_EQ(machine.cpu(2).memory(0x1000, 2)[0], std::byte{0x34});
}

TEST(Machine, KeepsTheLocalApicOfEachCpuToItself) {
  CpuModel model = model_named("skylake");
  model.has_x2apic = false;
  Machine machine(model, 2);
  const std::array nmi{std::byte{0}, std::byte{4}, std::byte{0}, std::byte{0}};
  std::array<std::byte, 4> entry{};
  EXPECT_EQ(machine.cpu(0).write_memory(0xFEE00340, nmi), Fault::none);
  EXPECT_EQ(machine.cpu(1).read_memory(0xFEE00340, entry), Fault::none);
  EXPECT_EQ(entry[2], std::byte{1});  // masked, as RESET leaves it
}

/// Both CPUs under way: counting, sampling, one of them ahead.
Machine busy_machine() {
  Machine machine({model_named("skylake"), model_named("skylake-x")});
  EXPECT_TRUE(machine.map_memory(0x10000, 0x2000));
  sample_into(machine.cpu(0), 0x10000);
  sample_into(machine.cpu(1), 0x11000);
  retire(machine.cpu(0), 3);
  return machine;
}

TEST(Machine, EqualsItsSnapshotUntilOneInstructionRetires) {
  Machine machine = busy_machine();
  const Machine snapshot = machine;
  EXPECT_EQ(snapshot.state_hash(), machine.state_hash());
  retire(machine.cpu(1), 1);
  EXPECT_NE(snapshot.state_hash(), machine.state_hash());
}

TEST(Machine, GoesOnLikeItsSnapshot) {
  Machine machine = busy_machine(), snapshot = machine;
  for (Machine* each : {&machine, &snapshot}) {
    retire(each->cpu(1), 7, 0x500000);
    retire(each->cpu(0), 4, 0x600000);
    each->cpu(1).wait_until(100, {});
  }
  EXPECT_EQ(snapshot.state_hash(), machine.state_hash());
  EXPECT_EQ(sampled_ips(snapshot.cpu(0), 0x11000), sampled_ips(machine.cpu(0), 0x11000));
}

TEST(Machine, SnapshotsHaveOneMemoryOfTheirOwn) {
  Machine machine = busy_machine(), snapshot = machine;
  retire(snapshot.cpu(1), 2, 0x500000);
  EXPECT_THAT(sampled_ips(snapshot.cpu(0), 0x11000), testing::ElementsAre(0x500004));
  EXPECT_THAT(sampled_ips(machine.cpu(0), 0x11000), testing::IsEmpty());
  EXPECT_THAT(sampled_ips(machine.cpu(1), 0x11000), testing::IsEmpty());
}

TEST(Machine, TakesASnapshotBackWhereItsCpusAre) {
  Machine machine = busy_machine();
  Pmu& first = machine.cpu(0);
  Pmu& second = machine.cpu(1);
  const Machine snapshot = machine;
  retire(second, 2, 0x500000);
  machine = snapshot;
  EXPECT_EQ(&machine.cpu(1), &second);
  EXPECT_EQ(machine.state_hash(), snapshot.state_hash());
  retire(second, 2, 0x700000);
  EXPECT_THAT(sampled_ips(first, 0x11000), testing::ElementsAre(0x700004));

  machine = Machine(model_named("icelake"));
  EXPECT_EQ(machine.cpus(), 1u);
  machine = snapshot;
  EXPECT_EQ(machine.state_hash(), snapshot.state_hash());
}

TEST(Machine, ThatIsMovedTakesItsCpusWithIt) {
  Machine machine = busy_machine();
  Pmu& second = machine.cpu(1);
  const u64 hash = machine.state_hash();
  Machine moved = std::move(machine);
  EXPECT_EQ(&moved.cpu(1), &second);
  EXPECT_EQ(moved.state_hash(), hash);
  retire(second, 2, 0x500000);
  EXPECT_THAT(sampled_ips(moved.cpu(0), 0x11000), testing::ElementsAre(0x500004));
  machine = moved;
  EXPECT_EQ(machine.state_hash(), moved.state_hash());
}

TEST(Machine, GivesACopyOfACpuMemoryOfItsOwn) {
  Machine machine = busy_machine();
  Pmu alone = machine.cpu(1);
  EXPECT_EQ(alone.state_hash(), machine.cpu(1).state_hash());
  retire(alone, 2, 0x500000);
  EXPECT_THAT(sampled_ips(alone, 0x11000), testing::ElementsAre(0x500004));
  EXPECT_THAT(sampled_ips(machine.cpu(1), 0x11000), testing::IsEmpty());

  machine.cpu(1) = alone;  // with the memory, which CPU 0 sees
  EXPECT_THAT(sampled_ips(machine.cpu(0), 0x11000), testing::ElementsAre(0x500004));
  machine.cpu(1) = Pmu(alone);
  retire(machine.cpu(1), 3, 0x600000);
  EXPECT_THAT(sampled_ips(machine.cpu(0), 0x11000), testing::ElementsAre(0x500004, 0x600008));
}

TEST(Machine, OfOneCpuIsWhatAPmuAloneIs) {
  Machine machine(model_named("skylake"));
  Pmu alone(model_named("skylake"));
  EXPECT_TRUE(machine.map_memory(0x10000, 0x1000) && alone.map_memory(0x10000, 0x1000));
  for (Pmu* cpu : {&machine.cpu(0), &alone}) {
    sample_into(*cpu, 0x10000);
    retire(*cpu, 9);
  }
  EXPECT_EQ(machine.cpu(0).state_hash(), alone.state_hash());
}

/// Draws what a CPU and its software do, in their own 64 KiB of memory.
class Walk : public PmiHandler {
 public:
  static constexpr u64 bytes = 0x10000;
  Walk(Pmu& cpu, u64 memory, u64 seed) : cpu_(cpu), memory_(memory), dice_(seed) {
    EXPECT_TRUE(cpu.map_memory(memory, bytes));
    cpu.set_pmi_handler(this);
    program();
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void step() {
    switch (dice_.below(16)) {
      case 0:
        return program();
      case 1:
        return write_any();
      case 2:
        return cpu_.wait_until(cpu_.now() + dice_.below(100), {.cpl = Cpl::kernel});
      case 3:
        return static_cast<void>(cpu_.xsaves(memory_ + 0x8000, dice_.bits64()));
      case 4:
        return static_cast<void>(cpu_.xrstors(memory_ + 0x8000, dice_.bits64()));
      case 5:
        return dice_.one_in(4) ? cpu_.reset() : cpu_.debug_exception();
      default:
        for (u64 n = 1 + dice_.below(20); n != 0; --n) retire_one();
    }
  }
  void handle_pmi(const InterruptFrame& frame) override {
    pmis.push_back(cpu_.now());
    pmis.push_back(frame.registers.rip);
    try_write(msr::PERF_GLOBAL_STATUS_RESET, ~u64{0});
    reload();
    try_write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }

  std::vector<u64> pmis;

 private:
  // An area and records of such a width that old and new models take them for theirs, or for none.
  void program() {
    const u64 buffer = memory_ + 0x1000, end = buffer + 0x3000;
    const DsArea64 ds{.bts_base = end,
                      .bts_index = end,
                      .bts_maximum = end + 0x600,
                      .bts_threshold = end + 0x300,
                      .pebs_base = buffer,
                      .pebs_index = buffer,
                      .pebs_maximum = end,
                      .pebs_threshold = buffer + 0x800};
    EXPECT_EQ(cpu_.write_memory(memory_, std::as_bytes(std::span(&ds, 1))), Fault::none);
    if (cpu_.model().pebs.dtes64) try_write(msr::DS_AREA, memory_);
    try_write(msr::PEBS_BASE, buffer | 1);
    try_write(msr::PEBS_INDEX, 0x80000100);
    for (u32 n = 0; n < 4; ++n) {
      const EventDefinition& event = cpu_.model().events[dice_.below(cpu_.model().events.size())];
      const u64 select = dice_.one_in(2) ? 0xC0 : event.event | u64{event.umask & 0xFFu} << 8;
      try_write(msr::PERFEVTSEL0 + n, select | msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT);
    }
    try_write(msr::FIXED_CTR_CTRL, dice_.bits64());
    for (u32 n = 0; n < 4; ++n)  // architectural PEBS
      try_write(msr::V6_GP0_CFG_C + n * msr::V6_STRIDE,
                (dice_.bits64() & bits(63, 35)) | (-u64{20} & low_bits(32)));
    try_write(msr::PEBS_ENABLE, dice_.one_in(3) ? 0 : dice_.below(16));
    try_write(msr::LBR_SELECT, 0);
    try_write(msr::ARCH_LBR_CTL, ~lbr_ctl::CALL_STACK);
    try_write(msr::DEBUGCTL, dice_.bits64() & (msr::debugctl::LBR | msr::debugctl::FREEZE_LBRS_ON_PMI |
                                               msr::debugctl::TR | msr::debugctl::BTS));
    reload();
    try_write(msr::PERF_GLOBAL_CTRL, cpu_.model().counters());
    try_write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void reload() {
    for (u32 n = 0; n < 4; ++n) try_write(msr::PMC0 + n, -(5 + dice_.below(40)));
  }
  void write_any() {
    const auto registers = cpu_.registers().all();
    const Register& any = registers[dice_.below(registers.size())];
    if (any.address != msr::DS_AREA && any.address != msr::PEBS_BASE)  // they lead out of this CPU's memory
      try_write(any.address, dice_.bits64());
  }
  void try_write(u32 address, u64 value) {
    if (const Register* known = cpu_.registers().find(address); known != nullptr)
      static_cast<void>(cpu_.wrmsr(address, value & known->writable));
  }
  void retire_one() {
    const u64 ip = 0x400000 + 4 * dice_.below(1000);
    Retirement r{.ip = ip, .next_ip = ip + 4, .cycle = cpu_.now() + dice_.below(4), .length = 4};
    r.signals = {Signal::instruction};
    for (u64 n = dice_.below(4); n != 0; --n)
      r.signals.add(static_cast<Signal>(dice_.below(static_cast<u64>(Signal::lbr_insert))));
    if (dice_.one_in(3)) {
      r.branch = BranchKind::direct_jump;
      r.taken = true;
      r.next_ip = 0x400000 + 4 * dice_.below(1000);
    }
    cpu_.retire(r);
  }

  Pmu& cpu_;
  u64 memory_;
  Dice dice_;
};

void expect_alike(Pmu& a, Pmu& b, u64 memory) {
  for (const Register& entry : a.registers().all()) {
    const auto expected = b.rdmsr(entry.address), found = a.rdmsr(entry.address);
    ASSERT_EQ(found.ok(), expected.ok()) << entry.name();
    ASSERT_EQ(found.value_or(0), expected.value_or(0)) << entry.name();
  }
  ASSERT_TRUE(std::ranges::equal(a.memory(memory, Walk::bytes), b.memory(memory, Walk::bytes)));
}

// Without a store to what the other reads, two CPUs are two Pmus, in whatever order they take turns.
TEST(MachineProperty, CpusWithMemoryApartAreAsTwoPmus) {
  constexpr u64 memories[] = {0x100000, 0x110000};  // neighbours
  const std::span<const CpuModel> models = cpu_models();
  std::size_t pmis = 0;
  u64 written = 0;
  for (u64 seed = 0; seed < 60; ++seed) {
    Dice turns(seed);
    const CpuModel &first = models[turns.below(models.size())], &second = models[turns.below(models.size())];
    Machine machine({first, second});
    Walk together[] = {{machine.cpu(0), memories[0], 2 * seed}, {machine.cpu(1), memories[1], 2 * seed + 1}};
    Pmu pmus[] = {Pmu(first), Pmu(second)};
    Walk apart[] = {{pmus[0], memories[0], 2 * seed}, {pmus[1], memories[1], 2 * seed + 1}};

    unsigned left[] = {100, 100};
    for (Walk& walk : apart)
      for (unsigned n = 0; n < 100; ++n) walk.step();
    while (left[0] + left[1] != 0) {
      const unsigned n = left[0] == 0 || (left[1] != 0 && turns.one_in(2)) ? 1 : 0;
      --left[n];
      together[n].step();
      if (turns.one_in(20)) {
        const Machine snapshot = machine;
        machine = snapshot;
      }
    }
    for (const unsigned n : {0u, 1u}) {
      expect_alike(machine.cpu(n), pmus[n], memories[n]);
      ASSERT_EQ(together[n].pmis, apart[n].pmis);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " CPU " << n;
      pmis += together[n].pmis.size();
      written += pmus[n].assists(AssistOutcome::wrote);
    }
  }
  EXPECT_GT(pmis, 300u);
  EXPECT_GT(written, 100u);
}

}  // namespace
}  // namespace pmusim::machine_test
