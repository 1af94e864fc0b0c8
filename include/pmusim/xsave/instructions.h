// SPDX-License-Identifier: MIT
#ifndef PMUSIM_XSAVE_INSTRUCTIONS_H
#define PMUSIM_XSAVE_INSTRUCTIONS_H

#include "pmusim/base/bus.h"

/// The XSAVE instructions as `Pmu::save` and `Pmu::restore` take them:
///
///     pmu.save(SaveInstruction::xsaveopt, {.address = area, .features = state_bits(StateComponent::sse)});
///
namespace pmusim {

enum class SaveInstruction : u8 { xsave, xsaveopt, xsavec, xsaves };
enum class RestoreInstruction : u8 { xrstor, xrstors };

/// The operands of an XSAVE instruction, 64-bit form (REX.W).
struct XsaveOperands {
  u64 address = 0;
  u64 features = ~u64{0};  ///< EDX:EAX
  Cpl cpl = Cpl::kernel;
};

/// The bits of the control registers that decide about XSAVE instructions.
struct XsaveControl {
  bool os_enabled = true;  ///< CR4.OSXSAVE: software uses XSAVE; an operating system sets it when it boots
  bool task_switched = false;  ///< CR0.TS
};

}  // namespace pmusim

#endif
