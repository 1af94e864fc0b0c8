// SPDX-License-Identifier: MIT
// Component tables, CPUID leaf 0DH and both formats of an area: SDM vol. 1, 13.2 and 13.4; CPUID dumps of
// real parts.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/xsave/area.h"

namespace pmusim::layout_test {
namespace {

using enum StateComponent;

/// A part of another vendor: the same components, other places in the standard format, no APX slot in
/// between.
CpuModel model_of_another_vendor() {
  CpuModel model = find_cpu_model("icelake").value();
  model.xcr0 = 0xE7;
  model.xss = 0x1800;
  model.xsave_components[5].standard_offset = 832;
  model.xsave_components[6].standard_offset = 896;
  model.xsave_components[7].standard_offset = 1408;
  return model;
}
CpuModel model(std::string_view name) {
  return name == "another vendor" ? model_of_another_vendor() : find_cpu_model(name).value();
}

/// What a dump of leaf 0DH says, and the XCR0 and IA32_XSS under which it was taken.
struct Dump {
  const char* model;
  u64 xcr0, xss;
  u32 user, standard_bytes, instructions, supervisor, compacted_bytes;  // 0.EAX, 0.ECX, 1.EAX, 1.ECX, 1.EBX
  friend std::ostream& operator<<(std::ostream& out, const Dump& d) {
    return out << d.model << " with IA32_XSS " << std::hex << d.xss;
  }
};
constexpr Dump dumps[] = {
    {"skylake", 0x1F, 0, 0x1F, 0x440, 0xF, 0x100, 0x3C0},
    {"skylake-x", 0xFF, 0, 0xFF, 0xA80, 0xF, 0x100, 0xA00},
    {"skylake-x", 0xFF, 0x100, 0xFF, 0xA80, 0xF, 0x100, 0xA80},
    {"tigerlake", 0x2E7, 0x2100, 0x2E7, 0xA88, 0xF, 0x3900, 0xA10},
    {"lioncove", 0x7, 0x900, 0x207, 0xA88, 0xF, 0xD900, 0x3D0},
    {"cougarcove", 0x207, 0x9800, 0x207, 0xA88, 0xF, 0x1D900, 0x698},
    {"emeraldrapids", 0x602E7, 0x100, 0x602E7, 0x2B00, 0x1F, 0xDD00, 0x2A80},
    {"graniterapids", 0x602E7, 0x100, 0x602E7, 0x2B00, 0x1F, 0x1DD00, 0x2A80},
    {"another vendor", 0xE7, 0x1800, 0xE7, 0x980, 0xF, 0x1800, 0x9A8},
};

class RecordedLeaf : public testing::TestWithParam<Dump> {};

TEST_P(RecordedLeaf, IsWhatTheModelAnswers) {
  const Dump& dump = GetParam();
  const CpuModel cpu = model(dump.model);
  XsaveUnit unit(cpu);
  ASSERT_EQ(unit.xsetbv(0, dump.xcr0), Fault::none);
  ASSERT_EQ(write_register(unit, cpu, msr::XSS, dump.xss), Fault::none);
  EXPECT_EQ(unit.cpuid(0xD, 0).eax, dump.user);
  EXPECT_EQ(unit.cpuid(0xD, 0).ecx, dump.standard_bytes);
  EXPECT_EQ(unit.cpuid(0xD, 1).eax, dump.instructions);
  EXPECT_EQ(unit.cpuid(0xD, 1).ebx, dump.compacted_bytes);
  EXPECT_EQ(unit.cpuid(0xD, 1).ecx, dump.supervisor);
}

INSTANTIATE_TEST_SUITE_P(Dumps, RecordedLeaf, testing::ValuesIn(dumps));

TEST(Leaf0D, CountsWhatIsEnabledNow) {
  const CpuModel cpu = model("icelake");
  XsaveUnit unit(cpu);
  EXPECT_EQ(unit.cpuid(0xD, 0).ebx, 576u) << "XCR0 is 1 after RESET";
  ASSERT_EQ(unit.xsetbv(0, 7), Fault::none);
  EXPECT_EQ(unit.cpuid(0xD, 0).ebx, 832u);
  EXPECT_EQ(unit.cpuid(0xD, 0).ecx, 0xA88u) << "of all that can be enabled";
}

TEST(Leaf0D, HasASubLeafForEachComponentOfTheModelAndNoOther) {
  for (const CpuModel& cpu : cpu_models()) {
    const XsaveUnit unit(cpu);
    for (u32 n = 2; n < 64; ++n) {
      const bool exists = ((cpu.xcr0 | cpu.xss) >> n & 1) != 0;
      EXPECT_EQ(unit.cpuid(0xD, n) != CpuidResult{}, exists) << cpu.name << " " << n;
      if (!exists) continue;
      EXPECT_EQ(xsave::component_of(unit.cpuid(0xD, n)), cpu.xsave_components[n]) << cpu.name << " " << n;
      EXPECT_EQ(unit.cpuid(0xD, n).ecx & 1, cpu.xss >> n & 1) << cpu.name << " " << n;
    }
  }
}

TEST(Leaf1, MirrorsOsxsave) {
  const CpuModel cpu = model("icelake");
  XsaveUnit unit(cpu);
  constexpr u32 xsave = 1u << 26, osxsave = 1u << 27;
  EXPECT_EQ(unit.cpuid(1, 0).ecx & (xsave | osxsave), xsave | osxsave);
  unit.set_control({.os_enabled = false});
  EXPECT_EQ(unit.cpuid(1, 0).ecx & (xsave | osxsave), xsave);
}

struct Slot {
  StateComponent component;
  u32 offset;
};
struct Area {
  u64 components;
  std::vector<Slot> slots;
  u32 bytes;
};

TEST(CompactedFormat, PlacesComponentsByNumber) {
  const std::vector<Area> areas{
      {0x7, {{avx, 576}}, 832},
      {0xE7, {{avx, 576}, {opmask, 832}, {zmm_hi256, 896}, {hi16_zmm, 1408}}, 2432},
      {0xE0, {{opmask, 576}, {zmm_hi256, 640}, {hi16_zmm, 1152}}, 2176},
      {0xC4, {{avx, 576}, {zmm_hi256, 832}, {hi16_zmm, 1344}}, 2368},
      {0xA0, {{opmask, 576}, {hi16_zmm, 640}}, 1664},
      {0x84, {{avx, 576}, {hi16_zmm, 832}}, 1856},
      {0x80, {{hi16_zmm, 576}}, 1600},
      {0x20, {{opmask, 576}}, 640},
      {0x2, {}, 576},
      {0x800E7, {{avx, 576}, {opmask, 832}, {zmm_hi256, 896}, {hi16_zmm, 1408}, {apx, 2432}}, 2560},
      {0x2E7, {{hi16_zmm, 1408}, {pkru, 2432}}, 2440},
      {0x802E7, {{pkru, 2432}, {apx, 2440}}, 2568},
      {0x80007, {{avx, 576}, {apx, 832}}, 960},
      {0x80000, {{apx, 576}}, 704},
      {0x8000, {{lbr, 576}}, 1384},
      {0x8800, {{cet_u, 576}, {lbr, 592}}, 1400},
      {0x88E6, {{opmask, 832}, {zmm_hi256, 896}, {hi16_zmm, 1408}, {cet_u, 2432}, {lbr, 2448}}, 3256},
      {0x808E6, {{hi16_zmm, 1408}, {cet_u, 2432}, {apx, 2448}}, 2576},
      {0x602E7, {{pkru, 2432}, {tilecfg, 2496}, {tiledata, 2560}}, 10752},
      {0x603E7, {{pt, 2432}, {pkru, 2560}, {tilecfg, 2624}, {tiledata, 2688}}, 10880},
  };
  for (const Area& area : areas) {
    const xsave::Layout layout = xsave::compacted_layout(xsave::intel_components, area.components);
    EXPECT_EQ(layout.bytes, area.bytes) << std::hex << area.components;
    for (const Slot& slot : area.slots)
      EXPECT_EQ(layout[slot.component], slot.offset) << std::hex << area.components;
  }
}

TEST(StandardFormat, KeepsApxWhereMpxWas) {
  const xsave::Layout layout = xsave::standard_layout(xsave::intel_components, 0xE02E7);
  EXPECT_EQ(layout[apx], 960u);
  EXPECT_EQ(layout[pkru], 2688u);
  EXPECT_EQ(layout[tiledata], 2816u);
  EXPECT_EQ(layout.bytes, 11008u);
}

}  // namespace
}  // namespace pmusim::layout_test
