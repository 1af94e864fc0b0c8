// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string_view>

#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

struct Beginning {
  std::string_view name;
  Signal kind;
};

// How mnemonics of integer vector work begin, without the V of the VEX form; the first that fits counts.
constexpr std::array beginnings{
    Beginning{"packss", Signal::vector_pack},       Beginning{"packus", Signal::vector_pack},
    Beginning{"punpck", Signal::vector_unpack},     Beginning{"pand", Signal::vector_logical},
    Beginning{"por", Signal::vector_logical},       Beginning{"pxor", Signal::vector_logical},
    Beginning{"pternlog", Signal::vector_logical},  Beginning{"psll", Signal::vector_shift},
    Beginning{"psrl", Signal::vector_shift},        Beginning{"psra", Signal::vector_shift},
    Beginning{"prol", Signal::vector_shift},        Beginning{"pror", Signal::vector_shift},
    Beginning{"pmul", Signal::vector_multiply},     Beginning{"pmadd", Signal::vector_multiply},
    Beginning{"pdpb", Signal::vector_dot_product},  Beginning{"pdpw", Signal::vector_dot_product},
    Beginning{"pshuf", Signal::vector_shuffle},     Beginning{"palignr", Signal::vector_shuffle},
    Beginning{"perm", Signal::vector_shuffle},      Beginning{"pbroadcast", Signal::vector_shuffle},
    Beginning{"padd", Signal::vector_arithmetic},   Beginning{"psub", Signal::vector_arithmetic},
    Beginning{"phadd", Signal::vector_arithmetic},  Beginning{"phsub", Signal::vector_arithmetic},
    Beginning{"pcmpeq", Signal::vector_arithmetic}, Beginning{"pcmpgt", Signal::vector_arithmetic},
    Beginning{"pcmp", Signal::vector_arithmetic},   Beginning{"pavg", Signal::vector_arithmetic},
    Beginning{"pabs", Signal::vector_arithmetic},   Beginning{"psign", Signal::vector_arithmetic},
    Beginning{"pmin", Signal::vector_arithmetic},   Beginning{"pmax", Signal::vector_arithmetic},
    Beginning{"psadbw", Signal::vector_arithmetic},
};

bool in_mmx_registers(const Decoded& d) {
  return std::ranges::any_of(d.operands(), [](const ZydisDecodedOperand& o) {
    return o.type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_MMX;
  });
}

Signal width_of(const Decoded& d) {
  if (in_mmx_registers(d)) return Signal::vector_integer_64;
  constexpr WidthSignals widths{Signal::vector_integer_128, Signal::vector_integer_256,
                                Signal::vector_integer_512};
  return widths.of(d.instruction.avx.vector_length);
}

}  // namespace

SignalSet vector_integer_signals(const Decoded& d) {
  std::string_view name = ZydisMnemonicGetString(d.mnemonic());
  if (name.starts_with('v')) name.remove_prefix(1);
  if (!name.starts_with('p')) return {};
  const auto* found =
      std::ranges::find_if(beginnings, [&](const Beginning& b) { return name.starts_with(b.name); });
  if (found == beginnings.end()) return {};
  return {width_of(d), found->kind};
}

}  // namespace pmusim::x86
