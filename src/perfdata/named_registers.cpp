// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "perf/simd_abi.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

namespace {

constexpr u64 abi_simd = 4;

constexpr std::array<std::string_view, 24> general_names = {
    "AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
    "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15"};

std::string general_name(unsigned number, u64 abi) {
  constexpr unsigned first_egpr = 24, first_xmm_half = 32, ssp = 40;
  if (number < general_names.size()) return std::string(general_names[number]);
  if ((abi & abi_simd) == 0)
    return number < first_xmm_half ? "unknown" : fmt::format("XMM{}", (number - first_xmm_half) / 2);
  if (number < ssp) return fmt::format("R{}", number - first_egpr + 16);
  return number == ssp ? "SSP" : "unknown";
}

std::string_view vector_name(unsigned qwords) { return qwords == 2 ? "XMM" : qwords == 4 ? "YMM" : "ZMM"; }

/// One register for each bit of `mask`, as far as there are words.
template <class Name>
void add(std::vector<NamedRegister>& registers, u64 mask, unsigned qwords, const std::vector<u64>& words,
         Name name) {
  auto at = words.begin();
  for (const unsigned number : set_bits(mask)) {
    if (qwords == 0 || words.end() - at < static_cast<std::ptrdiff_t>(qwords)) return;
    registers.push_back({name(number), {at, at + static_cast<std::ptrdiff_t>(qwords)}});
    at += static_cast<std::ptrdiff_t>(qwords);
  }
}

}  // namespace

std::vector<NamedRegister> general_registers(const RegisterBlock& block, const perf::Attr& attr,
                                             perf::RegisterSide side) {
  std::vector<NamedRegister> registers;
  add(registers, perf::register_masks(attr, side).general, 1, block.values,
      [&](unsigned number) { return general_name(number, block.abi); });
  return registers;
}

std::vector<NamedRegister> simd_registers(const RegisterBlock& block, const perf::Attr& attr,
                                          perf::RegisterSide side) {
  const perf::RegisterMasks masks = perf::register_masks(attr, side);
  std::vector<NamedRegister> registers;
  add(registers, masks.vectors, block.vector_qwords, block.vectors,
      [&](unsigned number) { return fmt::format("{}{}", vector_name(block.vector_qwords), number); });
  add(registers, masks.predicates, block.predicate_qwords, block.predicates,
      [](unsigned number) { return fmt::format("K{}", number); });
  return registers;
}

}  // namespace pmusim::perfdata
