// SPDX-License-Identifier: MIT
#ifndef PMUSIM_EVENTS_REGISTERS_H
#define PMUSIM_EVENTS_REGISTERS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perf/abi.h"

/// Which registers samples are to hold, in perf's names for them.
namespace pmusim::events {

/// A comma-separated register list in perf's names ("ax,ip,r8,xmm0") as a mask for attr.sample_regs_*: bit n
/// is perf register n; an XMM register is two bits (docs/sampled-registers.md). Errors name near matches.
[[nodiscard]] Result<u64, Error> parse_registers(std::string_view list);

/// Names that parse_registers() knows, in the order of their numbers.
[[nodiscard]] std::vector<std::string> register_names();

/// What a list without names stands for: every general register.
[[nodiscard]] u64 general_registers();

/// The instruction pointer, which is known of every trace.
constexpr u64 pc_register = u64{1} << 8;

/// What a sample is to hold beyond the general registers, on one side.
struct SimdRegisters {
  u16 vector_qwords = 0;  ///< 2 XMM, 4 YMM, 8 ZMM; 0: no vector registers
  u64 vectors = 0;        ///< bit r: vector register r
  u32 predicates = 0;     ///< bit k: opmask k
  u64 general = 0;        ///< R16 to R31 and SSP, with the numbers that sample_regs_* has for them

  bool any() const { return (vectors | predicates | general) != 0; }
  friend bool operator==(const SimdRegisters&, const SimdRegisters&) = default;
};

/// One word of the lists below, and what it stands for without a mask.
struct SimdClass {
  std::string_view name;
  u32 needs;  ///< perf::register_set
  u64 whole;  ///< every register of it
  std::string_view text;
};
std::span<const SimdClass> simd_classes();

/// A list of register classes, each with the registers wanted of it or without, which is all of them:
/// "zmm,opmask:0x3,ssp". Of several widths the widest wins, for the registers of all. Errors name the word.
[[nodiscard]] Result<SimdRegisters, Error> parse_simd_registers(std::string_view list);

/// Sampled registers of both sides. Masks are those of sample_regs_* without SIMD sampling: XMM halves above
/// bit 31.
struct RegisterChoice {
  u64 interrupt = 0, user = 0;
  SimdRegisters interrupt_simd{}, user_simd{};
  bool simd() const { return interrupt_simd.any() || user_simd.any(); }
};

/// Makes `attr` ask for the choice: the numbers of old where they can say it all, so that older readers
/// understand, else SIMD sampling, for which XMM registers of the masks become vector registers.
void ask_for_registers(perf::Attr& attr, const RegisterChoice& choice);

}  // namespace pmusim::events

#endif
