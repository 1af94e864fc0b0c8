// SPDX-License-Identifier: MIT
// What the save instructions write, and what they leave alone: SDM vol. 1, 13.7 and 13.9 to 13.11. The rules
// on headers and MXCSR were also seen on silicon.
#include <gtest/gtest.h>

#include "tests/xsave/area.h"

namespace pmusim::save_test {
namespace {

using enum StateComponent;
using enum SaveInstruction;
constexpr std::byte old{0xCC};
constexpr u64 compacted = xsave::compacted;

/// Ice Lake with AVX-512 enabled.
struct Unit : XsaveUnit {
  explicit Unit(u64 components = 0xE7) : XsaveUnit(model()) { EXPECT_EQ(xsetbv(0, components), Fault::none); }
  static const CpuModel& model() {
    static const CpuModel icelake = find_cpu_model("icelake").value();
    return icelake;
  }
};

ExtendedState state_with(u64 components) {
  std::mt19937_64 random(1);
  return random_state(components, random);
}
bool untouched(const Area& area, std::size_t begin, std::size_t end) {
  return std::all_of(area.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                     area.bytes.begin() + static_cast<std::ptrdiff_t>(end),
                     [](std::byte b) { return b == old; });
}

TEST(Save, WritesXstateBvAsEachFormatHasIt) {
  Unit unit;
  unit.set_state(state_with(state_bits(sse, avx)));
  for (const SaveInstruction which : {xsave, xsaveopt}) {
    Area area(old);
    area.header(0xFF, 0x1234);
    ASSERT_EQ(save(unit, which, area, {Area::address, 0x6}), Fault::none);
    EXPECT_EQ(area.xstate_bv(), 0xFFu) << "bits that are not requested keep their values";
    EXPECT_EQ(area.xcomp_bv(), 0x1234u) << "not written";
  }
  for (const SaveInstruction which : {xsavec, xsaves}) {
    Area area(old);
    area.header(0xFF, 0x1234);
    ASSERT_EQ(save(unit, which, area, {Area::address, 0x26}), Fault::none);
    EXPECT_EQ(area.xstate_bv(), 0x6u) << "overwritten";
    EXPECT_EQ(area.xcomp_bv(), compacted | 0x26) << "a slot for a component that is not in use, too";
  }
}

TEST(Save, NeverWritesTheReservedBytesOfTheHeader) {
  Unit unit;
  for (const SaveInstruction which : {xsave, xsaveopt, xsavec, xsaves}) {
    Area area(old);
    ASSERT_EQ(save(unit, which, area), Fault::none);
    EXPECT_TRUE(untouched(area, 528, 576));
    EXPECT_TRUE(untouched(area, 416, 512)) << "nor the end of the legacy region";
  }
}

TEST(Save, LeavesOutWhatIsNotInUseExceptForXsave) {
  Unit unit;
  unit.set_state(state_with(state_bits(opmask)));
  Area plain(old), optimized(old), compact(old);
  ASSERT_EQ(save(unit, xsave, plain), Fault::none);
  ASSERT_EQ(save(unit, xsaveopt, optimized), Fault::none);
  ASSERT_EQ(save(unit, xsavec, compact), Fault::none);
  EXPECT_EQ(plain.at<u64>(576), 0u) << "AVX in its initial configuration";
  EXPECT_TRUE(untouched(optimized, 576, 832));
  EXPECT_TRUE(untouched(compact, 576, 832));
  EXPECT_EQ(optimized.xstate_bv() & 0xE7, state_bit(opmask));
  EXPECT_EQ(compact.xstate_bv(), state_bit(opmask));
}

TEST(Save, WritesMxcsrAsEachFormatHasIt) {
  Unit unit;
  ExtendedState state;  // XMM registers in their initial configuration
  state.set_mxcsr(0x1FA0);
  unit.set_state(state);
  const auto saved_with = [&](SaveInstruction which, u64 features) {
    Area area(old);
    EXPECT_EQ(save(unit, which, area, {Area::address, features}), Fault::none);
    return area;
  };
  for (const SaveInstruction which : {xsave, xsaveopt}) {
    EXPECT_EQ(saved_with(which, 2).at<u32>(24), 0x1FA0u);
    EXPECT_EQ(saved_with(which, 4).at<u32>(24), 0x1FA0u);
    EXPECT_EQ(saved_with(which, 4).at<u32>(28), 0xFFFFu);
    EXPECT_TRUE(untouched(saved_with(which, 1), 24, 32));
    EXPECT_EQ(saved_with(which, 2).xstate_bv() & 2, 0u) << "MXCSR is not XINUSE[1]";
  }
  for (const SaveInstruction which : {xsavec, xsaves}) {
    EXPECT_EQ(saved_with(which, 2).at<u32>(24), 0x1FA0u);
    EXPECT_EQ(saved_with(which, 2).xstate_bv(), 2u) << "but counts here";
    EXPECT_TRUE(untouched(saved_with(which, 4), 24, 32));
  }
  unit.set_state(ExtendedState{});
  EXPECT_TRUE(untouched(saved_with(xsavec, 2), 24, 32));
  EXPECT_EQ(saved_with(xsavec, 2).xstate_bv(), 0u);
}

TEST(Save, StoresX87AsTheLegacyRegionHasIt) {
  Unit unit;
  ExtendedState state;
  state.write(x87, 0, {0x0123'0080'3800'037F, 0x1111, 0x2222, 0x8000'0000'0000'0000, 0x3FFF});
  unit.set_state(state);
  Area area;
  ASSERT_EQ(save(unit, xsave, area, {Area::address, 1}), Fault::none);
  EXPECT_EQ(area.at<u16>(0), 0x37F) << "FCW";
  EXPECT_EQ(area.at<u16>(2), 0x3800) << "FSW: FLD1 after FNINIT leaves TOP at 7";
  EXPECT_EQ(area.at<u16>(4), 0x80) << "abridged FTW";
  EXPECT_EQ(area.at<u16>(6), 0x123) << "FOP";
  EXPECT_EQ(area.at<u64>(8), 0x1111u);
  EXPECT_EQ(area.at<u64>(16), 0x2222u);
  EXPECT_EQ(area.at<u64>(32), 0x8000'0000'0000'0000u) << "ST0 is 1.0";
  EXPECT_EQ(area.at<u64>(40), 0x3FFFu);
}

TEST(Save, OfSupervisorComponentsIsXsavesAlone) {
  const CpuModel tigerlake = find_cpu_model("tigerlake").value();
  XsaveUnit unit(tigerlake);
  ASSERT_EQ(unit.xsetbv(0, 7), Fault::none);
  ASSERT_EQ(write_register(unit, tigerlake, msr::XSS, state_bit(cet_u)), Fault::none);
  unit.set_state(state_with(state_bits(avx, cet_u)));
  Area area;
  ASSERT_EQ(save(unit, xsavec, area), Fault::none);
  EXPECT_EQ(area.xcomp_bv(), compacted | 7);
  ASSERT_EQ(save(unit, xsaves, area), Fault::none);
  EXPECT_EQ(area.xcomp_bv(), compacted | 7 | state_bit(cet_u));
  EXPECT_EQ(area.at<u64>(832 + 8), unit.state().ssp());
}

TEST(ModifiedOptimization, OmitsWhatIsUnchangedSinceTheRestore) {
  Unit unit;
  unit.set_state(state_with(0xE6));
  Area area;
  ASSERT_EQ(save(unit, xsaves, area), Fault::none);
  ASSERT_EQ(restore(unit, RestoreInstruction::xrstors, area), Fault::none);
  const std::array<u64, 1> value{42};
  const std::array writes{ExtendedWrite{opmask, 3, value}};
  unit.write({unit.state().in_use(), writes});

  Area again(old);
  ASSERT_EQ(save(unit, xsaves, again), Fault::none);
  EXPECT_EQ(again.xstate_bv(), 0xE6u) << "the bits are set all the same";
  EXPECT_TRUE(untouched(again, 576, 832)) << "AVX";
  EXPECT_EQ(again.at<u64>(832 + 24), 42u) << "k3";
}

TEST(ModifiedOptimization, NeedsTheSameAddressFormatAndPrivilege) {
  const auto leaves_avx_out = [](SaveInstruction which, const XsaveOperands& operands, u32 policy) {
    CpuModel model = Unit::model();
    model.policies.xsave_modified_optimization = policy;
    XsaveUnit unit(model);
    EXPECT_EQ(unit.xsetbv(0, 0xE7), Fault::none);
    unit.set_state(state_with(0xE6));
    Area area;
    EXPECT_EQ(save(unit, xsave, area), Fault::none);
    EXPECT_EQ(restore(unit, RestoreInstruction::xrstor, area), Fault::none);
    Area again(old);
    EXPECT_EQ(save(unit, which, again, operands), Fault::none);
    return untouched(again, 576, 832);
  };
  EXPECT_TRUE(leaves_avx_out(xsaveopt, {Area::address}, 1));
  EXPECT_FALSE(leaves_avx_out(xsaveopt, {Area::address + 64}, 1));
  EXPECT_FALSE(leaves_avx_out(xsaveopt, {Area::address, ~u64{0}, Cpl::user}, 1));
  EXPECT_FALSE(leaves_avx_out(xsaves, {Area::address}, 1)) << "another format";
  EXPECT_FALSE(leaves_avx_out(xsave, {Area::address}, 1)) << "XSAVE has no such optimisation";
  EXPECT_FALSE(leaves_avx_out(xsaveopt, {Area::address}, 0)) << "the policy";
}

TEST(SaveFaults, ComeBeforeAnythingIsWritten) {
  struct Case {
    const char* model;
    SaveInstruction which;
    XsaveOperands operands;
    XsaveControl control;
    Fault fault;
  };
  constexpr u64 address = Area::address;
  const Case cases[] = {
      {"nehalem", xsave, {address}, {}, Fault::ud},  // no XSAVE
      {"icelake", xsave, {address}, {.os_enabled = false}, Fault::ud},
      {"penryn", xsaveopt, {address}, {}, Fault::ud},
      {"haswell", xsavec, {address}, {}, Fault::ud},
      {"haswell", xsaves, {address}, {}, Fault::ud},
      {"icelake", xsaves, {address}, {.task_switched = true}, Fault::nm},
      {"icelake", xsaves, {address, ~u64{0}, Cpl::user}, {}, Fault::gp},
      {"icelake", xsavec, {address, ~u64{0}, Cpl::user}, {}, Fault::none},
      {"icelake", xsave, {address + 32}, {}, Fault::gp},
      {"icelake", xsave, {u64{1} << 63}, {}, Fault::gp},
      {"haswell", xsaveopt, {address}, {}, Fault::none},
  };
  for (const Case& c : cases) {
    const CpuModel model = find_cpu_model(c.model).value();
    XsaveUnit unit(model);
    unit.set_control(c.control);
    Area area(old);
    EXPECT_EQ(save(unit, c.which, area, c.operands), c.fault) << c.model;
    if (c.fault != Fault::none) {
      EXPECT_TRUE(untouched(area, 0, Area::size)) << c.model;
    }
  }
}

}  // namespace
}  // namespace pmusim::save_test
