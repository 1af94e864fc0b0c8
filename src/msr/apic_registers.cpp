// SPDX-License-Identifier: MIT
// The local APIC as far as PMIs go (SDM vol. 3, advanced programmable interrupt controller): its mode, the
// entry that delivers them, and the end of an interrupt.
#include "msr/control.h"

namespace pmusim {
namespace {

namespace b = msr::apic_base;
constexpr Field apic_base_fields[] = {
    {b::BSP, "bootstrap processor"},
    {b::X2APIC, "x2APIC mode", [](const CpuModel& m, unsigned) { return all_if(m.has_x2apic); }},
    {b::ENABLE, "enable"},
    {b::PAGE, "physical address of the page"},
};
constexpr Field lvtpc_fields[] = {
    {msr::lvtpc::VECTOR, "vector"},
    {msr::lvtpc::DELIVERY_MODE, "delivery mode (4 NMI)"},
    {msr::lvtpc::DELIVERY_STATUS, "delivery status (RO)"},
    {msr::lvtpc::MASKED, "mask"},
};

bool has_x2apic(const CpuModel& m, unsigned) { return m.has_x2apic; }
bool is_there(const ControlRegisters& c, unsigned) { return c.in_x2apic_mode(); }
constexpr std::string_view x2apic_mode = "it is there in x2APIC mode alone (IA32_APIC_BASE bits 11 and 10)";

}  // namespace

/// As firmware leaves it: in x2APIC mode, where the model has that.
u64 ControlRegisters::apic_base_after_reset(const CpuModel& model) {
  return b::DEFAULT_PAGE | b::BSP | b::ENABLE | (model.has_x2apic ? b::X2APIC : 0);
}

/// SDM vol. 3, x2APIC state transitions: x2APIC mode is entered from xAPIC mode, and left by disabling the
/// APIC.
bool ControlRegisters::takes_apic_base(u64 value) const {
  const u64 from = apic_mode(), to = value & (b::ENABLE | b::X2APIC);
  if (to == b::X2APIC) return false;
  if (to == b::ENABLE) return from != (b::ENABLE | b::X2APIC);
  return to == 0 || from != 0;
}

void ControlRegisters::reset_entries() {
  lvtpc_ = msr::lvtpc::MASKED;
  extended_lvt_.fill(msr::lvtpc::MASKED);
}

u32 ControlRegisters::xapic_register_at(u64 offset) const {
  if (offset == msr::xapic::LVTPC) return msr::X2APIC_LVTPC;
  if (offset == msr::xapic::EOI) return msr::X2APIC_EOI;
  const u64 entry = (offset - msr::xapic::EXTENDED_LVT0) / msr::xapic::STRIDE;  // huge below the first
  const bool is_extended =
      model_->amd.has_ibs() && offset % msr::xapic::STRIDE == 0 && entry < extended_lvt_.size();
  return is_extended ? msr::X2APIC_EXTENDED_LVT0 + static_cast<u32>(entry) : 0;
}

// EOI is write-only: a read is not defined, and gives 0 here.
u32 ControlRegisters::read_xapic(u32 number) const {
  if (number == msr::X2APIC_LVTPC) return static_cast<u32>(lvtpc_);
  return number == msr::X2APIC_EOI ? 0 : static_cast<u32>(extended_lvt_[number - msr::X2APIC_EXTENDED_LVT0]);
}

void ControlRegisters::write_xapic(u32 number, u32 value) {
  if (number == msr::X2APIC_LVTPC) set_lvtpc(value);
  if (number >= msr::X2APIC_EXTENDED_LVT0)
    extended_lvt_[number - msr::X2APIC_EXTENDED_LVT0] = kept_of_lvt(value);
}

Rows<ControlRegisters> ControlRegisters::apic_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      // An APIC that is disabled loses what was written to it.
      {.address = msr::APIC_BASE,
       .name = "IA32_APIC_BASE",
       .reset = [](const CpuModel& m, unsigned) { return apic_base_after_reset(m); },
       .fields = apic_base_fields,
       .read = read_word<&C::apic_base_>,
       .write =
           [](C& c, At, u64 value) {
             if (!c.takes_apic_base(value)) return Fault::gp;
             c.apic_base_ = value;
             if (c.apic_mode() == 0) c.reset_entries();
             return Fault::none;
           },
       .takes = "bits 11 and 10 go from 0 to 2 (xAPIC) to 3 (x2APIC), and back to 0 alone"},
      // The end of an interrupt: no other is held back until then here.
      {.address = msr::X2APIC_EOI,
       .name = "IA32_X2APIC_EOI",
       .exists = has_x2apic,
       .present = is_there,
       .write = [](C&, At, u64) { return Fault::none; },
       .present_if = x2apic_mode},
      {.address = msr::X2APIC_LVTPC,
       .name = "IA32_X2APIC_LVT_PMI",
       .exists = has_x2apic,
       .present = is_there,
       .reset = [](const CpuModel&, unsigned) { return msr::lvtpc::MASKED; },
       .fields = lvtpc_fields,
       .read = read_word<&C::lvtpc_>,
       .write =
           [](C& c, At, u64 value) {
             c.set_lvtpc(value);
             return Fault::none;
           },
       .present_if = x2apic_mode},
      {.address = msr::X2APIC_EXTENDED_LVT0,
       .count = msr::EXTENDED_LVTS,
       .name = "X2APIC_EXTENDED_LVT{}",
       .exists = [](const CpuModel& m, unsigned) { return m.has_x2apic && m.amd.has_ibs(); },
       .present = is_there,
       .reset = [](const CpuModel&, unsigned) { return msr::lvtpc::MASKED; },
       .fields = lvtpc_fields,
       .read = read_word<&C::extended_lvt_>,
       .write =
           [](C& c, At at, u64 value) {
             c.extended_lvt_[at.n] = kept_of_lvt(value);
             return Fault::none;
           },
       .present_if = x2apic_mode},
  };
  return rows;
}

}  // namespace pmusim
