// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_XSAVE_AREA_H
#define PMUSIM_TESTS_XSAVE_AREA_H

#include <cstring>
#include <random>
#include <vector>

#include "msr/register_file.h"
#include "xsave/xsave_unit.h"

namespace pmusim {

/// Memory for one XSAVE area. Its address is only a number to the unit.
class Area {
 public:
  static constexpr u64 address = 0x10000;
  static constexpr std::size_t size = 16384;
  explicit Area(std::byte fill = std::byte{0}) : bytes(size, fill) {}

  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  Area& put(std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return *this;
  }
  Area& header(u64 xstate_bv, u64 xcomp_bv) {
    std::memset(bytes.data() + xsave::legacy_bytes, 0, xsave::header_bytes);
    return put(xsave::legacy_bytes, xstate_bv).put(xsave::legacy_bytes + 8, xcomp_bv);
  }
  u64 xstate_bv() const { return at<u64>(xsave::legacy_bytes); }
  u64 xcomp_bv() const { return at<u64>(xsave::legacy_bytes + 8); }

  std::vector<std::byte> bytes;
};

/// WRMSR to a register of the unit.
inline Fault write_register(XsaveUnit& unit, const CpuModel& model, u32 address, u64 value) {
  return RegisterFile<XsaveUnit>(model).write(address, value, 0, unit).fault;
}

/// Saves as the instruction does, without an LBR component.
inline Fault save(XsaveUnit& unit, SaveInstruction which, Area& area,
                  XsaveOperands operands = {Area::address}) {
  const auto plan = unit.plan(which, operands, 0);
  if (!plan.ok()) return plan.error();
  unit.save(*plan, std::span(area.bytes).first(plan->layout.bytes));
  return Fault::none;
}

/// Restores as the instruction does.
inline Fault restore(XsaveUnit& unit, RestoreInstruction which, const Area& area,
                     XsaveOperands operands = {Area::address}) {
  if (const Fault fault = unit.check(which, operands); fault != Fault::none) return fault;
  const std::span<const std::byte> bytes(area.bytes);
  const auto plan = unit.plan(which, operands, bytes.first(xsave::extended_offset));
  if (!plan.ok()) return plan.error();
  if (const Fault fault = unit.check_values(*plan, bytes.first(plan->bytes)); fault != Fault::none)
    return fault;
  unit.restore(*plan, operands, bytes.first(plan->bytes));
  return Fault::none;
}

/// Random legal values in the components of `components`, which are then in use.
inline ExtendedState random_state(u64 components, std::mt19937_64& random) {
  using enum StateComponent;
  ExtendedState state;
  for (const unsigned n : set_bits(components & low_bits(xsave::component_count))) {
    const auto c = static_cast<StateComponent>(n);
    std::vector<u64> values(ExtendedState::size_of(c) - (c == sse ? 1 : 0));
    for (u64& value : values) value = random();
    const auto only = [&](u64 mask) {
      for (u64& value : values) value &= mask;
    };
    if (c == x87) {
      values[0] = 0x37F | (values[0] & bits(39, 32)) | (values[0] & bits(58, 48));
      for (std::size_t st = 4; st < values.size(); st += 2) values[st] &= bits(15, 0);
    }
    if (c == pkru) only(bits(31, 0));
    if (c == pasid) values[0] = bit(31) | (values[0] & bits(19, 0));
    if (c == hdc) values[0] = 1;
    if (c == cet_u || c == cet_s) only(bits(46, 12));
    state.write(c, 0, values);
  }
  return state;
}

}  // namespace pmusim

#endif
