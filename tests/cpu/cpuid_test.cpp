// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "pmusim/cpu/model.h"

namespace pmusim {

void PrintTo(const CpuidResult& r, std::ostream* out) {
  *out << std::hex << "{" << r.eax << ", " << r.ebx << ", " << r.ecx << ", " << r.edx << "}";
}

namespace {

struct LeafValue {
  const char* model;
  u32 leaf, subleaf;
  CpuidResult expected;
};

// CPUID dumps of real parts, except the last group.
const LeafValue dumps[] = {
    {"yonah", 0xA, 0, {0x07280201, 0, 0, 0}},
    {"core2", 0xA, 0, {0x07280202, 0, 0, 0x503}},
    {"penryn", 0xA, 0, {0x07280202, 0, 0, 0x503}},
    {"bonnell", 0xA, 0, {0x07280203, 0, 0, 0x503}},
    {"silvermont", 0xA, 0, {0x07280203, 0, 0, 0x4503}},
    {"knightslanding", 0xA, 0, {0x07280203, 0, 0, 0x503}},
    {"nehalem", 0xA, 0, {0x07300403, 0x40, 0, 0x603}},
    {"westmere", 0xA, 0, {0x07300403, 0x04, 0, 0x603}},
    {"sandybridge", 0xA, 0, {0x07300403, 0, 0, 0x603}},
    {"ivybridge", 0xA, 0, {0x07300403, 0, 0, 0x603}},
    {"haswell", 0xA, 0, {0x07300403, 0, 0, 0x603}},
    {"broadwell", 0xA, 0, {0x07300403, 0, 0, 0x603}},
    {"skylake", 0xA, 0, {0x07300404, 0, 0, 0x603}},
    {"skylake-x", 0xA, 0, {0x07300404, 0, 0, 0x603}},
    {"cascadelake", 0xA, 0, {0x07300404, 0, 0, 0x603}},
    {"cannonlake", 0xA, 0, {0x07300404, 0, 0, 0x603}},
    {"goldmont", 0xA, 0, {0x07300404, 0, 0, 0x603}},
    {"goldmont-plus", 0xA, 0, {0x07300404, 0, 0, 0x8603}},
    {"tremont", 0xA, 0, {0x07300405, 0, 7, 0x8603}},
    {"icelake", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"icelake-server", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"tigerlake", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"rocketlake", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"sapphirerapids", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"emeraldrapids", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"graniterapids", 0xA, 0, {0x08300805, 0, 0xF, 0x8604}},
    {"goldencove", 0xA, 0, {0x07300605, 0, 7, 0x8603}},
    {"gracemont", 0xA, 0, {0x07300605, 0, 7, 0x8603}},
    {"redwoodcove", 0xA, 0, {0x07300805, 0, 7, 0x8603}},
    {"crestmont", 0xA, 0, {0x07300805, 0, 7, 0x8603}},
    {"arrowlake-h", 0xA, 0, {0x07300805, 0, 7, 0x8603}},
    {"arrowlake-h-atom", 0xA, 0, {0x07300805, 0, 7, 0x8603}},
    {"lioncove", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},
    {"skymont", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},
    {"cougarcove", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},
    {"darkmont", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},

    {"redwoodcove", 0x23, 0, {0xB, 0, 0, 0}},
    {"redwoodcove", 0x23, 1, {0xFF, 0x0F, 0, 0}},
    {"redwoodcove", 0x23, 3, {0x0DFF, 0, 0, 0}},
    {"graniterapids", 0x23, 3, {0x0DFF, 0, 0, 0}},
    {"crestmont", 0x23, 0, {0xB, 0, 6, 0}},
    {"crestmont", 0x23, 1, {0xFF, 0x07, 0, 0}},
    {"crestmont", 0x23, 3, {0x7F, 0, 0, 0}},
    {"lioncove", 0x23, 0, {0xB, 3, 0, 0}},
    {"lioncove", 0x23, 1, {0x3FF, 0x0F, 0, 0}},
    {"lioncove", 0x23, 2, {0, 0, 0, 0}},
    {"lioncove", 0x23, 3, {0x1DFF, 0, 0, 0}},
    {"skymont", 0x23, 0, {0xF, 3, 8, 0}},
    {"skymont", 0x23, 1, {0xFF, 0x77, 0, 0}},
    {"skymont", 0x23, 2, {0xFC, 3, 0xFC, 3}},
    {"skymont", 0x23, 3, {0x1F7F, 0, 0, 0}},
    {"cougarcove", 0x23, 0, {0x3B, 3, 0, 0}},
    {"cougarcove", 0x23, 4, {0, 0x60060378, 0, 0}},
    {"cougarcove", 0x23, 5, {0x3FF, 3, 0xF, 1}},
    {"darkmont", 0x23, 0, {0x3F, 3, 8, 0}},
    {"darkmont", 0x23, 2, {0xFC, 3, 0xFC, 3}},
    {"darkmont", 0x23, 4, {0, 0x60060338, 0, 0}},
    {"darkmont", 0x23, 5, {0xFF, 3, 0x77, 1}},
    {"sapphirerapids", 0x23, 0, {}},

    {"sapphirerapids", 0x1A, 0, {}},
    {"graniterapids", 0x1A, 0, {0x40000002, 0, 0, 0}},
    {"goldencove", 0x1A, 0, {0x40000001, 0, 0, 0}},
    {"skymont", 0x1A, 0, {0x20000003, 0, 0, 0}},
    {"darkmont", 0x1A, 0, {0x20000004, 0, 0, 0}},
    {"sapphirerapids", 0x1C, 0, {0x4000000B, 7, 7, 0}},
    {"graniterapids", 0x1C, 0, {0x4000000B, 7, 7, 0}},
    {"lioncove", 0x1C, 0, {0x4000000B, 7, 0x000F0007, 0}},
    {"crestmont", 0x1C, 0, {0xC000000B, 7, 7, 0}},
    {"skylake", 0x1C, 0, {}},

    {"skylake", 0xD, 0, {0x1F, 0x440, 0x440, 0}},
    {"skylake", 0xD, 1, {0xF, 0x3C0, 0x100, 0}},
    {"skylake-x", 0xD, 0, {0xFF, 0xA80, 0xA80, 0}},
    {"skylake-x", 0xD, 1, {0xF, 0xA00, 0x100, 0}},
    {"tigerlake", 0xD, 0, {0x2E7, 0xA88, 0xA88, 0}},
    {"tigerlake", 0xD, 1, {0xF, 0x988, 0x3900, 0}},
    {"emeraldrapids", 0xD, 0, {0x602E7, 0x2B00, 0x2B00, 0}},
    {"emeraldrapids", 0xD, 1, {0x1F, 0x2A00, 0xDD00, 0}},
    {"graniterapids", 0xD, 1, {0x1F, 0x2A00, 0x1DD00, 0}},
    {"cougarcove", 0xD, 1, {0xF, 0x348, 0x1D900, 0}},
    {"sapphirerapids", 0xD, 15, {0x328, 0, 1, 0}},
    {"skylake", 0xD, 15, {}},

    // no dump seen: what the counters and the nearest relative's leaves make of them
    {"sierraforest", 0x1C, 0, {0xC000000B, 7, 0x000F0007, 0}},  // Linux: branch counters came with it
    {"sierraforest", 0xA, 0, {0x07300805, 0, 7, 0x8603}},
    {"clearwaterforest", 0xA, 0, {0x0D300806, 0x080, 0x77, 0x8603}},
    {"diamondrapids", 0xA, 0, {0x0D300806, 0x200, 0xF, 0x8604}},
    {"coyotecove", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},
    {"arcticwolf", 0xA, 0, {0x0D300806, 0x280, 7, 0x8603}},
};

class CpuidDump : public ::testing::TestWithParam<LeafValue> {};

TEST_P(CpuidDump, AnswersAsTheRealPart) {
  const LeafValue& row = GetParam();
  const CpuModel model = find_cpu_model(row.model).value();
  EXPECT_EQ(cpuid(model, row.leaf, row.subleaf), row.expected)
      << row.model << " leaf " << std::hex << row.leaf << "." << row.subleaf;
}

INSTANTIATE_TEST_SUITE_P(Parts, CpuidDump, ::testing::ValuesIn(dumps));

TEST(Cpuid, PebsMayHaveAGroupForEachVectorStateByPolicy) {  // EBX: 17 XMM, 18 YMMH, 19 EGPR, 21 to 23
  for (const auto& [name, by_default, with_all] : {std::tuple("cougarcove", 0x60060378u, 0x60060378u),
                                                   std::tuple("clearwaterforest", 0x60060338u, 0x60060338u),
                                                   std::tuple("diamondrapids", 0x60060378u, 0x60EE0378u),
                                                   std::tuple("coyotecove", 0x60060378u, 0x60EE0378u)}) {
    CpuModel model = *find_cpu_model(name);
    EXPECT_EQ(cpuid(model, 0x23, 4).ebx, by_default) << name;
    model.policies.pebs_vector_groups = 1;
    EXPECT_EQ(cpuid(model, 0x23, 4).ebx, with_all) << name;
  }
  CpuModel adaptive = *find_cpu_model("sapphirerapids");
  adaptive.policies.pebs_vector_groups = 1;
  EXPECT_EQ(cpuid(adaptive, 0x23, 4), CpuidResult{});
}

TEST(Cpuid, SignatureJoinsBaseAndExtendedFamilyAndModel) {
  EXPECT_EQ(cpuid(find_cpu_model("skylake").value(), 1, 0).eax, 0x506E3u);
  EXPECT_EQ(cpuid(find_cpu_model("diamondrapids").value(), 1, 0).eax, 0x00400F10u);
}

TEST(Cpuid, EveryPresetIsAProductThatDriversRecognise) {
  for (const CpuModel& model : cpu_models()) {
    if (model.perfmon_version < 2) continue;  // Yonah: before drivers told cores apart
    EXPECT_NE(model.microarchitecture(), Microarchitecture::unknown) << model.name;
    EXPECT_EQ(product_cores(model.family, model.model).hybrid(), model.hybrid) << model.name;
  }
}

}  // namespace
}  // namespace pmusim
