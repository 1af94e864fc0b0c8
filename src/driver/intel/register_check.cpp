// SPDX-License-Identifier: MIT
// What a core PMU's driver says of register masks, when the attribute's own rules are met
// (intel_pmu_hw_config).
#include <fmt/format.h>

#include <cerrno>

#include "driver/intel/intel_driver.h"

namespace pmusim::driver {

namespace {

namespace set = perf::register_set;

struct SetName {
  u32 set;
  const char* name;
};
constexpr SetName names[] = {
    {set::GENERAL, "general registers"}, {set::XMM, "XMM registers"},        {set::YMM_HIGH, "YMM registers"},
    {set::ZMM_HIGH, "ZMM registers"},    {set::HI16_ZMM, "ZMM16 to ZMM31"},  {set::OPMASK, "opmasks"},
    {set::EGPR, "R16 to R31"},           {set::SSP, "shadow-stack pointer"},
};

/// The first set of `sets`, in the order of the table: what is narrowest is missed first.
const char* first_of(u32 sets) {
  for (const SetName& row : names)
    if ((sets & row.set) != 0) return row.name;
  return "registers";
}

Failure<KernelError> refuse_registers(std::string text) {
  return Failure(KernelError(EINVAL, std::move(text)));
}

}  // namespace

/// Before SIMD sampling: XMM of the interrupted code, and only from PEBS. Masks that sample_type does not ask
/// for count, too (has_extended_regs).
Result<Done, KernelError> IntelDriver::check_xmm_of_old(const perf::Attr& attr) const {
  using perf::register_mask::XMM_HALVES;
  if ((attr.sample_regs_user & XMM_HALVES) != 0)
    return refuse_registers("sample_regs_user: vector registers are known at the interrupt only");
  if ((attr.sample_regs_intr & XMM_HALVES) == 0) return Done{};
  if (!capabilities().extended_registers)
    return refuse_registers("sample_regs_intr: PEBS of this CPU does not record XMM registers");
  if (attr.precise_ip == 0) return refuse_registers("sample_regs_intr: vector registers need precise_ip");
  return Done{};
}

/// Samples can have the sets at all: from PEBS alone or by XSAVES.
Result<Done, KernelError> IntelDriver::check_registers(const perf::Event& event) const {
  const perf::Attr& attr = event.attr;
  if (perf::simd_abi(options_.kernel) == perf::SimdAbi::none) return check_xmm_of_old(attr);
  const u32 sets = perf::needed_registers(attr) & set::EXTENDED;
  const bool asks_for_simd = attr.sample_simd_regs_enabled != 0 &&
                             (attr.sample_type & (perf::sample::REGS_USER | perf::sample::REGS_INTR)) != 0;
  if (asks_for_simd && !capabilities().simd_registers)
    return refuse_registers("sample_simd_regs_enabled: this CPU has no registers for it that XSAVES saves");
  if (sets == 0) return Done{};
  if (const u32 missing = attr.precise_ip != 0 ? sets & ~pebs_.recorded_registers() : 0; missing != 0)
    return refuse_registers(
        fmt::format("precise_ip: PEBS of this CPU does not record {}", first_of(missing)));
  if (const u32 missing = sets & ~registers_.available(); missing != 0)
    return refuse_registers(
        fmt::format("sample_regs: this CPU has no {} that XSAVES saves", first_of(missing)));
  return Done{};
}

}  // namespace pmusim::driver
