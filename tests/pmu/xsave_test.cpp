// SPDX-License-Identifier: MIT
// The XSAVE instructions on a whole processor: memory, registers of every model, and the LBR component.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "pmusim/pmu/pmu.h"
#include "tests/pmu/units.h"
#include "tests/xsave/area.h"

namespace pmusim::xsave_test {
namespace {

using enum StateComponent;
constexpr u64 address = 0x10000, other_address = 0x20000, area_bytes = 0x4000;

CpuModel model(std::string_view name) { return find_cpu_model(name).value(); }

/// A processor with memory for two areas, and everything enabled that it has.
Pmu machine(const CpuModel& cpu) {
  Pmu pmu(cpu);
  EXPECT_TRUE(pmu.map_memory(address, area_bytes));
  EXPECT_TRUE(pmu.map_memory(other_address, area_bytes));
  EXPECT_EQ(pmu.xsetbv(0, cpu.xcr0), cpu.xcr0 != 0 ? Fault::none : Fault::ud);
  EXPECT_EQ(pmu.wrmsr(msr::XSS, cpu.xss), cpu.has_xsaves ? Fault::none : Fault::gp);
  return pmu;
}
u64 read(Pmu& pmu, u64 at) {
  u64 value = 0;
  EXPECT_EQ(pmu.read_memory(at, std::as_writable_bytes(std::span(&value, 1))), Fault::none);
  return value;
}
void write(Pmu& pmu, u64 at, u64 value) {
  ASSERT_EQ(pmu.write_memory(at, std::as_bytes(std::span(&value, 1))), Fault::none);
}
void write_header(Pmu& pmu, u64 xstate_bv, u64 components) {
  write(pmu, address + 512, xstate_bv);
  write(pmu, address + 520, xsave::compacted | components);
}

TEST(Xsaves, ExistsWhereCpuidSaysSo) {
  for (const CpuModel& cpu : cpu_models()) {
    Pmu pmu = machine(cpu);
    const bool listed = (pmu.cpuid(0xD, 1).eax & 8) != 0;
    EXPECT_EQ(pmu.xsaves(address, ~u64{0}), listed ? Fault::none : Fault::ud) << cpu.name;
    EXPECT_EQ(pmu.xrstors(address, ~u64{0}), listed ? Fault::none : Fault::ud) << cpu.name;
  }
}

TEST(Xsaves, FaultsWhereTheAreaIsNotMapped) {
  Pmu pmu = machine(model("icelake"));
  ASSERT_TRUE(pmu.map_memory(0x40000, 576));
  EXPECT_EQ(pmu.xsaves(0x80000, 0xE7), Fault::pf);
  EXPECT_EQ(pmu.xsaves(0x40000, 0xE7), Fault::pf) << "the header has room, AVX has none";
  EXPECT_EQ(pmu.xsaves(0x40000, 0x3), Fault::none);
  EXPECT_EQ(pmu.xrstors(0x80000, 0xE7), Fault::pf);
}

TEST(Xrstors, TakesAnImageWithCetBeforeLbr) {
  const CpuModel cpu = model("sapphirerapids");
  Pmu pmu = machine(cpu);
  const u64 components = state_bits(cet_u, lbr);
  ASSERT_EQ(pmu.wrmsr(msr::PL3_SSP, 0x7000), Fault::none);
  ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_FROM_0, 0x1234), Fault::none);
  ASSERT_EQ(pmu.xsaves(address, components), Fault::none);
  EXPECT_EQ(read(pmu, address + 584), 0x7000u);
  EXPECT_EQ(read(pmu, address + 592 + lbr_component::ENTRIES), 0x1234u) << "behind the 16 bytes of CET_U";

  ASSERT_EQ(pmu.wrmsr(msr::PL3_SSP, 0), Fault::none);
  ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_FROM_0, 0), Fault::none);
  ASSERT_EQ(pmu.xrstors(address, components), Fault::none);
  EXPECT_EQ(*pmu.rdmsr(msr::PL3_SSP), 0x7000u);
  EXPECT_EQ(*pmu.rdmsr(msr::ARCH_LBR_FROM_0), 0x1234u);
}

TEST(Xrstors, ChangesNothingWhereTheLbrComponentFaults) {
  Pmu pmu = machine(model("sapphirerapids"));
  ASSERT_EQ(pmu.wrmsr(msr::PL3_SSP, 0x7000), Fault::none);
  write_header(pmu, state_bits(cet_u, lbr), state_bits(cet_u, lbr));
  write(pmu, address + 592, u64{1} << 60);  // a reserved bit of LBR_CTL
  EXPECT_EQ(pmu.xrstors(address, ~u64{0}), Fault::gp);
  EXPECT_EQ(*pmu.rdmsr(msr::PL3_SSP), 0x7000u);
}

TEST(Cet, IsInItsInitialConfigurationWhenItsRegistersAreZero) {
  Pmu pmu = machine(model("tigerlake"));
  ASSERT_EQ(pmu.wrmsr(msr::PL3_SSP, 0x7000), Fault::none);
  ASSERT_EQ(pmu.xsaves(address, state_bit(cet_u)), Fault::none);
  EXPECT_EQ(read(pmu, address + 512), state_bit(cet_u));
  ASSERT_EQ(pmu.wrmsr(msr::PL3_SSP, 0), Fault::none);
  ASSERT_EQ(pmu.xsaves(address, state_bit(cet_u)), Fault::none);
  EXPECT_EQ(read(pmu, address + 512), 0u);
}

TEST(Xss, TakesOnlyTheSupervisorComponentsOfTheModel) {
  Pmu pmu(model("sapphirerapids"));
  EXPECT_EQ(*pmu.rdmsr(msr::XSS), 0u);
  EXPECT_EQ(pmu.wrmsr(msr::XSS, state_bit(lbr)), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::XSS, state_bit(x87)), Fault::gp) << "a user component";
  EXPECT_EQ(pmu.wrmsr(msr::XSS, state_bit(hwp)), Fault::gp) << "not of this model";
}

TEST(Xfd, KeepsTileDataFromAreasAndRegisters) {
  Pmu pmu = machine(model("sapphirerapids"));
  std::mt19937_64 random(5);
  const ExtendedState state = random_state(state_bits(tilecfg, tiledata), random);
  pmu.set_extended_state(&state);
  ASSERT_EQ(pmu.xsaves(address, state_bit(tiledata)), Fault::none);
  ASSERT_EQ(pmu.wrmsr(msr::XFD, state_bit(tiledata)), Fault::none);

  EXPECT_EQ(pmu.xrstors(address, state_bit(tiledata)), Fault::nm);
  EXPECT_EQ(*pmu.rdmsr(msr::XFD_ERR), state_bit(tiledata));
  EXPECT_EQ(pmu.xrstors(address, state_bit(tilecfg)), Fault::none) << "does not load it";
  ASSERT_EQ(pmu.xsaves(other_address, state_bits(tiledata)), Fault::none);
  EXPECT_EQ(read(pmu, other_address + 512), 0u);
  ASSERT_EQ(pmu.save(SaveInstruction::xsave, {.address = other_address, .features = state_bit(tiledata)}),
            Fault::none);
  EXPECT_EQ(read(pmu, other_address + 512), 0u);
  EXPECT_EQ(read(pmu, other_address + 2816), 0u) << "XSAVE stores the initial configuration";
}

TEST(Reset, DisablesAllComponentsButX87) {
  Pmu pmu = machine(model("sapphirerapids"));
  pmu.reset();
  EXPECT_EQ(*pmu.xgetbv(0), 1u);
  EXPECT_EQ(*pmu.rdmsr(msr::XSS), 0u);
}

/// Random legal components: what is not legal alone comes with what it needs, or goes.
u64 random_xcr0(const CpuModel& cpu, std::mt19937_64& random) {
  while (true) {
    const u64 value = (cpu.xcr0 & (random() | random())) | 1;
    if (xcr0_is_legal(value, cpu.xcr0)) return value;
  }
}

std::vector<u64> lbr_registers(Pmu& pmu) {
  std::vector<u64> values{*pmu.rdmsr(msr::ARCH_LBR_CTL)};
  for (u32 n = 0; n < PmuUnits::of(pmu).lbr().depth(); ++n)
    for (const u32 base : {msr::ARCH_LBR_FROM_0, msr::ARCH_LBR_TO_0, msr::ARCH_LBR_INFO_0})
      values.push_back(*pmu.rdmsr(base + n));
  return values;
}
void randomize_lbr(Pmu& pmu, std::mt19937_64& random) {
  ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_CTL, random() & 0x7F0007), Fault::none);
  for (u32 n = 0; n < PmuUnits::of(pmu).lbr().depth(); ++n) {
    ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_FROM_0 + n, random() & bits(46, 0)), Fault::none);
    ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_TO_0 + n, random() & bits(46, 0)), Fault::none);
    ASSERT_EQ(pmu.wrmsr(msr::ARCH_LBR_INFO_0 + n, random() & bits(15, 0)), Fault::none);
  }
}

/// All that software can see of the registers that XSAVES manages.
struct Snapshot {
  explicit Snapshot(Pmu& pmu) : state(pmu.extended_state()) {
    if (pmu.model().has_arch_lbr()) lbr_values = lbr_registers(pmu);
  }
  bool equal_in(StateComponent c, const Snapshot& other) const {
    return c == lbr ? lbr_values == other.lbr_values
                    : std::ranges::equal(state.component(c), other.state.component(c));
  }
  ExtendedState state;
  std::vector<u64> lbr_values;
};

class EveryModel : public testing::TestWithParam<CpuModel> {};

// Components that were asked for and enabled come back; all others stay as they are.
TEST_P(EveryModel, XsavesThenXrstorsIsTheIdentityOnAllEnabledState) {
  const CpuModel& cpu = GetParam();
  Pmu pmu = machine(cpu);
  std::mt19937_64 random(cpu.model);
  const auto randomize = [&] {
    ExtendedState state = random_state((cpu.xcr0 | cpu.xss) & (random() | random()), random);
    if (random() % 2 == 0) state.set_mxcsr(static_cast<u32>(random() & 0xFFC0));
    pmu.set_extended_state(&state);
    if (cpu.has_arch_lbr()) randomize_lbr(pmu, random);
  };
  for (int round = 0; round < 50; ++round) {
    const u64 xcr0 = random_xcr0(cpu, random), xss = cpu.xss & random();
    ASSERT_EQ(pmu.xsetbv(0, xcr0), Fault::none);
    ASSERT_EQ(pmu.wrmsr(msr::XSS, xss), Fault::none);
    const u64 saved = random() | random(), restored = saved & (random() | random());
    randomize();
    const Snapshot before(pmu);
    ASSERT_EQ(pmu.xsaves(address, saved), Fault::none);
    randomize();
    const Snapshot between(pmu);
    ASSERT_EQ(pmu.xrstors(address, restored), Fault::none);
    const Snapshot after(pmu);
    for (unsigned n = 0; n < xsave::component_count; ++n) {
      const auto c = static_cast<StateComponent>(n);
      if (c == lbr && !cpu.has_arch_lbr()) continue;
      const bool comes_back = ((xcr0 | xss) & restored & bit(n)) != 0;
      ASSERT_TRUE(after.equal_in(c, comes_back ? before : between))
          << cpu.name << " component " << n << std::hex << " XCR0 " << xcr0 << " XSS " << xss;
      if (comes_back && c != lbr) {
        ASSERT_EQ(after.state.in_use() & bit(n), before.state.in_use() & bit(n)) << cpu.name << " " << n;
      }
    }
    ASSERT_EQ(*pmu.xgetbv(0), xcr0);
  }
}

std::vector<CpuModel> models_with_xsaves() {
  std::vector<CpuModel> models;
  for (const CpuModel& cpu : cpu_models())
    if (cpu.has_xsaves) models.push_back(cpu);
  return models;
}
std::string name_of(const testing::TestParamInfo<CpuModel>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(models_with_xsaves()), name_of);

}  // namespace

void PrintTo(const CpuModel& cpu, std::ostream* out) { *out << cpu.name; }

}  // namespace pmusim::xsave_test
