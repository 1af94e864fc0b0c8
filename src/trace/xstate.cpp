// SPDX-License-Identifier: MIT
#include "trace/xstate.h"

#include <cpuid.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <cstring>

namespace pmusim::trace {
namespace {

constexpr u32 leaf_xsave = 0xD;

CpuidResult host_cpuid(u32 subleaf) {
  CpuidResult r;
  if (__get_cpuid_count(leaf_xsave, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool host_has_shadow_stacks() {
  constexpr u32 leaf = 7, cet_ss = 1 << 7;
  CpuidResult r;
  return __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx) != 0 && (r.ecx & cet_ss) != 0;
}

/// Nothing for a thread without a shadow stack, and from kernels that do not tell.
std::optional<u64> read_shadow_stack_pointer(u32 tid) {
  constexpr u64 nt_x86_shstk = 0x204;
  u64 pointer = 0;
  iovec value{&pointer, sizeof pointer};
  if (::ptrace(PTRACE_GETREGSET, tid, reinterpret_cast<void*>(nt_x86_shstk), &value) != 0 ||
      value.iov_len != sizeof pointer)
    return std::nullopt;
  return pointer;
}

std::vector<u64> qwords_at(std::span<const std::byte> area, std::size_t offset, std::size_t qwords) {
  std::vector<u64> values(qwords);
  if (offset + 8 * qwords <= area.size()) std::memcpy(values.data(), area.data() + offset, 8 * qwords);
  return values;
}

std::vector<u64> x87_registers(std::span<const std::byte> area) {
  constexpr u64 defined = bits(39, 0) | bits(58, 48);  // FCW, FSW, tags and 11 bits of opcode
  std::vector<u64> values = qwords_at(area, xsave::legacy::FCW, 3);
  values[0] &= defined;
  std::vector<u64> stack = qwords_at(area, xsave::legacy::ST, 16);
  for (std::size_t st = 1; st < stack.size(); st += 2) stack[st] &= bits(15, 0);
  values.insert(values.end(), stack.begin(), stack.end());
  return values;
}

}  // namespace

ExtendedState state_of_area(std::span<const std::byte> area, const xsave::ComponentTable& components) {
  using enum StateComponent;
  ExtendedState state;
  if (area.size() < xsave::extended_offset) return state;
  const u64 known = low_bits(xsave::component_count);
  const u64 valid = qwords_at(area, xsave::legacy_bytes, 1)[0] & known;
  if ((valid & state_bit(x87)) != 0) state.write(x87, 0, x87_registers(area));
  if ((valid & state_bit(sse)) != 0) state.write(sse, 0, qwords_at(area, xsave::legacy::XMM, 32));
  for (const unsigned n : set_bits(valid & ~low_bits(2))) {
    const auto c = static_cast<StateComponent>(n);
    if (components[n].bytes >= 8 * ExtendedState::size_of(c))
      state.write(c, 0, qwords_at(area, components[n].standard_offset, ExtendedState::size_of(c)));
  }
  state.set_mxcsr(static_cast<u32>(qwords_at(area, xsave::legacy::MXCSR, 1)[0]));
  return state;
}

// IA32_U_CET's other bits are not recorded.
ExtendedState with_shadow_stack(ExtendedState state, u64 pointer) {
  constexpr u64 shadow_stack_enabled = 1;
  state.write(StateComponent::cet_u, 0, {shadow_stack_enabled, pointer});
  return state;
}

XstateReader::XstateReader()
    : components_{},
      shadow_stacks_(host_has_shadow_stacks()),
      area_(std::max(host_cpuid(0).ecx, xsave::extended_offset)) {
  for (u32 n = 2; n < xsave::component_count; ++n) components_[n] = xsave::component_of(host_cpuid(n));
}

std::optional<ExtendedState> XstateReader::read(u32 tid) {
  iovec area{area_.data(), area_.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, reinterpret_cast<void*>(NT_X86_XSTATE), &area) != 0)
    return std::nullopt;
  const ExtendedState state =
      state_of_area(std::span<const std::byte>(area_).first(area.iov_len), components_);
  const std::optional<u64> pointer = shadow_stacks_ ? read_shadow_stack_pointer(tid) : std::nullopt;
  return pointer ? with_shadow_stack(state, *pointer) : state;
}

}  // namespace pmusim::trace
