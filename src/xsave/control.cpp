// SPDX-License-Identifier: MIT
// What software enables (XCR0, IA32_XSS), and what CPUID says of it.
#include "xsave/xsave_unit.h"

namespace pmusim {
namespace {

constexpr u32 leaf_xsave = 0xD;
constexpr u32 xgetbv_of_in_use = 1u << 2;  // CPUID.0DH.1:EAX

constexpr bool whole_or_absent(u64 value, u64 group) {
  return (value & group) == 0 || (value & group) == group;
}
constexpr bool needs(u64 value, u64 dependent, u64 base) {
  return (value & dependent) == 0 || (value & base) == base;
}

using enum StateComponent;
constexpr u64 mpx = state_bits(bndregs, bndcsr), avx_512 = state_bits(opmask, zmm_hi256, hi16_zmm),
              amx = state_bits(tilecfg, tiledata);

/// SDM vol. 1, 13.3: which components may be enabled without which.
struct Xcr0Rule {
  bool (*holds)(u64 value);
  std::string_view sentence;
};
constexpr Xcr0Rule xcr0_rules[] = {
    {[](u64 v) { return (v & state_bit(x87)) != 0; }, "bit 0 (x87) must be set"},
    {[](u64 v) { return needs(v, state_bit(avx), state_bit(sse)); }, "AVX (bit 2) needs SSE (bit 1)"},
    {[](u64 v) { return needs(v, avx_512, state_bit(avx)); }, "AVX-512 (bits 7:5) needs AVX (bit 2)"},
    {[](u64 v) { return whole_or_absent(v, avx_512); }, "bits 7:5 (AVX-512) go together"},
    {[](u64 v) { return whole_or_absent(v, mpx); }, "bits 4:3 (MPX) go together"},
    {[](u64 v) { return whole_or_absent(v, amx); }, "bits 18:17 (AMX) go together"},
    {[](u64 v) { return (v & state_bit(apx)) == 0 || (v & mpx) == 0; },
     "APX (bit 19) excludes MPX (bits 4:3)"},
};

}  // namespace

std::string_view broken_xcr0_rule(u64 value) {
  for (const Xcr0Rule& rule : xcr0_rules)
    if (!rule.holds(value)) return rule.sentence;
  return "";
}

bool xcr0_is_legal(u64 value, u64 supported) {
  return (value & ~supported) == 0 && broken_xcr0_rule(value).empty();
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

FaultOr<u64> XsaveUnit::xgetbv(u32 ecx) const {
  if (!is_enabled()) return Failure(Fault::ud);
  if (ecx == 0) return xcr0_;
  if (ecx != 1 || (instructions_ & xgetbv_of_in_use) == 0) return Failure(Fault::gp);
  const bool mxcsr_changed = state_.mxcsr() != ExtendedState::init_mxcsr;
  return xcr0_ & (in_use(0) | (mxcsr_changed ? state_bit(StateComponent::sse) : 0));
}

Fault XsaveUnit::xsetbv(u32 ecx, u64 value, Cpl cpl) {
  if (!is_enabled()) return Fault::ud;
  if (cpl != Cpl::kernel || ecx != 0 || !xcr0_is_legal(value, model_->xcr0)) return Fault::gp;
  xcr0_ = value;
  return Fault::none;
}

observed::FaultRule XsaveUnit::rule_of_xsetbv(u32 ecx, u64 value) const {
  using observed::FaultRule;
  if (!is_enabled()) return FaultRule::enabled;
  if (ecx != 0) return FaultRule::exists;
  return (value & ~model_->xcr0) != 0 ? FaultRule::reserved : FaultRule::value;
}

Fault XsaveUnit::check(const XsaveOperands& operands, u32 feature, bool supervisor) const {
  if (!is_enabled() || (instructions_ & feature) != feature) return Fault::ud;
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
