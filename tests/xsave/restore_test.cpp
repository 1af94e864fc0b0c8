// SPDX-License-Identifier: MIT
// XRSTOR and XRSTORS: SDM vol. 1, 13.8 and 13.12, and what silicon does with headers and MXCSR.
#include <gtest/gtest.h>

#include <functional>

#include "tests/xsave/area.h"

namespace pmusim {
namespace {

using enum StateComponent;
using enum RestoreInstruction;
constexpr u64 compacted = xsave::compacted;

/// Tiger Lake with AVX-512 and CET_U enabled, all of it in use.
struct Unit : XsaveUnit {
  explicit Unit(const CpuModel& cpu = model()) : XsaveUnit(cpu) {
    EXPECT_EQ(xsetbv(0, 0xE7), Fault::none);
    EXPECT_EQ(write_register(*this, cpu, msr::XSS, state_bit(cet_u)), Fault::none);
    std::mt19937_64 random(7);
    ExtendedState state = random_state(0xE7 | state_bit(cet_u), random);
    state.set_mxcsr(0x1FA0);
    set_state(state);
  }
  static const CpuModel& model() {
    static const CpuModel tigerlake = find_cpu_model("tigerlake").value();
    return tigerlake;
  }
};

Fault restored(const Area& area, RestoreInstruction which = xrstor) {
  Unit unit;
  const ExtendedState before = unit.state();
  const Fault fault = restore(unit, which, area);
  if (fault != Fault::none) {
    EXPECT_EQ(unit.state(), before) << "a fault changes nothing";
  }
  return fault;
}

TEST(Restore, RefusesAHeaderThatIsNotInOrder) {
  const auto header = [](u64 xstate_bv, u64 xcomp_bv) { return Area().header(xstate_bv, xcomp_bv); };
  EXPECT_EQ(restored(header(0, 0)), Fault::none);
  EXPECT_EQ(restored(header(0, 0), xrstors), Fault::gp) << "the standard format";
  EXPECT_EQ(restored(header(0, 0x7)), Fault::gp) << "XCOMP_BV without its bit 63";
  EXPECT_EQ(restored(header(bit(8), 0)), Fault::gp) << "PT is not in XCR0";
  EXPECT_EQ(restored(header(bit(63), 0)), Fault::gp);
  EXPECT_EQ(restored(header(0x7, compacted | 0x7)), Fault::none);
  EXPECT_EQ(restored(header(0x27, compacted | 0x7)), Fault::gp) << "a component without a slot";
  EXPECT_EQ(restored(header(0, compacted | bit(8))), Fault::gp) << "a slot that is not enabled";
  EXPECT_EQ(restored(header(0, compacted | bit(11))), Fault::gp) << "CET_U is not XRSTOR's";
  EXPECT_EQ(restored(header(0, compacted | bit(11)), xrstors), Fault::none);
  EXPECT_EQ(restored(header(bit(11), compacted | bit(11)), xrstors), Fault::none);
  EXPECT_EQ(restored(header(0, compacted | bit(12)), xrstors), Fault::gp) << "CET_S is not enabled";
}

TEST(Restore, ChecksTheReservedBytesThatItsFormatHas) {
  for (std::size_t n = 528; n < 576; ++n) {
    const Fault in_standard = n < 536 ? Fault::gp : Fault::none;
    EXPECT_EQ(restored(Area().header(0, 0).put(n, std::byte{1})), in_standard) << n;
    EXPECT_EQ(restored(Area().header(0, compacted).put(n, std::byte{1})), Fault::gp) << n;
    EXPECT_EQ(restored(Area().header(0, compacted).put(n, std::byte{1}), xrstors), Fault::gp) << n;
  }
}

TEST(Restore, RefusesReservedBitsOfAnMxcsrThatItLoads) {
  constexpr u32 reserved = 0x10000;
  EXPECT_EQ(restored(Area().header(0, 0).put(24, reserved)), Fault::gp)
      << "loaded although XSTATE_BV[1] is clear";
  EXPECT_EQ(restored(Area().header(0, compacted | 2).put(24, reserved)), Fault::none);
  EXPECT_EQ(restored(Area().header(2, compacted | 2).put(24, reserved)), Fault::gp);
  Unit unit;
  EXPECT_EQ(restore(unit, xrstor, Area().header(0, 0).put(24, reserved), {Area::address, 1}), Fault::none)
      << "x87 alone";
}

TEST(Restore, LoadsStandardFormatMxcsrWithSseOrAvxRequested) {
  const auto mxcsr_after = [](u64 features) {
    Unit unit;
    EXPECT_EQ(restore(unit, xrstor, Area().header(0, 0).put(24, u32{0x1F00}), {Area::address, features}),
              Fault::none);
    return unit.state().mxcsr();
  };
  EXPECT_EQ(mxcsr_after(1), 0x1FA0u) << "kept";
  EXPECT_EQ(mxcsr_after(2), 0x1F00u);
  EXPECT_EQ(mxcsr_after(4), 0x1F00u);
}

TEST(Restore, TakesMxcsrWithSseFromTheCompactedFormat) {
  const auto mxcsr_after = [](u64 xstate_bv, u64 features) {
    Unit unit;
    const Area area = Area().header(xstate_bv, compacted | 0x7).put(24, u32{0x1F00});
    EXPECT_EQ(restore(unit, xrstor, area, {Area::address, features}), Fault::none);
    return unit.state().mxcsr();
  };
  EXPECT_EQ(mxcsr_after(2, 2), 0x1F00u);
  EXPECT_EQ(mxcsr_after(0, 2), 0x1F80u) << "initialised with it";
  EXPECT_EQ(mxcsr_after(2, 4), 0x1FA0u) << "kept";
}

TEST(Restore, InitialisesWhatTheAreaHasNot) {
  Unit unit;
  const u64 hi16 = unit.state().vector(20)[0];
  ASSERT_EQ(restore(unit, xrstor, Area().header(0, compacted | 0x20), {Area::address, 0x27}), Fault::none);
  EXPECT_EQ(unit.state().vector(3),
            (std::array<u64, 8>{0, 0, 0, 0, unit.state().vector(3)[4], unit.state().vector(3)[5],
                                unit.state().vector(3)[6], unit.state().vector(3)[7]}));
  EXPECT_EQ(unit.state().opmask(1), 0u);
  EXPECT_EQ(unit.state().component(x87)[0], 0x37Fu);
  EXPECT_EQ(unit.state().vector(20)[0], hi16) << "not asked for";
  EXPECT_EQ(unit.state().in_use(), state_bits(zmm_hi256, hi16_zmm, cet_u));
}

TEST(Restore, FindsComponentsBehindSlotsThatItDoesNotLoad) {
  Unit unit;
  const Area area = Area().header(state_bit(opmask), compacted | 0x27).put(832 + 8 * 2, u64{0x55});
  ASSERT_EQ(restore(unit, xrstor, area, {Area::address, state_bit(opmask)}), Fault::none);
  EXPECT_EQ(unit.state().opmask(2), 0x55u);
}

TEST(Restore, RefusesValuesThatShadowStackRegistersCannotHold) {
  const auto loading = [](u64 control, u64 stack) {
    const u64 cet = state_bit(cet_u);
    return restored(Area().header(cet, compacted | cet).put(576, control).put(584, stack), xrstors);
  };
  EXPECT_EQ(loading(0x1, 0x7FFF'F000), Fault::none);
  EXPECT_EQ(loading(0x40, 0), Fault::gp) << "reserved";
  EXPECT_EQ(loading(0xC00, 0), Fault::gp) << "SUPPRESS and TRACKER";
  EXPECT_EQ(loading(u64{1} << 62, 0), Fault::gp) << "the bitmap's address is not canonical";
  EXPECT_EQ(loading(1, u64{1} << 62), Fault::gp);
  EXPECT_EQ(loading(1, 0x1002), Fault::gp) << "not aligned";
}

TEST(Restore, RefusesValuesThatOtherSupervisorRegistersCannotHold) {
  struct Case {
    const char* model;
    StateComponent component;
    u64 qword, value;
    Fault fault;
  };
  const Case cases[] = {
      {"sapphirerapids", cet_s, 0, 0x7FFF'F000, Fault::none},
      {"sapphirerapids", cet_s, 2, u64{1} << 62, Fault::gp},
      {"sapphirerapids", cet_s, 1, 2, Fault::gp},
      {"sapphirerapids", pasid, 0, 0x800F'FFFF, Fault::none},
      {"sapphirerapids", pasid, 0, 0x10'0000, Fault::gp},
      {"sapphirerapids", pasid, 0, u64{1} << 32, Fault::gp},
      {"tigerlake", hdc, 0, 1, Fault::none},
      {"tigerlake", hdc, 0, 2, Fault::gp},
  };
  for (const Case& c : cases) {
    const CpuModel cpu = find_cpu_model(c.model).value();
    XsaveUnit unit(cpu);
    ASSERT_EQ(write_register(unit, cpu, msr::XSS, cpu.xss), Fault::none);
    const u64 component = state_bit(c.component);
    const Area area = Area().header(component, compacted | component).put(576 + 8 * c.qword, c.value);
    EXPECT_EQ(restore(unit, xrstors, area), c.fault) << c.model << ' ' << c.qword << ' ' << c.value;
    EXPECT_EQ(unit.state().component(c.component)[c.qword], c.fault == Fault::none ? c.value : 0);
  }
}

/// What the manual asks of a header, in the order in which it does (SDM vol. 1, 13.8 and 13.12).
bool header_is_in_order(RestoreInstruction which, const Area& area, u64 features) {
  constexpr u64 xcr0 = 0xE7, xss = bit(11);
  const u64 enabled = which == xrstors ? xcr0 | xss : xcr0;
  const u64 saved = area.xstate_bv(), layout = area.xcomp_bv();
  std::size_t reserved_end = 576;
  if ((layout & compacted) == 0) {
    if (which == xrstors || layout != 0 || (saved & ~xcr0) != 0) return false;
    reserved_end = 536;
  } else if ((layout & ~compacted & ~enabled) != 0 || (saved & ~layout) != 0 || (saved & compacted) != 0) {
    return false;
  }
  for (std::size_t n = 528; n < reserved_end; ++n)
    if (area.at<u8>(n) != 0) return false;
  const bool loads_mxcsr = (layout & compacted) == 0 ? (features & 0x6) != 0 : (features & saved & 0x2) != 0;
  return !loads_mxcsr || (area.at<u32>(24) & 0xFFFF0000) == 0;
}

TEST(Restore, OfDamagedImagesFaultsAsDocumentedWithoutChanges) {
  std::mt19937_64 random(11);
  Unit unit;
  Area image;
  ASSERT_EQ(save(unit, SaveInstruction::xsaves, image), Fault::none);
  unsigned refused = 0;
  constexpr unsigned rounds = 20000;
  for (unsigned round = 0; round < rounds; ++round) {
    Area area = image;
    if (random() % 3 == 0) area.header(random() & 0xE7, 0);
    if (random() % 3 == 0) area.header(random() & 0xE7, compacted | 0xE7);
    for (u64 flips = random() % 4; flips > 0; --flips) {
      const std::size_t byte = random() % 4 == 0 ? 24 + random() % 4 : 512 + random() % 64;
      area.put(byte, static_cast<u8>(area.at<u8>(byte) ^ 1u << random() % 8));
    }
    const RestoreInstruction which = random() % 2 == 0 ? xrstor : xrstors;
    const XsaveOperands operands{Area::address, random() | random()};
    const ExtendedState before = unit.state();
    const Fault fault = restore(unit, which, area, operands);
    ASSERT_EQ(fault == Fault::none, header_is_in_order(which, area, operands.features))
        << std::hex << area.xstate_bv() << ' ' << area.xcomp_bv() << ' ' << area.at<u32>(24);
    if (fault == Fault::none) continue;
    ++refused;
    ASSERT_EQ(fault, Fault::gp);
    ASSERT_EQ(unit.state(), before);
  }
  EXPECT_GT(refused, rounds / 10);
  EXPECT_LT(refused, rounds * 9 / 10);
}

TEST(RestoreFaults, OfTheInstructionItself) {
  const Area area = Area().header(0, compacted);
  const auto with = [&](const char* model, RestoreInstruction which, XsaveOperands operands,
                        XsaveControl control = {}) {
    const CpuModel cpu = find_cpu_model(model).value();
    XsaveUnit unit(cpu);
    unit.set_control(control);
    return restore(unit, which, area, operands);
  };
  constexpr u64 address = Area::address;
  EXPECT_EQ(with("nehalem", xrstor, {address}), Fault::ud);
  EXPECT_EQ(with("icelake", xrstor, {address}, {.os_enabled = false}), Fault::ud);
  EXPECT_EQ(with("icelake", xrstor, {address}, {.task_switched = true}), Fault::nm);
  EXPECT_EQ(with("haswell", xrstors, {address}), Fault::ud);
  EXPECT_EQ(with("haswell", xrstor, {address}), Fault::gp) << "a compacted area without XSAVEC";
  EXPECT_EQ(with("icelake", xrstors, {address, ~u64{0}, Cpl::user}), Fault::gp);
  EXPECT_EQ(with("icelake", xrstor, {address, ~u64{0}, Cpl::user}), Fault::none);
  EXPECT_EQ(with("icelake", xrstor, {address + 16}), Fault::gp);
  EXPECT_EQ(with("icelake", xrstor, {u64{1} << 62}), Fault::gp);
}

TEST(RoundTrip, KeepsTheStateInEveryFormat) {
  std::mt19937_64 random(3);
  for (const SaveInstruction which :
       {SaveInstruction::xsave, SaveInstruction::xsaveopt, SaveInstruction::xsavec}) {
    Unit unit;
    const ExtendedState before = unit.state();
    Area area;
    ASSERT_EQ(save(unit, which, area), Fault::none);
    unit.set_state(random_state(0xE6, random));
    ASSERT_EQ(restore(unit, xrstor, area), Fault::none);
    EXPECT_EQ(unit.state().vector(17), before.vector(17));
    EXPECT_TRUE(std::ranges::equal(unit.state().component(x87), before.component(x87)));
    EXPECT_EQ(unit.state().mxcsr(), before.mxcsr());
  }
}

}  // namespace
}  // namespace pmusim
