// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string_view>

#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

using Kind = FpOperation::Kind;

struct Stem {
  std::string_view name;
  Kind kind;
};
// What FP_ARITH_INST_RETIRED counts, without the V of the VEX form, the operand order of FMA and the suffix
// that names the element type.
constexpr std::array stems{
    Stem{"add", Kind::add},         Stem{"sub", Kind::add},           Stem{"addsub", Kind::add},
    Stem{"hadd", Kind::add},        Stem{"hsub", Kind::add},          Stem{"min", Kind::add},
    Stem{"max", Kind::add},         Stem{"mul", Kind::multiply},      Stem{"dp", Kind::multiply},
    Stem{"fmadd", Kind::multiply},  Stem{"fmsub", Kind::multiply},    Stem{"fnmadd", Kind::multiply},
    Stem{"fnmsub", Kind::multiply}, Stem{"fmaddsub", Kind::multiply}, Stem{"fmsubadd", Kind::multiply},
    Stem{"rcp", Kind::multiply},    Stem{"rsqrt", Kind::multiply},    Stem{"div", Kind::divide},
    Stem{"sqrt", Kind::divide},
};

Kind kind_of(std::string_view stem) {
  if (stem.starts_with('v')) stem.remove_prefix(1);
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  const auto* found = std::ranges::find(stems, stem, &Stem::name);
  return found == stems.end() ? Kind::none : found->kind;
}

constexpr WidthSignals packed_single{Signal::fp_packed_128_single, Signal::fp_packed_256_single,
                                     Signal::fp_packed_512_single};
constexpr WidthSignals packed_double{Signal::fp_packed_128_double, Signal::fp_packed_256_double,
                                     Signal::fp_packed_512_double};
constexpr WidthSignals packed_half{Signal::fp_packed_128_half, Signal::fp_packed_256_half,
                                   Signal::fp_packed_512_half};

// AVX512-FP16; complex numbers are pairs, and events of scalars tell them apart.
Signal half_signal(std::string_view suffix, bool is_complex, unsigned bits) {
  if (suffix == "sh") return is_complex ? Signal::fp_complex_half : Signal::fp_scalar_half;
  return packed_half.of(bits);
}

FpOperation half_operation(const Decoded& d, std::string_view name) {
  const std::string_view suffix = name.substr(name.size() - 2);
  const std::string_view stem = name.substr(0, name.size() - 2);
  const bool is_complex = stem.starts_with("vfmulc") || stem.starts_with("vfcmul") ||
                          stem.starts_with("vfmaddc") || stem.starts_with("vfcmadd");
  const Kind kind = is_complex ? Kind::multiply : kind_of(stem);
  if (kind == Kind::none) return {};
  return {kind, {half_signal(suffix, is_complex, d.instruction.avx.vector_length)}};
}

FpOperation x87_operation(const Decoded& d) {
  FpOperation result;
  result.signals = {Signal::x87};
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_FADD:
    case ZYDIS_MNEMONIC_FADDP:
    case ZYDIS_MNEMONIC_FIADD:
    case ZYDIS_MNEMONIC_FSUB:
    case ZYDIS_MNEMONIC_FSUBP:
    case ZYDIS_MNEMONIC_FSUBR:
    case ZYDIS_MNEMONIC_FSUBRP:
    case ZYDIS_MNEMONIC_FISUB:
    case ZYDIS_MNEMONIC_FISUBR:
      result.kind = Kind::add;
      break;
    case ZYDIS_MNEMONIC_FMUL:
    case ZYDIS_MNEMONIC_FMULP:
    case ZYDIS_MNEMONIC_FIMUL:
      result.kind = Kind::multiply;
      break;
    case ZYDIS_MNEMONIC_FDIV:
    case ZYDIS_MNEMONIC_FDIVP:
    case ZYDIS_MNEMONIC_FDIVR:
    case ZYDIS_MNEMONIC_FDIVRP:
    case ZYDIS_MNEMONIC_FIDIV:
    case ZYDIS_MNEMONIC_FIDIVR:
    case ZYDIS_MNEMONIC_FSQRT:
      result.kind = Kind::divide;
      break;
    default:
      break;
  }
  return result;
}

}  // namespace

FpOperation fp_operation(const Decoded& d) {
  if (d.instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87) return x87_operation(d);
  const std::string_view name = ZydisMnemonicGetString(d.mnemonic());
  if (name.size() < 4) return {};
  const std::string_view suffix = name.substr(name.size() - 2);
  const bool scalar = suffix == "ss" || suffix == "sd";
  if (suffix == "sh" || suffix == "ph") return half_operation(d, name);
  if (!scalar && suffix != "ps" && suffix != "pd") return {};
  const Kind kind = kind_of(name.substr(0, name.size() - 2));
  if (kind == Kind::none) return {};

  const bool is_double = suffix[1] == 'd';
  FpOperation result{kind, {}};
  if (scalar) {
    result.signals.add(is_double ? Signal::fp_scalar_double : Signal::fp_scalar_single);
  } else {
    result.signals.add((is_double ? packed_double : packed_single).of(d.instruction.avx.vector_length));
  }
  return result;
}

namespace {

/// Minima, maxima and approximations compute nothing.
Quantity flop_kind_of(std::string_view mnemonic) {
  if (mnemonic.starts_with('v')) mnemonic.remove_prefix(1);
  if (mnemonic.starts_with("fm") || mnemonic.starts_with("fnm")) return Quantity::flops_multiply_add;
  if (mnemonic.starts_with("mul")) return Quantity::flops_multiply;
  if (mnemonic.starts_with("div") || mnemonic.starts_with("sqrt")) return Quantity::flops_divide;
  for (const std::string_view sum : {"add", "sub", "hadd", "hsub"})
    if (mnemonic.starts_with(sum)) return Quantity::flops_add;
  return Quantity::none;
}

struct Lanes {
  Signal signal;
  u8 lanes;
};
constexpr std::array lane_counts{
    Lanes{Signal::fp_scalar_single, 1},      Lanes{Signal::fp_scalar_double, 1},
    Lanes{Signal::fp_packed_128_single, 4},  Lanes{Signal::fp_packed_128_double, 2},
    Lanes{Signal::fp_packed_256_single, 8},  Lanes{Signal::fp_packed_256_double, 4},
    Lanes{Signal::fp_packed_512_single, 16}, Lanes{Signal::fp_packed_512_double, 8},
};

}  // namespace

void add_flops(Instruction& instruction, const Decoded& d, const FpOperation& fp) {
  const auto* found =
      std::ranges::find_if(lane_counts, [&](const Lanes& each) { return fp.signals.has(each.signal); });
  if (found == lane_counts.end()) return;
  instruction.flop_kind = flop_kind_of(ZydisMnemonicGetString(d.mnemonic()));
  if (instruction.flop_kind == Quantity::none) return;
  const bool twice = instruction.flop_kind == Quantity::flops_multiply_add;
  instruction.flops = static_cast<u8>(twice ? 2 * found->lanes : found->lanes);
}

}  // namespace pmusim::x86
