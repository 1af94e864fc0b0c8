// SPDX-License-Identifier: MIT
// Instruction-based sampling by the Architecture Programmer's Manual vol. 2, 13.3, and by what Linux writes
// and reads. Values are literal.
#include <gmock/gmock.h>

#include "pmusim/arch/msr.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::ibs_test {
namespace {

constexpr u32 fetch_ctl = 0xC0011030, op_ctl = 0xC0011033, op_rip = 0xC0011034, op_data = 0xC0011035,
              op_data2 = 0xC0011036, op_data3 = 0xC0011037;
constexpr u64 en = bit(17), val = bit(18), by_ops = bit(19);

class Cpu : public PmiHandler {
 public:
  explicit Cpu(std::string_view name, u64 lvt = 0x400) : Cpu(model_named(name), lvt) {}
  explicit Cpu(CpuModel model, u64 lvt = 0x400) : pmu(std::move(model)) {
    pmu.set_pmi_handler(this);
    write(0x850, lvt);
  }
  static CpuModel model_named(std::string_view name) {
    CpuModel model = find_cpu_model(name).value();
    model.policies.pmi_skid_cycles = 0;
    return model;
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << address << " " << pmu.why();
  }
  u64 read(u32 address) {
    const auto value = pmu.rdmsr(address);
    EXPECT_TRUE(value.ok()) << std::hex << address << " " << pmu.why();
    return value.value_or(~u64{0});
  }
  static Retirement instruction(u64 ip, u32 uops = 1) {
    Retirement r{.ip = ip, .next_ip = ip + 4, .signals = {Signal::instruction}, .length = 4};
    r.quantities[static_cast<unsigned>(Quantity::uops)] = uops;
    return r;
  }
  void retire(Retirement r, u64 cycles = 1) {
    r.cycle = pmu.now() + cycles;
    pmu.retire(r);
  }
  /// Straight code, four bytes each.
  void retire_code(u64 from, unsigned count) {
    for (unsigned n = 0; n < count; ++n) retire(instruction(from + 4 * n));
  }
  void handle_pmi(const InterruptFrame&) override { ++interrupts; }

  Pmu pmu;
  unsigned interrupts = 0;
};

/// A load of eight bytes as the memory hierarchy answered it.
Retirement load_from(CacheLevel level, u32 latency, std::span<MemoryAccess> storage,
                     TlbLevel tlb = TlbLevel::l1) {
  storage[0] = {.address = 0x7F0012345678, .bytes = 8, .level = level, .tlb = tlb, .latency_cycles = latency};
  Retirement r = Cpu::instruction(0x401000);
  r.memory = storage.first(1);
  r.latency_cycles = latency + 5;
  return r;
}

TEST(IbsFetch, TagsTheFetchAfterThePeriod) {
  Cpu cpu("milan");
  cpu.write(fetch_ctl, bit(48) | 2);  // 32 fetches of 32 bytes: 8 instructions each
  cpu.retire_code(0x400000, 32 * 8);
  EXPECT_EQ(cpu.read(fetch_ctl), bit(48) | 2u << 16 | 2);
  cpu.retire_code(0x400000 + 32 * 32, 1);
  EXPECT_EQ(cpu.read(0xC0011031), 0x400400u);
  EXPECT_EQ(cpu.read(0xC0011032), 0x400400u);
  const u64 sampled = cpu.read(fetch_ctl);
  EXPECT_EQ(sampled & (bit(48) | bit(49) | bit(50) | bit(52)), bit(48) | bit(49) | bit(50) | bit(52));
  cpu.retire_code(0x400404, 1000);  // nothing moves until software writes
  EXPECT_EQ(cpu.read(fetch_ctl), sampled);
  EXPECT_EQ(cpu.interrupts, 1u);
}

TEST(IbsFetch, CountsWhereBranchesGoAndWhatTheyLeave) {
  Cpu cpu("milan");
  cpu.write(fetch_ctl, bit(48) | 0xFFFF);
  for (unsigned n = 0; n < 16; ++n) {  // two blocks each round: the target's, and what follows
    Retirement jump = Cpu::instruction(0x400020);
    jump.branch = BranchKind::direct_jump;
    jump.taken = true;
    jump.next_ip = 0x40001C;
    cpu.retire_code(0x40001C, 1);
    cpu.retire(jump);
  }
  EXPECT_EQ(field(cpu.read(fetch_ctl), 31, 16), 2u);
}

TEST(IbsFetch, StartsAtRandomOnlyWhereAsked) {
  Cpu cpu("genoa");
  std::set<unsigned> distances;
  for (unsigned round = 0; round < 64; ++round) {
    cpu.write(fetch_ctl, bit(57) | bit(48) | 4);
    unsigned fetches = 0;
    while ((cpu.read(fetch_ctl) & bit(49)) == 0) cpu.retire_code(0x400000 + 32 * fetches++, 8);
    distances.insert(64 + 1 - fetches);
  }
  EXPECT_GT(distances.size(), 8u);
  EXPECT_LE(*distances.rbegin(), 15u);
}

TEST(IbsFetch, OfZen2RestartsWhenEnabledAnew) {
  Cpu cpu("rome");
  cpu.write(fetch_ctl, bit(48) | 0x100);
  cpu.retire_code(0x400000, 8 * 48);
  cpu.write(fetch_ctl, bit(48) | 0x100);  // En stays: the count does
  EXPECT_EQ(field(cpu.read(fetch_ctl), 31, 16), 3u);
  cpu.write(fetch_ctl, 0x100);
  cpu.write(fetch_ctl, bit(48) | 0x100);
  EXPECT_EQ(field(cpu.read(fetch_ctl), 31, 16), 0u);
  Cpu milan("milan");
  milan.write(fetch_ctl, bit(48) | 0x100);
  milan.retire_code(0x400000, 8 * 48);
  milan.write(fetch_ctl, bit(48) | 0x100);
  EXPECT_EQ(field(milan.read(fetch_ctl), 31, 16), 0u);
}

TEST(IbsOp, TagsTheOpOfTheCycleAfterThePeriod) {
  Cpu cpu("milan");
  cpu.write(op_ctl, 0x2186A);  // 100,000 cycles
  cpu.retire(Cpu::instruction(0x1000), 100'000);
  EXPECT_EQ(cpu.read(op_ctl) & val, 0u);
  EXPECT_EQ(cpu.interrupts, 0u);
  cpu.retire(Cpu::instruction(0x2000), 1);
  EXPECT_EQ(cpu.read(op_rip), 0x2000u);
  EXPECT_EQ(cpu.read(op_ctl) & (val | en), val | en);
  cpu.retire(Cpu::instruction(0x3000), 1);
  EXPECT_EQ(cpu.interrupts, 1u);
  EXPECT_EQ(cpu.read(op_rip), 0x2000u);
}

TEST(IbsOp, CountsCyclesBetweenReadings) {
  Cpu cpu("milan");
  cpu.write(op_ctl, u64{500} << 32 | 0x2186A);
  cpu.retire(Cpu::instruction(0x1000), 1234);
  EXPECT_EQ(field(cpu.read(op_ctl), 58, 32), 1734u);
}

TEST(IbsOp, CountsOpsAndTagsTheNext) {
  Cpu cpu("milan");
  cpu.write(op_ctl, by_ops | en | 1);  // 16 ops
  cpu.retire(Cpu::instruction(0x1000, 10));
  cpu.retire(Cpu::instruction(0x2000, 6));  // the sixteenth
  EXPECT_EQ(cpu.read(op_ctl) & val, 0u);
  EXPECT_EQ(field(cpu.read(op_ctl), 58, 32), 16u);
  cpu.retire(Cpu::instruction(0x3000, 2));
  EXPECT_EQ(cpu.read(op_rip), 0x3000u);
  EXPECT_LT(field(cpu.read(op_ctl), 58, 32), 128u);  // random
}

/// The random bits that a sample leaves go on into the next period.
TEST(IbsOp, ComesEarlierByTheRandomBitsThatItLeaves) {  // scenario 30
  Cpu cpu("genoa");
  constexpr u64 period = 0x1000;
  const u64 armed = by_ops | en | period >> 4;
  cpu.write(op_ctl, armed);
  u64 ops = 0, samples = 0;
  for (; samples < 400; ++ops) {
    cpu.retire(Cpu::instruction(0x1000));
    const u64 control = cpu.read(op_ctl);
    if ((control & val) == 0) continue;
    ++samples;
    cpu.write(op_ctl, armed | (control & bits(38, 32)));
  }
  EXPECT_NEAR(static_cast<double>(ops) / 400, period + 1 - 63.5, 8);
}

CpuModel with_wrong_path(u32 ops) {
  CpuModel model = Cpu::model_named("genoa");
  model.policies.ibs_wrong_path_ops = ops;
  return model;
}

void retire_mispredicted(Cpu& cpu) {
  Retirement branch = Cpu::instruction(0x2000);
  branch.branch = BranchKind::conditional;
  branch.taken = branch.mispredicted = true;
  branch.next_ip = 0x3000;
  cpu.retire(branch);
}

TEST(IbsOp, LeavesNoSampleOfATagThatIsFlushed) {  // scenario 31
  Cpu cpu(with_wrong_path(40));
  cpu.write(0xC0010200, 0x1'004301CF);  // ops tagged
  cpu.write(0xC0010202, 0x1'004302CF);  // and retired
  cpu.write(op_ctl, by_ops | en | 0x100);
  cpu.retire(Cpu::instruction(0x1000, 0xFF0));
  retire_mispredicted(cpu);
  EXPECT_EQ(cpu.read(op_ctl) & val, 0u);
  EXPECT_LT(field(cpu.read(op_ctl), 58, 32), 0x80u);
  EXPECT_EQ(cpu.read(0xC0010201), 1u);
  EXPECT_EQ(cpu.read(0xC0010203), 0u);
  EXPECT_EQ(cpu.interrupts, 0u);
  cpu.retire(Cpu::instruction(0x1000, 0x1000));
  EXPECT_EQ(cpu.read(op_ctl) & val, val);
  EXPECT_EQ(cpu.read(0xC0010201), 2u);
  EXPECT_EQ(cpu.read(0xC0010203), 1u);
}

TEST(IbsOp, CountsTheWrongPathToo) {
  Cpu cpu(with_wrong_path(40));
  cpu.write(op_ctl, by_ops | en | 0x100);
  retire_mispredicted(cpu);
  EXPECT_EQ(field(cpu.read(op_ctl), 58, 32), 41u);
  Cpu by_cycles(with_wrong_path(40));
  by_cycles.write(op_ctl, en | 1);  // 16 cycles
  by_cycles.retire(Cpu::instruction(0x1000), 14);
  retire_mispredicted(by_cycles);  // 7 cycles of six ops
  EXPECT_EQ(by_cycles.read(op_ctl) & val, 0u);
  EXPECT_LT(field(by_cycles.read(op_ctl), 58, 32), 0x80u);
}

TEST(IbsOp, HasPeriodsOf27Bits) {
  Cpu cpu("milan");
  cpu.write(op_ctl, 0x12E848);  // 2,000,000 cycles
  cpu.write(op_ctl, 0x12E848 | en);
  cpu.retire(Cpu::instruction(0x1000), 2'000'000);
  EXPECT_EQ(cpu.read(op_ctl) & val, 0u);
  cpu.retire(Cpu::instruction(0x1000));
  EXPECT_EQ(cpu.read(op_ctl) & val, val);
  EXPECT_EQ(cpu.pmu.wrmsr(op_ctl, bit(27)), Fault::gp);
}

TEST(IbsOp, MeetsALoadThatHitsL2) {
  std::array<MemoryAccess, 1> access;
  Cpu cpu("milan");
  cpu.write(op_ctl, by_ops | en);
  cpu.retire(load_from(CacheLevel::l2, 14, access));
  EXPECT_EQ(cpu.read(op_data3), 0x0000000E'01060081u);
  EXPECT_EQ(cpu.read(op_data2), 0u);
  EXPECT_EQ(cpu.read(0xC0011038), 0x7F0012345678u);
  EXPECT_EQ(cpu.read(op_data), 19u << 16 | 5u);  // 19 cycles from tag to retirement, 5 of them complete
}

TEST(IbsOp, NamesWhereDataCameFromByGeneration) {
  const struct {
    const char* model;
    CacheLevel level;
    u64 data2;
  } rows[] = {{"rome", CacheLevel::l3, 0x22},   {"milan", CacheLevel::l3, 0x02},
              {"genoa", CacheLevel::l3, 0x21},  {"turin", CacheLevel::l3, 0x21},
              {"rome", CacheLevel::memory, 3},  {"genoa", CacheLevel::memory, 3},
              {"milan", CacheLevel::memory, 3}, {"genoa", CacheLevel::l1, 0}};
  for (const auto& row : rows) {
    std::array<MemoryAccess, 1> access;
    Cpu cpu(row.model);
    cpu.write(op_ctl, by_ops | en);
    cpu.retire(load_from(row.level, 200, access));
    EXPECT_EQ(cpu.read(op_data2), row.data2) << row.model;
  }
}

TEST(IbsOp, MeetsALockedReadModifyWrite) {
  const std::array<MemoryAccess, 2> accesses{
      MemoryAccess{
          .address = 0x1000, .bytes = 4, .kind = AccessKind::load, .locked = true, .latency_cycles = 4},
      {.address = 0x1000, .bytes = 4, .kind = AccessKind::store, .locked = true}};
  Cpu cpu("genoa");
  cpu.write(op_ctl, by_ops | en);
  Retirement r = Cpu::instruction(0x401000);
  r.memory = accesses;
  cpu.retire(r);
  EXPECT_EQ(cpu.read(op_data3), 0x00C68003u);  // width 3: four bytes
}

TEST(IbsOp, MeetsBranches) {
  Cpu cpu("genoa");
  Retirement branch = Cpu::instruction(0x401000);
  branch.branch = BranchKind::conditional;
  branch.mispredicted = true;
  cpu.write(op_ctl, by_ops | en);
  cpu.retire(branch);
  EXPECT_EQ(cpu.read(op_data) >> 34, 0b1100u);  // a branch, mispredicted, not taken
  EXPECT_EQ(cpu.read(0xC001103B), 0x401004u);
  branch.branch = BranchKind::near_return;
  branch.mispredicted = false;
  branch.taken = true;
  branch.next_ip = 0x402000;
  cpu.write(op_ctl, by_ops | en);
  cpu.retire(branch);
  EXPECT_EQ(cpu.read(op_data) >> 34, 0b1011u);
  EXPECT_EQ(cpu.read(0xC001103B), 0x402000u);
}

TEST(IbsOp, CanKeepL3MissesAlone) {
  std::array<MemoryAccess, 1> access;
  Cpu cpu("genoa");
  for (unsigned n = 0; n < 1000; ++n) {
    cpu.write(op_ctl, bit(16) | by_ops | en);
    cpu.retire(load_from(n % 400 == 10 ? CacheLevel::memory
                         : n % 3 == 0  ? CacheLevel::l3
                                       : CacheLevel::l1,
                         300, access));
  }
  cpu.retire_code(0x1000, 1);
  EXPECT_EQ(cpu.interrupts, 3u);
  Cpu milan("milan");
  EXPECT_EQ(milan.pmu.wrmsr(op_ctl, bit(16)), Fault::gp);
}

TEST(IbsOp, CanKeepSlowLoadsAlone) {
  std::array<MemoryAccess, 1> access;
  Cpu cpu("turin");
  for (const u32 latency : {256u, 257u}) {
    cpu.write(op_ctl, bit(63) | u64{1} << 59 | bit(16) | by_ops | en);
    cpu.retire(load_from(CacheLevel::memory, latency, access));
    EXPECT_EQ((cpu.read(op_ctl) & val) != 0, latency == 257u) << latency;
  }
  Cpu genoa("genoa");
  EXPECT_EQ(genoa.pmu.wrmsr(op_ctl, bit(63)), Fault::gp);
}

TEST(IbsInterrupt, IsLostWhereItsEntryIsMasked) {
  Cpu cpu("genoa", 0x10400);
  cpu.write(op_ctl, by_ops | en);
  cpu.retire_code(0x1000, 3);
  EXPECT_EQ(cpu.read(op_ctl) & val, val);
  cpu.write(0x850, 0x400);
  cpu.retire_code(0x1000, 3);
  EXPECT_EQ(cpu.interrupts, 0u);
}

TEST(IbsInterrupt, ComesBesideThatOfACounter) {
  Cpu cpu("genoa");
  cpu.write(0x834, 0x400);
  cpu.write(0xC0010201, ~u64{0});
  cpu.write(0xC0010200, 0x5100C0);
  cpu.write(op_ctl, by_ops | en);
  cpu.retire_code(0x1000, 1);
  EXPECT_EQ(cpu.read(0xC0000300), 1u);
  EXPECT_EQ(cpu.read(op_ctl) & val, val);
  cpu.retire_code(0x1004, 2);
  EXPECT_EQ(cpu.interrupts, 2u);
}

TEST(Ibs, IsWhatCpuidSays) {
  const struct {
    const char* model;
    u32 caps;
  } rows[] = {{"rome", 0x3FF}, {"milan", 0x3FF}, {"genoa", 0xBFF}, {"turin", 0x81BFF}};
  for (const auto& row : rows) {
    Cpu cpu(row.model);
    EXPECT_EQ(cpu.pmu.cpuid(0x80000001, 0).ecx >> 10 & 1, 1u);
    EXPECT_EQ(cpu.pmu.cpuid(0x8000001B, 0).eax, row.caps) << row.model;
    EXPECT_EQ(cpu.read(0xC001103A), 0x100u);
  }
  Pmu naples(find_cpu_model("naples").value());  // whose firmware hides it
  EXPECT_EQ(naples.cpuid(0x80000001, 0).ecx >> 10 & 1, 0u);
  EXPECT_EQ(naples.rdmsr(op_ctl).error(), Fault::gp);
  Pmu skylake(find_cpu_model("skylake").value());
  EXPECT_EQ(skylake.rdmsr(op_ctl).error(), Fault::gp);
}

TEST(Ibs, IsPartOfTheValueOfACpu) {
  Cpu cpu("genoa");
  cpu.write(fetch_ctl, bit(57) | bit(48) | 1);
  cpu.write(op_ctl, by_ops | en | 3);
  cpu.retire_code(0x1000, 30);
  Cpu copy = cpu;
  copy.pmu.set_pmi_handler(&copy);
  EXPECT_EQ(copy.pmu.state_hash(), cpu.pmu.state_hash());
  for (Cpu* each : {&cpu, &copy}) {
    for (unsigned n = 0; n < 50; ++n) {
      each->retire_code(0x2000 + 4 * n, 5);
      each->write(op_ctl, (each->read(op_ctl) & bits(38, 32)) | by_ops | en | 2);
      each->write(fetch_ctl, bit(57) | bit(48) | 1);
    }
  }
  EXPECT_EQ(copy.pmu.state_hash(), cpu.pmu.state_hash());
}

}  // namespace
}  // namespace pmusim::ibs_test
