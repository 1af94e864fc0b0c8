// SPDX-License-Identifier: MIT
// What the register file promises beside the conformance table: derivation, aliases, fields, reset values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "pmusim/arch/debug_store.h"
#include "pmusim/pmu/pmu.h"
#include "tests/pmu/units.h"

namespace pmusim {
namespace {

/// Values that software might write: event selects that count something, single bits, noise.
class Values {
 public:
  u64 for_register(const Register& r) {
    switch (draw(4)) {
      case 0:
        return bits() & r.writable;
      case 1:
        return bit(draw(64)) & r.writable;
      case 2:
        return 0;
      default:
        return (0x430000 | (draw(2) == 0 ? 0xC0 : 0xC4)) & r.writable;
    }
  }
  u64 bits() { return engine_(); }
  unsigned draw(unsigned below) { return static_cast<unsigned>(engine_() % below); }

 private:
  std::mt19937_64 engine_{2};
};

// Not only the owner of a register derives from it: off-core filters and PEBS enables reach the counters.
TEST(RegisterFile, DerivedStateIsUpToDateAfterEveryWrite) {
  Values values;
  for (const CpuModel& model : cpu_models()) {
    Pmu pmu(model);
    ASSERT_TRUE(PmuUnits::of(pmu).is_derived()) << model.name;
    const std::span<const Register> registers = pmu.registers().all();
    for (unsigned round = 0; round < 4; ++round) {
      for (const Register& r : registers) {
        if (r.read_only) continue;
        static_cast<void>(pmu.wrmsr(r.address, values.for_register(r)));
        ASSERT_TRUE(PmuUnits::of(pmu).is_derived()) << model.name << " after a write of " << r.name();
      }
    }
  }
}

/// IA32_PERF_GLOBAL_INUSE[63], said again from what the other registers read.
bool pmi_in_use(Pmu& pmu) {
  const auto any = [&](u32 first, unsigned count, u32 stride, u64 mask) {
    for (unsigned n = 0; n < count; ++n)
      if ((pmu.rdmsr(first + n * stride).value_or(0) & mask) != 0) return true;
    return false;
  };
  const bool arch = pmu.model().has_arch_pebs();
  return any(msr::PERFEVTSEL0, 16, 1, bit(20)) || any(msr::FIXED_CTR_CTRL, 1, 1, 0x88888888) ||
         any(msr::PEBS_ENABLE, 1, 1, pmu.model().counters()) ||
         (arch && (any(msr::V6_GP0_CFG_C, 32, 4, bit(63)) || any(msr::V6_FX0_CFG_C, 16, 4, bit(63))));
}

TEST(RegisterFile, PmiInUseFollowsTheRegistersInAnyOrderOfWrites) {
  Values values;
  for (const CpuModel& model : cpu_models()) {
    if (model.perfmon_version < 4) continue;
    Pmu pmu(model);
    std::vector<u32> addresses{msr::PERFEVTSEL0,  msr::FIXED_CTR_CTRL, msr::PEBS_ENABLE,
                               msr::V6_GP0_CFG_C, msr::V6_FX0_CFG_C,   msr::DEBUGCTL};
    for (unsigned round = 0; round < 60; ++round) {
      const Register* const r =
          pmu.registers().find(addresses[values.draw(static_cast<unsigned>(addresses.size()))]);
      if (r == nullptr) continue;
      ASSERT_EQ(pmu.wrmsr(r->address, values.draw(2) == 0 ? 0 : r->writable & values.bits()), Fault::none);
      ASSERT_EQ((*pmu.rdmsr(msr::PERF_GLOBAL_INUSE) >> 63) != 0, pmi_in_use(pmu))
          << model.name << " after a write of " << r->name();
    }
  }
}

/// Counter 2 of a Pmu with either kind of enable, which has overflowed and waits for its record.
struct Waiting {
  explicit Waiting(std::string_view name) : pmu(*find_cpu_model(name)) {
    write(enable_address, enable);
    write(msr::PERFEVTSEL0 + 2, 0x4300C0);
    write(msr::A_PMC0 + 2, low_bits(48));
    pmu.retire({.cycle = 1, .signals = {Signal::instruction}});
    EXPECT_TRUE(waits()) << name;
  }
  void write(u32 address, u64 value) { ASSERT_EQ(pmu.wrmsr(address, value), Fault::none); }
  bool waits() const { return PmuUnits::of(pmu).pebs().busy(); }

  Pmu pmu;
  const u32 enable_address = pmu.model().has_arch_pebs() ? msr::V6_GP0_CFG_C + 8 : msr::PEBS_ENABLE;
  const u64 enable = pmu.model().has_arch_pebs() ? pebs::cfg_c::ENABLE : bit(2);
};

TEST(RegisterFile, ACounterResumesWaitingOnceItsPebsEnableIsBack) {
  for (const std::string_view name : {"lioncove", "cougarcove"}) {
    Waiting counter(name);
    counter.write(counter.enable_address, 0);
    EXPECT_FALSE(counter.waits()) << name;
    counter.write(counter.enable_address, counter.enable);
    EXPECT_TRUE(counter.waits()) << name;
  }
}

TEST(RegisterFile, ACounterLoadedWithoutPebsEnableDoesNotWait) {
  for (const auto& [name, alias] : {std::pair{"lioncove", msr::A_PMC0 + 2},
                                    {"lioncove", msr::PMC0 + 2},
                                    {"cougarcove", msr::V6_GP0_CTR + 2 * msr::V6_STRIDE}}) {
    Waiting counter(name);
    counter.write(counter.enable_address, 0);
    counter.write(alias, 0);
    counter.write(counter.enable_address, counter.enable);
    EXPECT_FALSE(counter.waits()) << name;
  }
}

TEST(RegisterFile, AliasesShowOneRegisterAndSayWhich) {
  for (const CpuModel& model : cpu_models()) {
    Pmu pmu(model);
    for (const Register& r : pmu.registers().all()) {
      if (r.storage == r.address || pmu.registers().find(r.storage) == nullptr) continue;
      const u64 value = r.row.ends_with("CFG_A") ? 0x4300C4 : 0x1234;
      ASSERT_EQ(pmu.wrmsr(r.address, value), Fault::none) << model.name << ' ' << r.name();
      EXPECT_EQ(pmu.rdmsr(r.storage).value_or(0), value) << model.name << ' ' << r.name();
    }
  }
  const Pmu lion_cove(*find_cpu_model("lioncove"));
  EXPECT_EQ(lion_cove.registers().find(0x1908)->storage, 0xC3u);   // GP2_CTR
  EXPECT_EQ(lion_cove.registers().find(0x1909)->storage, 0x188u);  // GP2_CFG_A
  EXPECT_EQ(lion_cove.registers().find(0x4C3)->storage, 0xC3u);    // A_PMC2
  EXPECT_EQ(lion_cove.registers().find(0x1984)->storage, 0x30Au);  // FX1_CTR
}

TEST(RegisterFile, EveryRegisterResetsToWhatItsRowSays) {
  for (const CpuModel& model : cpu_models()) {
    Pmu pmu(model);
    for (const Register& r : pmu.registers().all()) {
      if (r.write_only) continue;
      EXPECT_EQ(pmu.rdmsr(r.address).value_or(~r.reset), r.reset) << model.name << ' ' << r.name();
    }
  }
}

TEST(RegisterFile, EveryRegistersStoredBitsAreInFields) {
  for (const CpuModel& model : cpu_models()) {
    Pmu pmu(model);
    for (const Register& r : pmu.registers().all()) {
      const bool takes_nothing = r.write_only && r.writable == 0;  // what counts is that it is written
      EXPECT_TRUE(!r.fields.empty() || takes_nothing) << model.name << ' ' << r.name();
      static_cast<void>(pmu.wrmsr(r.address, r.writable & low_bits(47)));
      const u64 named = bits_on(r.fields, model, r.number);
      EXPECT_EQ(pmu.rdmsr(r.address).value_or(0) & ~named, 0u) << model.name << ' ' << r.name();
    }
  }
}

/// A unit of a user: rows need no more than a type.
class Thermometer {
 public:
  void derive() { ++derivations; }
  static RowFamilies<Thermometer> registers(Vendor) {
    static constexpr Field fields[] = {{bits(6, 0), "degrees"}, {bit(31), "valid"}};
    static constexpr Row<Thermometer> rows[] = {
        {.address = 0x19C,
         .name = "IA32_THERM_STATUS",
         .fields = fields,
         .read = read_word<&Thermometer::status_>,
         .write = write_word<&Thermometer::status_>},
        {.address = 0x2000,
         .count = 2,
         .stride = 4,
         .name = "READ_AT_{}",
         .fields = fields,
         .read = [](const Thermometer&, At at) { return at.cycle + at.n; }},
    };
    return {rows};
  }
  unsigned derivations = 0;

 private:
  u64 status_ = 0;
};

TEST(RegisterFile, TakesTimeAndDerivesAfterAWriteWithoutFault) {
  const CpuModel model;
  const RegisterFile<Thermometer> file(model);
  Thermometer thermometer;
  EXPECT_EQ(file.write(0x19C, 0x55, 0, thermometer).fault, Fault::none);
  EXPECT_EQ(thermometer.derivations, 1u);
  EXPECT_EQ(file.write(0x19C, 0x80, 0, thermometer).fault, Fault::gp);  // reserved
  EXPECT_EQ(file.write(0x2004, 0, 0, thermometer).fault, Fault::gp);    // read-only
  EXPECT_EQ(thermometer.derivations, 1u);
  EXPECT_EQ(file.read(0x19C, 0, thermometer).value_or(0), 0x55u);
  EXPECT_EQ(file.read(0x2004, 100, thermometer).value_or(0), 101u);
  EXPECT_FALSE(file.read(0x2001, 0, thermometer).ok());
}

}  // namespace
}  // namespace pmusim
