// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_XSAVE_H
#define PMUSIM_ARCH_XSAVE_H

#include <algorithm>
#include <array>
#include <boost/endian/arithmetic.hpp>
#include <cstring>
#include <span>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// A part of the register state that XSAVE manages, by its number: the bit in XCR0 or IA32_XSS, in XSTATE_BV,
/// XCOMP_BV and a requested-feature bitmap (SDM vol. 1, 13.1).
enum class StateComponent : u8 {
  x87,
  sse,        ///< XMM0..15 and MXCSR
  avx,        ///< YMM0..15[255:128]
  bndregs,    ///< MPX
  bndcsr,     ///< MPX
  opmask,     ///< k0..k7
  zmm_hi256,  ///< ZMM0..15[511:256]
  hi16_zmm,   ///< ZMM16..31, all of them
  pt,
  pkru,
  pasid,
  cet_u,  ///< IA32_U_CET and IA32_PL3_SSP, the user shadow-stack pointer
  cet_s,  ///< IA32_PL0_SSP..IA32_PL2_SSP
  hdc,
  uintr,
  lbr,  ///< architectural LBR
  hwp,
  tilecfg,
  tiledata,
  apx,  ///< R16..R31
  count_
};

constexpr u64 state_bit(StateComponent c) { return bit(static_cast<unsigned>(c)); }
template <class... Components>
constexpr u64 state_bits(Components... components) {
  return (state_bit(components) | ... | u64{0});
}

/// What XSAVES and XRSTORS touch for the registers that a sample can show.
inline constexpr u64 vector_state =
    state_bits(StateComponent::sse, StateComponent::avx, StateComponent::opmask, StateComponent::zmm_hi256,
               StateComponent::hi16_zmm);

/// The registers of one thread beside the general ones: all that XSAVE manages but the LBR component, which
/// the LBR stack holds.
///
/// Each component is a row of qwords, in the order in which an XSAVE area has them, so that an image is made
/// by copying. x87 is bytes 0..23 and 32..159 of the legacy region; SSE is XMM0..15, then MXCSR.
///
///     ExtendedState state;                                     // as after RESET: nothing in use
///     state.write(StateComponent::avx, 2 * r, {low, high});    // YMMr[255:128]
///     state.vector(r)[2] == low;
class ExtendedState {
 public:
  static constexpr u64 init_fcw = 0x37F;
  static constexpr u32 init_mxcsr = 0x1F80;

  constexpr ExtendedState() {
    qwords_[0] = init_fcw;
    qwords_[mxcsr_at] = init_mxcsr;
  }

  /// Components that are not known to be in their initial configuration (XINUSE): bit n = component n.
  constexpr u64 in_use() const { return in_use_; }
  /// Components that leave use are initialised.
  constexpr void set_in_use(u64 components) {
    for (const unsigned n : set_bits(in_use_ & ~components & low_bits(component_count)))
      initialize(static_cast<StateComponent>(n));
    in_use_ = components & low_bits(component_count);
  }

  /// All of a component; empty for LBR.
  constexpr std::span<const u64> component(StateComponent c) const {
    return std::span(qwords_).subspan(begin_of(c), size_of(c));
  }
  /// Qwords of a component.
  static constexpr std::size_t size_of(StateComponent c) {
    return begin_[static_cast<unsigned>(c) + 1u] - begin_[static_cast<unsigned>(c)];
  }

  /// Writes `values` from qword `first` of a component on, which is then in use (MXCSR does not count). What
  /// would lie beyond the component is left out.
  constexpr void write(StateComponent c, std::size_t first, std::span<const u64> values) {
    const std::span<u64> target = registers_of(c);
    const std::size_t count = std::min(values.size(), target.size() - std::min(first, target.size()));
    for (std::size_t n = 0; n < count; ++n) target[first + n] = values[n];
    if (count != 0 && !(c == StateComponent::sse && first == mxcsr_qword)) in_use_ |= state_bit(c);
  }
  constexpr void write(StateComponent c, std::size_t first, std::initializer_list<u64> values) {
    write(c, first, std::span(values.begin(), values.size()));
  }
  /// Puts a component into its initial configuration, and out of use. MXCSR stays (set_mxcsr).
  constexpr void initialize(StateComponent c) {
    in_use_ &= ~state_bit(c);
    const u32 mxcsr_kept = mxcsr();
    std::ranges::fill(registers_of(c), u64{0});
    if (c == StateComponent::x87) qwords_[0] = init_fcw;
    if (c == StateComponent::sse) set_mxcsr(mxcsr_kept);
  }

  constexpr u32 mxcsr() const { return static_cast<u32>(qwords_[mxcsr_at]); }
  constexpr void set_mxcsr(u32 value) { qwords_[mxcsr_at] = value; }
  /// ZMMr, low qword first, r = 0..31; XMMr and YMMr are its beginning.
  constexpr std::array<u64, 8> vector(unsigned r) const;
  /// k0..k7.
  constexpr u64 opmask(unsigned k) const { return component(StateComponent::opmask)[k]; }
  /// R16..R31 (APX), n = 16..31.
  constexpr u64 egpr(unsigned n) const { return component(StateComponent::apx)[n - 16]; }
  constexpr u32 pkru() const { return static_cast<u32>(component(StateComponent::pkru)[0]); }
  /// The user shadow-stack pointer.
  constexpr u64 ssp() const { return component(StateComponent::cet_u)[1]; }

  friend constexpr bool operator==(const ExtendedState&, const ExtendedState&) = default;

  /// Where MXCSR is in the SSE component.
  static constexpr std::size_t mxcsr_qword = 32;

 private:
  constexpr std::span<u64> registers_of(StateComponent c) {
    return std::span(qwords_).subspan(begin_of(c), size_of(c));
  }
  static constexpr std::size_t component_count = static_cast<std::size_t>(StateComponent::count_);
  static constexpr std::array<u16, component_count> sizes_{19, 33, 32, 8, 8, 8, 64, 128, 16,   1,
                                                           1,  2,  3,  1, 6, 0, 1,  8,   1024, 16};
  static constexpr std::array<u16, component_count + 1> begin_ = [] {
    std::array<u16, component_count + 1> begin{};
    for (std::size_t c = 0; c < component_count; ++c) begin[c + 1] = static_cast<u16>(begin[c] + sizes_[c]);
    return begin;
  }();
  static constexpr std::size_t begin_of(StateComponent c) { return begin_[static_cast<unsigned>(c)]; }
  static constexpr std::size_t mxcsr_at = sizes_[0] + mxcsr_qword;

  u64 in_use_ = 0;
  std::array<u64, begin_.back()> qwords_{};
};

constexpr std::array<u64, 8> ExtendedState::vector(unsigned r) const {
  std::array<u64, 8> value{};
  const auto copy = [&](StateComponent c, std::size_t first, std::size_t count, std::size_t to) {
    std::ranges::copy(component(c).subspan(first, count), value.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (r >= 16) {
    copy(StateComponent::hi16_zmm, 8 * (r - 16), 8, 0);
    return value;
  }
  copy(StateComponent::sse, 2 * r, 2, 0);
  copy(StateComponent::avx, 2 * r, 2, 2);
  copy(StateComponent::zmm_hi256, 4 * r, 4, 4);
  return value;
}

/// Qwords of one component that got new values.
struct ExtendedWrite {
  StateComponent component = StateComponent::sse;
  u16 first = 0;                  ///< qword of the component
  std::span<const u64> values{};  ///< borrowed
};

/// What one instruction did to the extended registers. Borrowed for the call that passes it.
struct ExtendedChange {
  u64 in_use = 0;  ///< ExtendedState::in_use() after it
  std::span<const ExtendedWrite> writes{};

  void apply_to(ExtendedState& state) const {
    for (const ExtendedWrite& write : writes) state.write(write.component, write.first, write.values);
    state.set_in_use(in_use);
  }
};

}  // namespace pmusim

/// Areas of the XSAVE feature set (SDM vol. 1, ch. 13): components, header and the two formats.
namespace pmusim::xsave {

using boost::endian::little_uint64_t;

inline constexpr u32 legacy_bytes = 512, header_bytes = 64, extended_offset = legacy_bytes + header_bytes;
inline constexpr u32 alignment_bytes = 64;  ///< of an area

/// Where what is in the legacy region (64-bit form).
namespace legacy {
inline constexpr u32 FCW = 0, FSW = 2, FTW = 4, FOP = 6, FIP = 8, FDP = 16, MXCSR = 24, MXCSR_MASK = 28,
                     ST = 32, XMM = 160, END = 416;
}  // namespace legacy

/// XSAVE header, at offset 512.
struct Header {
  little_uint64_t xstate_bv, xcomp_bv;
  std::array<little_uint64_t, 6> reserved;
};
static_assert(sizeof(Header) == header_bytes);

/// XCOMP_BV[63]: the area is in the compacted format.
inline constexpr u64 compacted = bit(63);

/// One state component as CPUID.0DH describes it.
struct Component {
  u32 bytes = 0;             ///< 0: reserved number, or part of the legacy region
  u32 standard_offset = 0;   ///< 0 for supervisor components
  bool supervisor = false;   ///< enabled in IA32_XSS, not in XCR0
  bool aligned = false;      ///< starts at a 64-byte boundary of the compacted format
  bool disableable = false;  ///< has a bit in IA32_XFD
  friend bool operator==(const Component&, const Component&) = default;
};

inline constexpr unsigned component_count = static_cast<unsigned>(StateComponent::count_);

/// By component number.
using ComponentTable = std::array<Component, component_count>;

/// Sizes and offsets of every Intel part whose CPUID has been published.
inline constexpr ComponentTable intel_components = {{
    {},
    {},
    {.bytes = 256, .standard_offset = 576},
    {.bytes = 64, .standard_offset = 960},
    {.bytes = 64, .standard_offset = 1024},
    {.bytes = 64, .standard_offset = 1088},
    {.bytes = 512, .standard_offset = 1152},
    {.bytes = 1024, .standard_offset = 1664},
    {.bytes = 128, .supervisor = true},
    {.bytes = 8, .standard_offset = 2688},
    {.bytes = 8, .supervisor = true},
    {.bytes = 16, .supervisor = true},
    {.bytes = 24, .supervisor = true},
    {.bytes = 8, .supervisor = true},
    {.bytes = 48, .supervisor = true},
    {.bytes = 808, .supervisor = true},
    {.bytes = 8, .supervisor = true},
    {.bytes = 64, .standard_offset = 2752, .aligned = true},
    {.bytes = 8192, .standard_offset = 2816, .aligned = true, .disableable = true},
    {.bytes = 128, .standard_offset = 960},
}};

/// The component of CPUID sub-leaf 0DH.n, n >= 2.
constexpr Component component_of(const CpuidResult& leaf) {
  return {.bytes = leaf.eax,
          .standard_offset = leaf.ebx,
          .supervisor = (leaf.ecx & 1) != 0,
          .aligned = (leaf.ecx & 2) != 0,
          .disableable = (leaf.ecx & 4) != 0};
}

/// Where the extended components of an area lie, in bytes from its start; 0: no place (components 0 and 1 are
/// in the legacy region).
struct Layout {
  std::array<u32, component_count> offset{};
  u32 bytes = extended_offset;  ///< of the whole area
  constexpr u32 operator[](StateComponent c) const { return offset[static_cast<unsigned>(c)]; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The standard format holding the components of `mask`: places come from CPUID.
constexpr Layout standard_layout(const ComponentTable& components, u64 mask) {
  Layout layout;
  for (const unsigned i : set_bits(mask & low_bits(component_count) & ~low_bits(2))) {
    layout.offset[i] = components[i].standard_offset;
    layout.bytes = std::max(layout.bytes, components[i].standard_offset + components[i].bytes);
  }
  return layout;
}

/// The compacted format with XCOMP_BV = `mask`: places follow one another by component number.
constexpr Layout compacted_layout(const ComponentTable& components, u64 mask) {
  Layout layout;
  for (const unsigned i : set_bits(mask & low_bits(component_count) & ~low_bits(2))) {
    if (components[i].aligned) layout.bytes = (layout.bytes + 63) / 64 * 64;
    layout.offset[i] = layout.bytes;
    layout.bytes += components[i].bytes;
  }
  return layout;
}

/// An area in the compacted format, read by component. Borrows `area`, which may be cut short: what is beyond
/// its end reads as not there.
class CompactedImage {
 public:
  CompactedImage(std::span<const std::byte> area, const ComponentTable& components)
      : area_(area), components_(components) {
    if (area.size() < extended_offset) return;
    std::memcpy(&header_, area.data() + legacy_bytes, sizeof header_);
    layout_ = compacted_layout(components, header_.xcomp_bv);
  }
  /// Components that the area has values of (XSTATE_BV); the others are in their initial configuration.
  u64 valid() const { return header_.xstate_bv; }
  /// The bytes of a valid component; XMM0..15 for SSE, bytes 0..159 for x87. Empty where it is not valid.
  std::span<const std::byte> component(StateComponent c) const {
    if ((valid() & state_bit(c)) == 0) return {};
    if (c == StateComponent::x87) return area_.first(legacy::XMM);
    if (c == StateComponent::sse) return area_.subspan(legacy::XMM, legacy::END - legacy::XMM);
    const u32 offset = layout_[c], bytes = components_[static_cast<unsigned>(c)].bytes;
    if (offset == 0 || offset + bytes > area_.size()) return {};
    return area_.subspan(offset, bytes);
  }

 private:
  std::span<const std::byte> area_;
  const ComponentTable& components_;
  Header header_{};
  Layout layout_;
};

}  // namespace pmusim::xsave

/// The XSAVE instructions as `Pmu::save` and `Pmu::restore` take them:
///
///     pmu.save(SaveInstruction::xsaveopt, {.address = area, .features = state_bits(StateComponent::sse)});
///
namespace pmusim {

enum class SaveInstruction : u8 { xsave, xsaveopt, xsavec, xsaves };
enum class RestoreInstruction : u8 { xrstor, xrstors };

/// The operands of an XSAVE instruction, 64-bit form (REX.W).
struct XsaveOperands {
  u64 address = 0;
  u64 features = ~u64{0};  ///< EDX:EAX
  Cpl cpl = Cpl::kernel;
};

/// The bits of the control registers that decide about XSAVE instructions.
struct XsaveControl {
  bool os_enabled = true;  ///< CR4.OSXSAVE: software uses XSAVE; an operating system sets it when it boots
  bool task_switched = false;  ///< CR0.TS
};

}  // namespace pmusim

#endif
