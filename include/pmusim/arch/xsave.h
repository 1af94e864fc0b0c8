// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_XSAVE_H
#define PMUSIM_ARCH_XSAVE_H

#include <algorithm>
#include <array>
#include <boost/endian/arithmetic.hpp>
#include <cstring>

#include "pmusim/base/bus.h"
#include "pmusim/base/extended_state.h"

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
