// SPDX-License-Identifier: MIT
// XRSTOR and XRSTORS: SDM vol. 1, 13.8 and 13.12.
#include "image.h"
#include "xsave/cet.h"

namespace pmusim {
namespace {

using enum StateComponent;

constexpr u64 held_here = ~state_bit(lbr);

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// Bits of a supervisor component's registers that must be 0, where they are known. UINTR and PT are taken as
/// they come.
bool is_legal(StateComponent c, std::span<const u64> values) {
  switch (c) {
    case cet_u:
      return cet::is_legal_control(values[0]) && cet::is_legal_stack(values[1]);
    case cet_s:
      return std::ranges::all_of(values, cet::is_legal_stack);
    case pasid:  // IA32_PASID: 19:0 the number, 31 valid
      return (values[0] & ~(bits(19, 0) | bit(31))) == 0;
    case hdc:  // IA32_PM_CTL1: 0 the only bit
      return (values[0] & ~u64{1}) == 0;
    default:
      return true;
  }
}

/// Bits of a component's qwords that the registers do not have.
void drop_what_does_not_exist(StateComponent c, std::span<u64> qwords) {
  if (c == pkru) qwords[0] &= bits(31, 0);
  if (c != x87) return;
  qwords[0] = xsave::x87_control(qwords[0]);
  for (std::size_t st = 0; st < 8; ++st) qwords[xsave::x87_header_qwords + 2 * st + 1] &= xsave::st_upper;
}

/// A component's qwords from an area. What does not exist in the registers is dropped.
class Loaded {
 public:
  Loaded(StateComponent c, const xsave::Layout& layout, std::span<const std::byte> area)
      : component_(c), size_(ExtendedState::size_of(c)) {
    if (c == x87)
      load_x87(area);
    else
      load(area, c == sse ? xsave::legacy::XMM : layout[c]);
    drop_what_does_not_exist(c, qwords_);
  }
  StateComponent component() const { return component_; }
  std::span<const u64> values() const { return std::span(qwords_).first(size_); }

 private:
  void load_x87(std::span<const std::byte> area) {
    using namespace xsave;
    std::memcpy(qwords_.data(), area.data(), 8 * x87_header_qwords);
    std::memcpy(qwords_.data() + x87_header_qwords, area.data() + legacy::ST, legacy::XMM - legacy::ST);
  }
  void load(std::span<const std::byte> area, u32 offset) {
    if (component_ == sse) --size_;  // MXCSR has rules of its own
    std::memcpy(qwords_.data(), area.data() + offset, 8 * size_);
  }

  StateComponent component_;
  std::size_t size_;
  std::array<u64, ExtendedState::size_of(tiledata)> qwords_;
};

}  // namespace

void XsaveUnit::keep_what_exists(u64 components) {
  for (const StateComponent c : {x87, pkru}) {
    if ((components & state_bit(c)) == 0) continue;
    const std::span<const u64> given = state_.component(c);
    std::array<u64, ExtendedState::size_of(x87)> held{};
    std::ranges::copy(given, held.begin());
    const auto qwords = std::span(held).first(given.size());
    drop_what_does_not_exist(c, qwords);
    if (!std::ranges::equal(qwords, given)) state_.write(c, 0, qwords);
  }
  if ((components & state_bit(sse)) != 0) state_.set_mxcsr(state_.mxcsr() & model_->mxcsr_mask);
  for (const StateComponent c : {cet_u, cet_s, pasid, hdc})
    if ((components & state_bit(c)) != 0 && !is_legal(c, state_.component(c))) state_.initialize(c);
}

Fault XsaveUnit::check(RestoreInstruction which, const XsaveOperands& operands) const {
  const bool supervisor = which == RestoreInstruction::xrstors;
  return check(operands, supervisor ? xsave::has_xsaves : 0, supervisor);
}

bool XsaveUnit::header_is_legal(RestoreInstruction which, const xsave::Header& header) const {
  const u64 layout = header.xcomp_bv, saved = header.xstate_bv;
  const bool supervisor = which == RestoreInstruction::xrstors;
  if ((layout & xsave::compacted) == 0)
    return !supervisor && layout == 0 && header.reserved[0] == 0 && (saved & ~xcr0_) == 0;
  const u64 present = layout & ~xsave::compacted;
  return (instructions_ & xsave::has_xsavec) != 0 && (present & ~enabled(supervisor)) == 0 &&
         (saved & ~present) == 0 && is_zero(std::as_bytes(std::span(header.reserved)));
}

FaultOr<RestorePlan> XsaveUnit::plan(RestoreInstruction which, const XsaveOperands& operands,
                                     std::span<const std::byte> head) {
  const auto header = xsave::load<xsave::Header>(head, xsave::legacy_bytes);
  if (!header_is_legal(which, header)) return Failure(Fault::gp);
  const bool compact = header.xcomp_bv != 0;
  const u64 saved = header.xstate_bv;

  RestorePlan plan{.xcomp_bv = header.xcomp_bv};
  plan.requested = enabled(which == RestoreInstruction::xrstors) & operands.features;
  plan.loaded = plan.requested & saved;
  plan.initialized = plan.requested & ~saved;
  if (compact && (plan.requested & state_bit(sse)) != 0)
    plan.mxcsr = plan.loads(sse) ? RestorePlan::Mxcsr::load : RestorePlan::Mxcsr::initialize;
  if (!compact && (plan.requested & state_bits(sse, avx)) != 0) plan.mxcsr = RestorePlan::Mxcsr::load;
  if (plan.mxcsr == RestorePlan::Mxcsr::load &&
      (xsave::load<u32>(head, xsave::legacy::MXCSR) & ~model_->mxcsr_mask) != 0)
    return Failure(Fault::gp);
  if ((plan.loaded & xfd_) != 0) {
    xfd_error_ = plan.loaded & xfd_;
    return Failure(Fault::nm);
  }

  plan.layout = compact ? compacted_layout(plan.xcomp_bv & ~xsave::compacted)
                        : xsave::standard_layout(model_->xsave_components, plan.loaded);
  plan.bytes = xsave::extended_offset;
  for (const unsigned n : set_bits(plan.loaded & ~low_bits(2)))
    plan.bytes = std::max(plan.bytes, plan.layout.offset[n] + model_->xsave_components[n].bytes);
  return plan;
}

Fault XsaveUnit::check_values(const RestorePlan& plan, std::span<const std::byte> area) const {
  for (const unsigned n : set_bits(plan.loaded & xss_ & held_here)) {
    const Loaded loaded(static_cast<StateComponent>(n), plan.layout, area);
    if (!is_legal(loaded.component(), loaded.values())) return Fault::gp;
  }
  return Fault::none;
}

void XsaveUnit::restore(const RestorePlan& plan, const XsaveOperands& operands,
                        std::span<const std::byte> area) {
  for (const unsigned n : set_bits(plan.initialized & held_here))
    state_.initialize(static_cast<StateComponent>(n));
  for (const unsigned n : set_bits(plan.loaded & held_here)) {
    const Loaded loaded(static_cast<StateComponent>(n), plan.layout, area);
    set_component(loaded.component(), 0, loaded.values());
  }
  if (plan.mxcsr == RestorePlan::Mxcsr::load) state_.set_mxcsr(xsave::load<u32>(area, xsave::legacy::MXCSR));
  if (plan.mxcsr == RestorePlan::Mxcsr::initialize) state_.set_mxcsr(ExtendedState::init_mxcsr);

  restored_ = {operands.cpl != Cpl::kernel, operands.address, plan.xcomp_bv};
  // Branches change the LBR component behind this unit's back.
  modified_ = ~plan.requested | state_bit(lbr);
}

}  // namespace pmusim
