// SPDX-License-Identifier: MIT
// What belongs to the processor around the PMU: its microcode, and how it speculates.
#include "msr/control.h"

namespace pmusim {
namespace {

constexpr Field bios_sign_fields[] = {{bits(63, 32), "microcode revision (RO)"}};
constexpr Field spec_ctrl_fields[] = {{bit(0), "IBRS"}};
constexpr Field pred_cmd_fields[] = {{bit(0), "IBPB: forget predicted branches"}};

bool has_ibpb(const CpuModel& m, unsigned) { return m.has_ibpb; }

}  // namespace

Rows<ControlRegisters> ControlRegisters::processor_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      // Software writes 0 and executes CPUID, which loads the revision: whatever is written, that is read.
      {.address = msr::BIOS_SIGN_ID,
       .name = "IA32_BIOS_SIGN_ID",
       .reset = [](const CpuModel& m, unsigned) { return u64{m.microcode_revision} << 32; },
       .fields = bios_sign_fields,
       .writable = [](const CpuModel&, unsigned) { return ~u64{0}; },
       .read = [](const C& c, At) { return u64{c.model_->microcode_revision} << 32; },
       .write = [](C&, At, u64) { return Fault::none; }},
      {.address = msr::SPEC_CTRL,
       .name = "IA32_SPEC_CTRL",
       .exists = has_ibpb,
       .fields = spec_ctrl_fields,
       .read = read_word<&C::spec_ctrl_>,
       .write = write_word<&C::spec_ctrl_>},
      // A command: what it forgets is the core's, which asks for prediction_barriers().
      {.address = msr::PRED_CMD,
       .name = "IA32_PRED_CMD",
       .exists = has_ibpb,
       .fields = pred_cmd_fields,
       .write =
           [](C& c, At, u64 value) {
             c.prediction_barriers_ += value & 1;
             return Fault::none;
           }},
  };
  return rows;
}

}  // namespace pmusim
