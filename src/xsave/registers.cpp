// SPDX-License-Identifier: MIT
// IA32_XSS, IA32_XFD, IA32_XFD_ERR and the registers of control-flow enforcement.
#include "xsave/cet.h"
#include "xsave/xsave_unit.h"

namespace pmusim {
namespace {

using enum StateComponent;

u64 xss_bits(const CpuModel& m, unsigned) { return m.xss; }
constexpr Field xss_fields[] = {
    {state_bit(pt), "PT", xss_bits},       {state_bit(pasid), "PASID", xss_bits},
    {state_bit(cet_u), "CET_U", xss_bits}, {state_bit(cet_s), "CET_S", xss_bits},
    {state_bit(hdc), "HDC", xss_bits},     {state_bit(uintr), "UINTR", xss_bits},
    {state_bit(lbr), "LBR", xss_bits},     {state_bit(hwp), "HWP", xss_bits},
};

u64 disableable(const CpuModel& m, unsigned) {
  u64 mask = 0;
  for (const unsigned n : set_bits(m.xcr0))
    if (m.xsave_components[n].disableable) mask |= bit(n);
  return mask;
}
bool has_xfd(const CpuModel& m, unsigned n) { return m.has_xsaves && disableable(m, n) != 0; }
constexpr Field xfd_fields[] = {{state_bit(tiledata), "AMX tile data"}};

bool has_cet(const CpuModel& m, unsigned) { return (m.xss & state_bits(cet_u, cet_s)) != 0; }
namespace c = cet::control;
constexpr Field cet_fields[] = {
    {c::SH_STK_EN, "shadow stack"},
    {c::WR_SHSTK_EN, "WRSS"},
    {c::ENDBR_EN, "indirect-branch tracking"},
    {c::LEG_IW_EN, "legacy code bitmap"},
    {c::NO_TRACK_EN, "NOTRACK prefix"},
    {c::SUPPRESS_DIS, "no suppression"},
    {c::SUPPRESS, "suppressed"},
    {c::TRACKER, "waits for ENDBRANCH"},
    {c::BITMAP_BASE, "address of the legacy code bitmap"},
};
constexpr Field stack_fields[] = {{bits(63, 2), "linear address"}};
constexpr Field table_fields[] = {{bits(63, 0), "linear address"}};
constexpr std::string_view canonical = "the address must be canonical: bits 63:48 equal bit 47";
constexpr std::string_view control_rule =
    "the bitmap's address must be canonical, and bits 10 and 11 (suppressed, waits) exclude each other";

}  // namespace

Fault XsaveUnit::write_cet(StateComponent component, std::size_t qword, u64 value) {
  set_component(component, qword, {&value, 1});
  modified_ |= state_bit(component);
  return Fault::none;
}

Rows<XsaveUnit> XsaveUnit::enable_registers() {
  using X = XsaveUnit;
  static constexpr Row<X> rows[] = {
      {.address = msr::XFD,
       .name = "IA32_XFD",
       .exists = has_xfd,
       .fields = xfd_fields,
       .writable = disableable,
       .read = read_word<&X::xfd_>,
       .write = write_word<&X::xfd_>},
      // The components for whose sake XRSTOR or another instruction took #NM.
      {.address = msr::XFD_ERR,
       .name = "IA32_XFD_ERR",
       .exists = has_xfd,
       .fields = xfd_fields,
       .writable = disableable,
       .read = read_word<&X::xfd_error_>,
       .write = write_word<&X::xfd_error_>},
      {.address = msr::XSS,
       .name = "IA32_XSS",
       .exists = [](const CpuModel& m, unsigned) { return m.has_xsaves; },
       .fields = xss_fields,
       .writable = xss_bits,
       .read = read_word<&X::xss_>,
       .write = write_word<&X::xss_>},
  };
  return rows;
}

Rows<XsaveUnit> XsaveUnit::cet_registers() {
  using X = XsaveUnit;
  static constexpr Row<X> rows[] = {
      {.address = msr::U_CET,
       .name = "IA32_U_CET",
       .exists = has_cet,
       .fields = cet_fields,
       .read = [](const X& x, At) { return x.state_.component(cet_u)[0]; },
       .write =
           [](X& x, At, u64 value) {
             return cet::is_legal_control(value) ? x.write_cet(cet_u, 0, value) : Fault::gp;
           },
       .takes = control_rule},
      // XSAVES does not manage this one.
      {.address = msr::S_CET,
       .name = "IA32_S_CET",
       .exists = has_cet,
       .fields = cet_fields,
       .read = read_word<&X::supervisor_cet_>,
       .write =
           [](X& x, At, u64 value) {
             if (!cet::is_legal_control(value)) return Fault::gp;
             x.supervisor_cet_ = value;
             return Fault::none;
           },
       .takes = control_rule},
      {.address = msr::PL0_SSP,
       .count = 3,
       .name = "IA32_PL{}_SSP",
       .exists = has_cet,
       .fields = stack_fields,
       .read = [](const X& x, At at) { return x.state_.component(cet_s)[at.n]; },
       .write =
           [](X& x, At at, u64 value) {
             return cet::is_legal_stack(value) ? x.write_cet(cet_s, at.n, value) : Fault::gp;
           },
       .takes = canonical},
      // The user shadow-stack pointer, as it stands whenever anything but user code looks.
      {.address = msr::PL3_SSP,
       .name = "IA32_PL3_SSP",
       .exists = has_cet,
       .fields = stack_fields,
       .read = [](const X& x, At) { return x.state_.ssp(); },
       .write =
           [](X& x, At, u64 value) {
             return cet::is_legal_stack(value) ? x.write_cet(cet_u, 1, value) : Fault::gp;
           },
       .takes = canonical},
      {.address = msr::INTERRUPT_SSP_TABLE_ADDR,
       .name = "IA32_INTERRUPT_SSP_TABLE_ADDR",
       .exists = has_cet,
       .fields = table_fields,
       .read = read_word<&X::interrupt_stacks_>,
       .write =
           [](X& x, At, u64 value) {
             if (!is_canonical(value)) return Fault::gp;
             x.interrupt_stacks_ = value;
             return Fault::none;
           },
       .takes = canonical},
  };
  return rows;
}

RowFamilies<XsaveUnit> XsaveUnit::registers(Vendor) { return {enable_registers(), cet_registers()}; }

}  // namespace pmusim
