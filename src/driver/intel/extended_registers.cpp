// SPDX-License-Identifier: MIT
#include "driver/intel/extended_registers.h"

#include <cstring>

#include "pmusim/arch/msr.h"

namespace pmusim::driver {

namespace {

using perf::ExtendedRegisters;
namespace set = perf::register_set;

/// A register set, the state component that holds it, and where a sample takes it from.
struct SetRow {
  u32 set;
  StateComponent component;
  std::span<const std::byte> ExtendedRegisters::*piece;  // of SSP none: it is a word of its component
};
constexpr SetRow register_rows[] = {
    {set::XMM, StateComponent::sse, &ExtendedRegisters::xmm},
    {set::YMM_HIGH, StateComponent::avx, &ExtendedRegisters::ymm_high},
    {set::OPMASK, StateComponent::opmask, &ExtendedRegisters::opmask},
    {set::ZMM_HIGH, StateComponent::zmm_hi256, &ExtendedRegisters::zmm_high},
    {set::HI16_ZMM, StateComponent::hi16_zmm, &ExtendedRegisters::hi16_zmm},
    {set::SSP, StateComponent::cet_u, nullptr},
    {set::EGPR, StateComponent::apx, &ExtendedRegisters::egpr},
};

constexpr u32 leaf_xsave = 0xD;

u64 components_of(u32 sets) {
  u64 components = 0;
  for (const SetRow& row : register_rows)
    if ((sets & row.set) != 0) components |= state_bit(row.component);
  return components;
}

u64 shadow_stack_pointer(std::span<const std::byte> cet_u) {
  constexpr std::size_t offset = 8;  // behind IA32_U_CET
  u64 ssp = 0;
  if (cet_u.size() >= offset + sizeof ssp) std::memcpy(&ssp, cet_u.data() + offset, sizeof ssp);
  return ssp;
}

}  // namespace

ExtendedRegisterReader::ExtendedRegisterReader(RegisterAccess& access, u64 buffer_address)
    : access_(access), address_(buffer_address) {}

/// False without XSAVES.
bool ExtendedRegisterReader::enable_components() {
  constexpr u32 has_xsaves = 1 << 3;
  if (access_.probe().cpuid(0, 0).eax < leaf_xsave) return false;
  const CpuidResult user = access_.probe().cpuid(leaf_xsave, 0), more = access_.probe().cpuid(leaf_xsave, 1);
  if ((more.eax & has_xsaves) == 0) return false;
  if (access_.probe().xsetbv(0, u64{user.edx} << 32 | user.eax) != Fault::none) return false;
  const u64 shadow_stack = more.ecx & state_bit(StateComponent::cet_u);
  const auto xss = access_.rdmsr(msr::XSS);
  return xss.ok() && access_.wrmsr(msr::XSS, *xss | shadow_stack) == Fault::none;
}

/// What XCOMP_BV of a first image names is enabled.
void ExtendedRegisterReader::set_up() {
  if (!enable_components()) return;
  for (unsigned n = 2; n < xsave::component_count; ++n)
    components_[n] = xsave::component_of(access_.probe().cpuid(leaf_xsave, n));
  const u64 wanted = components_of(set::EXTENDED);
  const u32 bytes = xsave::compacted_layout(components_, wanted).bytes;
  if (!access_.probe().map_memory(address_, bytes) || access_.xsaves(address_, wanted) != Fault::none) return;
  buffer_bytes_ = bytes;
  xsave::Header header;
  const std::span<const std::byte> area = access_.memory(address_, bytes);
  if (area.size() < xsave::extended_offset) return;
  std::memcpy(&header, area.data() + xsave::legacy_bytes, sizeof header);
  for (const SetRow& row : register_rows)
    if ((header.xcomp_bv & state_bit(row.component)) != 0) available_ |= row.set;
}

const ExtendedRegisters& ExtendedRegisterReader::read(u32 sets) {
  registers_ = {};
  const u64 components = components_of(sets & available_);
  if (components == 0 || access_.xsaves(address_, components) != Fault::none) return registers_;
  const xsave::CompactedImage image(access_.memory(address_, buffer_bytes_), components_);
  for (const SetRow& row : register_rows) {
    if ((sets & row.set) == 0) continue;
    const std::span<const std::byte> component = image.component(row.component);
    if (row.piece != nullptr)
      registers_.*row.piece = component;
    else
      registers_.shadow_stack_pointer = shadow_stack_pointer(component);
  }
  return registers_;
}

}  // namespace pmusim::driver
