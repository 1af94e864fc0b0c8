// SPDX-License-Identifier: MIT
#ifndef PMUSIM_X86_DECODED_H
#define PMUSIM_X86_DECODED_H

#include <Zydis/Zydis.h>

#include <array>
#include <optional>
#include <span>

#include "pmusim/base/types.h"

namespace pmusim::x86 {

/// What Zydis says of one instruction.
struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> all_operands;

  /// Hidden operands included: pushes, calls and string instructions have no other memory operands.
  std::span<const ZydisDecodedOperand> operands() const {
    return {all_operands.data(), instruction.operand_count};
  }
  ZydisMnemonic mnemonic() const { return instruction.mnemonic; }
  ZydisInstructionCategory category() const { return instruction.meta.category; }
  bool has(ZydisInstructionAttributes attributes) const { return (instruction.attributes & attributes) != 0; }
};

/// Nothing where the bytes are no 64-bit instruction.
inline std::optional<Decoded> zydis_decode(std::span<const std::byte> code) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Decoded decoded;
  const ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded.instruction,
                                                   decoded.all_operands.data());
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return decoded;
}

}  // namespace pmusim::x86

#endif
