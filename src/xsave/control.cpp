// SPDX-License-Identifier: MIT
// What software enables (XCR0, IA32_XSS), and what CPUID says of it.
#include "xsave/xsave_unit.h"

namespace pmusim {
namespace {

constexpr u32 leaf_xsave = 0xD;
constexpr u32 xgetbv_of_in_use = 1u << 2;  // CPUID.0DH.1:EAX

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

XsaveUnit::XsaveUnit(const CpuModel& model)
    : model_(&model),
      instructions_(pmusim::cpuid(model, leaf_xsave, 1).eax),
      layout_(xsave::compacted_layout(model.xsave_components, 0)) {}

void XsaveUnit::set_state(const ExtendedState& state) {
  state_ = state;
  keep_what_exists(~u64{0});
  modified_ = ~u64{0};
}

void XsaveUnit::write(const ExtendedChange& change) {
  u64 written = 0;
  for (const ExtendedWrite& write : change.writes) written |= state_bit(write.component);
  modified_ |= written | (state_.in_use() ^ change.in_use);
  change.apply_to(state_);
  keep_what_exists(written);
}

// What leaves a component in its initial configuration leaves it out of use: silicon looks at the values.
void XsaveUnit::set_component(StateComponent component, std::size_t first, std::span<const u64> values) {
  static constexpr ExtendedState initial;
  state_.write(component, first, values);
  const std::size_t registers =
      ExtendedState::size_of(component) - (component == StateComponent::sse ? 1 : 0);  // without MXCSR
  if (std::ranges::equal(state_.component(component).first(registers),
                         initial.component(component).first(registers)))
    state_.initialize(component);
}

CpuidResult XsaveUnit::cpuid(u32 leaf, u32 subleaf) const {
  constexpr u32 osxsave = 1u << 27;
  CpuidResult result = pmusim::cpuid(*model_, leaf, subleaf);
  if (leaf == 1 && !control_.os_enabled) result.ecx &= ~osxsave;
  if (leaf != leaf_xsave || model_->xcr0 == 0) return result;
  if (subleaf == 0) result.ebx = xsave::standard_layout(model_->xsave_components, xcr0_).bytes;
  if (subleaf == 1 && model_->has_xsaves)
    result.ebx = xsave::compacted_layout(model_->xsave_components, xcr0_ | xss_).bytes;
  return result;
}

Faulty<u64> XsaveUnit::xgetbv(u32 ecx) const {
  if (model_->xcr0 == 0 || !control_.os_enabled) return Failure(Fault::ud);
  if (ecx == 0) return xcr0_;
  if (ecx != 1 || (instructions_ & xgetbv_of_in_use) == 0) return Failure(Fault::gp);
  const bool mxcsr_changed = state_.mxcsr() != ExtendedState::init_mxcsr;
  return xcr0_ & (in_use(0) | (mxcsr_changed ? state_bit(StateComponent::sse) : 0));
}

Fault XsaveUnit::xsetbv(u32 ecx, u64 value, Cpl cpl) {
  if (model_->xcr0 == 0 || !control_.os_enabled) return Fault::ud;
  if (cpl != Cpl::kernel || ecx != 0 || !xcr0_is_legal(value, model_->xcr0)) return Fault::gp;
  xcr0_ = value;
  return Fault::none;
}

Fault XsaveUnit::check(const XsaveOperands& operands, u32 feature, bool supervisor) const {
  if (model_->xcr0 == 0 || !control_.os_enabled || (instructions_ & feature) != feature) return Fault::ud;
  if (control_.task_switched) return Fault::nm;
  if (supervisor && operands.cpl != Cpl::kernel) return Fault::gp;
  if (operands.address % xsave::alignment_bytes != 0 || !is_canonical(operands.address)) return Fault::gp;
  return Fault::none;
}

// Software saves the same components again and again.
const xsave::Layout& XsaveUnit::compacted_layout(u64 mask) {
  if (mask != layout_mask_) {
    layout_ = xsave::compacted_layout(model_->xsave_components, mask);
    layout_mask_ = mask;
  }
  return layout_;
}

}  // namespace pmusim
