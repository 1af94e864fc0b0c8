// SPDX-License-Identifier: MIT
#include "extended_text.h"

#include <fmt/format.h>

#include <set>

namespace pmusim::tools {
namespace {

using enum StateComponent;

std::string hex_of(std::span<const u64> qwords) {
  std::string text;
  for (auto q = qwords.rbegin(); q != qwords.rend(); ++q) text += fmt::format("{:016x}", *q);
  return text;
}

RegisterText vector_register(unsigned r, const ExtendedState& state) {
  const bool zmm = r >= 16 || (state.in_use() & state_bit(zmm_hi256)) != 0;
  const bool ymm = (state.in_use() & state_bit(avx)) != 0;
  const std::size_t qwords = zmm ? 8 : ymm ? 4 : 2;
  const std::array<u64, 8> value = state.vector(r);
  return {fmt::format("{}mm{}", zmm ? 'z' : ymm ? 'y' : 'x', r), hex_of(std::span(value).first(qwords))};
}

/// Qwords of one vector register in a component that holds a part of them.
std::size_t vector_qwords(StateComponent c) { return c == hi16_zmm ? 8 : c == zmm_hi256 ? 4 : 2; }

bool holds_vectors(StateComponent c) { return c == sse || c == avx || c == zmm_hi256 || c == hi16_zmm; }

RegisterText other_register(StateComponent c, std::size_t qword, const ExtendedState& state) {
  constexpr std::size_t x87_control = 3;
  const u64 value = state.component(c)[qword];
  if (c == opmask) return {fmt::format("k{}", qword), fmt::format("{:016x}", value)};
  if (c == pkru) return {"pkru", fmt::format("{:08x}", value)};
  if (c == apx) return {fmt::format("r{}", 16 + qword), fmt::format("{:016x}", value)};
  if (c == cet_u && qword == 1) return {"ssp", fmt::format("{:016x}", value)};
  if (c == x87 && qword >= x87_control) {
    const std::size_t st = (qword - x87_control) / 2;
    const std::size_t low = x87_control + 2 * st;
    return {fmt::format("st{}", st),
            fmt::format("{:04x}{:016x}", state.component(c)[low + 1], state.component(c)[low])};
  }
  constexpr std::string_view x87_names[] = {"x87_control", "x87_instruction", "x87_data"};
  if (c == x87) return {std::string(x87_names[qword]), fmt::format("{:016x}", value)};
  return {fmt::format("component{}[{}]", static_cast<unsigned>(c), qword), fmt::format("{:016x}", value)};
}

}  // namespace

std::vector<RegisterText> changed_registers(const ExtendedChange& change, const ExtendedState& after) {
  std::set<unsigned> vectors;
  std::vector<RegisterText> others;
  for (const ExtendedWrite& write : change.writes) {
    for (std::size_t q = write.first; q < write.first + write.values.size(); ++q) {
      if (write.component == sse && q == ExtendedState::mxcsr_qword)
        others.push_back({"mxcsr", fmt::format("{:08x}", after.mxcsr())});
      else if (holds_vectors(write.component))
        vectors.insert(static_cast<unsigned>(q / vector_qwords(write.component)) +
                       (write.component == hi16_zmm ? 16 : 0));
      else if (RegisterText text = other_register(write.component, q, after);
               others.empty() || others.back().name != text.name)
        others.push_back(std::move(text));
    }
  }
  std::vector<RegisterText> registers;
  for (const unsigned r : vectors) registers.push_back(vector_register(r, after));
  registers.insert(registers.end(), others.begin(), others.end());
  return registers;
}

}  // namespace pmusim::tools
