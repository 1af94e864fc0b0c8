// SPDX-License-Identifier: MIT
// XRSTOR and XRSTORS of arbitrary areas: they are refused, or become registers that survive a save and a
// restore.
#include <cstdlib>

#include "tests/xsave/area.h"

namespace pmusim {
namespace {

/// The first bytes choose the CPU and what is enabled; the rest is the area.
struct Input {
  u8 model, instruction, xcr0_choice, fill;
  u64 xss, features, xfd;
};

u64 legal_xcr0(const CpuModel& cpu, unsigned choice) {
  u64 wanted = cpu.xcr0;
  for (unsigned n = 1; n < 20; ++n)
    if ((choice >> n % 8 & 1) != 0) wanted &= ~bit(n);
  return xcr0_is_legal(wanted, cpu.xcr0) ? wanted : cpu.xcr0;
}

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pmusim;
  Input input{};
  if (size < sizeof input) return 0;
  std::memcpy(&input, data, sizeof input);
  const CpuModel& cpu = cpu_models()[input.model % cpu_models().size()];
  XsaveUnit unit(cpu);
  if (cpu.xcr0 != 0) check(unit.xsetbv(0, legal_xcr0(cpu, input.xcr0_choice)) == Fault::none);
  static_cast<void>(write_register(unit, cpu, msr::XSS, input.xss & cpu.xss));
  static_cast<void>(write_register(unit, cpu, msr::XFD, input.xfd));

  Area area(static_cast<std::byte>(input.fill));
  std::memcpy(area.bytes.data(), data + sizeof input, std::min(size - sizeof input, Area::size));
  const auto which = input.instruction % 2 == 0 ? RestoreInstruction::xrstor : RestoreInstruction::xrstors;
  const ExtendedState before = unit.state();
  if (restore(unit, which, area, {Area::address, input.features}) != Fault::none) {
    check(unit.state() == before);
    return 0;
  }
  const ExtendedState loaded = unit.state();
  Area saved;
  const auto format = cpu.has_xsaves ? SaveInstruction::xsaves : SaveInstruction::xsave;
  // Elsewhere: into the area that was restored from, unchanged components need not be stored.
  check(save(unit, format, saved, {2 * Area::address}) == Fault::none);
  unit.set_state(ExtendedState{});
  check(restore(unit, cpu.has_xsaves ? RestoreInstruction::xrstors : RestoreInstruction::xrstor, saved) ==
        Fault::none);
  check(unit.state() == loaded);
  return 0;
}
