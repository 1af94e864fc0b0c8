// What software enables in XCR0.
#include "pmusim/xsave/xsave_unit.h"

namespace pmusim {
namespace {

bool whole_or_absent(u64 value, u64 group) { return (value & group) == 0 || (value & group) == group; }

}  // namespace

bool xcr0_is_legal(u64 value, u64 supported) {
  using enum StateComponent;
  const u64 mpx = state_bits(bndregs, bndcsr), avx_512 = state_bits(opmask, zmm_hi256, hi16_zmm);
  const auto needs = [&](u64 dependent, u64 base) {
    return (value & dependent) == 0 || (value & base) == base;
  };
  return (value & ~supported) == 0 && (value & state_bit(x87)) != 0 &&  //
         needs(state_bit(avx), state_bit(sse)) && needs(avx_512, state_bit(avx)) &&
         whole_or_absent(value, mpx) && whole_or_absent(value, avx_512) &&
         whole_or_absent(value, state_bits(tilecfg, tiledata)) &&
         ((value & state_bit(apx)) == 0 || (value & mpx) == 0);
}

Faulty<u64> XsaveUnit::xgetbv(u32 ecx) const {
  constexpr u32 xcr0 = 0, in_use = 1;
  if (model_->xcr0 == 0) return Failure(Fault::ud);
  if (ecx == xcr0) return xcr0_;
  if (ecx != in_use || !model_->has_xsaves) return Failure(Fault::gp);
  const bool mxcsr_changed = state_.mxcsr() != ExtendedState::init_mxcsr;
  return xcr0_ & (state_.in_use() | (mxcsr_changed ? state_bit(StateComponent::sse) : 0));
}

Fault XsaveUnit::xsetbv(u32 ecx, u64 value) {
  if (model_->xcr0 == 0) return Fault::ud;
  if (ecx != 0 || !xcr0_is_legal(value, model_->xcr0)) return Fault::gp;
  xcr0_ = value;
  return Fault::none;
}

}  // namespace pmusim
