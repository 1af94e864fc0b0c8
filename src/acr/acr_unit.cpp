#include "pmusim/acr/acr_unit.h"

namespace pmusim {

/// Counters whose overflow stands. In the order of lowest index first, a counter that a lower cause has just
/// reloaded has never overflowed.
u64 AcrUnit::standing(u64 overflowed) const {
  if (model_->policies.acr_tie == 0) return overflowed;
  u64 causes = overflowed;
  for (const unsigned counter : set_bits(overflowed & armed_))
    if ((causes & low_bits(counter) & cfg_b_[counter]) != 0) causes &= ~bit(counter);
  return causes;
}

AcrUnit::Reloads AcrUnit::find_reloads(u64 overflowed, const CounterFile& counters) const {
  Reloads result;
  const u64 causes = standing(overflowed);
  for (const unsigned counter : set_bits(armed_))
    if ((cfg_b_[counter] & causes) != 0)
      result.values.push_back({counter, reload_value(counter, counters, overflowed)});
  result.without_status = overflowed & ~causes;
  for (const unsigned counter : set_bits(causes & armed_))
    if ((cfg_b_[counter] & bit(counter)) != 0) result.without_status |= bit(counter);
  return result;
}

u64 AcrUnit::reload_value(unsigned counter, const CounterFile& counters, u64 overflowed) const {
  constexpr u64 low_half = bits(31, 0);
  const u64 programmed = counters.cfg_c(counter) & low_half;
  const u64 extended =
      model_->policies.acr_reload_extension == 1 ? programmed | ~low_half : sign_extend(programmed, 31);
  const bool keeps_residue = model_->policies.acr_lost_increment == 0 && (overflowed & bit(counter)) != 0;
  return (extended + (keeps_residue ? counters.value(counter) : 0)) & low_bits(model_->counter_width);
}

struct AcrRegisters {
  static u64 read(const AcrUnit& unit, unsigned counter) { return unit.cfg_b_[counter]; }
  static Fault write(AcrUnit& unit, unsigned counter, u64 value) {
    unit.cfg_b_[counter] = value;
    unit.armed_ = value != 0 ? unit.armed_ | bit(counter) : unit.armed_ & ~bit(counter);
    return Fault::none;
  }
  static u64 causes(const CpuModel& model, unsigned) { return model.acr.cause; }
};

std::span<const RegisterSpec> AcrUnit::registers() {
  static constexpr std::string_view meaning = "bit n / 32+m: overflow of GP n / fixed m reloads this counter";
  static constexpr std::array rows{
      RegisterSpec{
          .address = msr::V6_GP0_CFG_B,
          .count = 32,
          .stride = msr::V6_STRIDE,
          .name = "IA32_PMC_GP{}_CFG_B",
          .owner = Unit::acr,
          .exists = [](const CpuModel& model, unsigned n) { return (model.acr.reloadable >> n & 1) != 0; },
          .writable = AcrRegisters::causes,
          .read = read_as<AcrUnit, [](const AcrUnit& u, unsigned n) { return AcrRegisters::read(u, n); }>,
          .write = write_as<AcrUnit, [](AcrUnit& u, unsigned n,
                                        u64 value) { return AcrRegisters::write(u, n, value); }>,
          .bits = meaning},
      RegisterSpec{
          .address = msr::V6_FX0_CFG_B,
          .count = 16,
          .stride = msr::V6_STRIDE,
          .name = "IA32_PMC_FX{}_CFG_B",
          .owner = Unit::acr,
          .exists = [](const CpuModel& model,
                       unsigned m) { return (model.acr.reloadable >> (first_fixed + m) & 1) != 0; },
          .writable = AcrRegisters::causes,
          .read = read_as<AcrUnit, [](const AcrUnit& u,
                                      unsigned m) { return AcrRegisters::read(u, first_fixed + m); }>,
          .write =
              write_as<AcrUnit, [](AcrUnit& u, unsigned m,
                                   u64 value) { return AcrRegisters::write(u, first_fixed + m, value); }>,
          .bits = meaning},
  };
  return rows;
}

}  // namespace pmusim
