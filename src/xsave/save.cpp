// SPDX-License-Identifier: MIT
// XSAVE, XSAVEOPT, XSAVEC and XSAVES: SDM vol. 1, 13.7, 13.9 to 13.11.
#include "image.h"

namespace pmusim {
namespace {

using enum StateComponent;
constexpr u64 legacy_components = state_bits(x87, sse);

struct Kind {
  u32 feature;
  bool supervisor, compact, init_optimization, modified_optimization;
};
constexpr std::array<Kind, 4> kinds{{
    {0, false, false, false, false},
    {xsave::has_xsaveopt, false, false, true, true},
    {xsave::has_xsavec, false, true, true, false},
    {xsave::has_xsaves, true, true, true, true},
}};

void store_x87(std::span<const u64> qwords, std::span<std::byte> area) {
  std::memcpy(area.data(), qwords.data(), 8 * xsave::x87_header_qwords);
  std::memcpy(area.data() + xsave::legacy::ST, qwords.data() + xsave::x87_header_qwords,
              8 * (qwords.size() - xsave::x87_header_qwords));
}

/// Components that follow each other in the area do so in the registers too: AVX-512's three are one copy.
void store_components(const ExtendedState& state, u64 components, const xsave::Layout& layout,
                      std::span<std::byte> area) {
  while (components != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(components));
    const std::span<const u64> values = state.component(static_cast<StateComponent>(first));
    const u32 place = layout.offset[first];
    std::size_t bytes = values.size_bytes();
    unsigned next = first + 1;
    for (; (components & bit(next)) != 0 && layout.offset[next] == place + bytes; ++next)
      bytes += 8 * ExtendedState::size_of(static_cast<StateComponent>(next));
    std::memcpy(area.data() + place, values.data(), bytes);
    components &= ~low_bits(next);
  }
}

}  // namespace

// With MXCSR among the components' values, as the compacted format counts it.
u64 XsaveUnit::modified_since_restore(const XsaveOperands& operands, u64 xcomp_bv) const {
  const Restored here{operands.cpl != Cpl::kernel, operands.address, xcomp_bv};
  return model_->policies.xsave_modified_optimization != 0 && here == restored_ ? modified_ : ~u64{0};
}

FaultOr<SavePlan> XsaveUnit::plan(SaveInstruction which, const XsaveOperands& operands, u64 lbr_in_use) {
  const Kind& kind = kinds[static_cast<unsigned>(which)];
  const Fault fault = check(operands, kind.feature, kind.supervisor);
  if (fault != Fault::none) return Failure(fault);

  SavePlan plan{.requested = enabled(kind.supervisor) & operands.features, .compact = kind.compact};
  plan.xstate_bv = plan.requested & in_use(lbr_in_use);
  if (kind.compact && state_.mxcsr() != ExtendedState::init_mxcsr)
    plan.xstate_bv |= plan.requested & state_bit(sse);
  plan.written = kind.init_optimization ? plan.xstate_bv : plan.requested;
  if (kind.modified_optimization)
    plan.written &= modified_since_restore(operands, kind.compact ? plan.requested | xsave::compacted : 0);
  plan.mxcsr = kind.compact ? plan.writes(sse) : (plan.requested & state_bits(sse, avx)) != 0;
  plan.layout = kind.compact ? compacted_layout(plan.requested)
                             : xsave::standard_layout(model_->xsave_components, plan.requested);
  return plan;
}

void XsaveUnit::save(const SavePlan& plan, std::span<std::byte> area) const {
  using namespace xsave;
  constexpr std::size_t xstate_bv = legacy_bytes, xcomp_bv = legacy_bytes + 8;
  const u64 others = plan.compact ? 0 : load<u64>(area, xstate_bv) & ~plan.requested;
  store(area, xstate_bv, others | plan.xstate_bv);
  if (plan.compact) store(area, xcomp_bv, plan.requested | compacted);

  if (plan.mxcsr) {
    store(area, legacy::MXCSR, state_.mxcsr());
    store(area, legacy::MXCSR_MASK, model_->mxcsr_mask);
  }
  if (plan.writes(x87)) store_x87(state_.component(x87), area);
  if (plan.writes(sse))
    std::memcpy(area.data() + legacy::XMM, state_.component(sse).data(), legacy::END - legacy::XMM);
  const u64 extended = plan.written & ~legacy_components & ~state_bit(lbr);
  store_components(state_, extended & ~xfd_, plan.layout, area);
  for (const unsigned n : set_bits(extended & xfd_))  // looks as if it were not in use
    std::memset(area.data() + plan.layout.offset[n], 0,
                state_.component(static_cast<StateComponent>(n)).size_bytes());
}

}  // namespace pmusim
