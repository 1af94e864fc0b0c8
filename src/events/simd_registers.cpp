// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/suggest.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {

namespace {

namespace set = perf::register_set;

constexpr SimdClass classes[] = {
    {"xmm", set::XMM, 0xffff, "XMM0 to XMM15"},
    {"ymm", set::XMM | set::YMM_HIGH, 0xffff, "YMM0 to YMM15"},
    {"zmm", set::XMM | set::YMM_HIGH | set::ZMM_HIGH | set::HI16_ZMM, 0xffff'ffff, "ZMM0 to ZMM31"},
    {"opmask", set::OPMASK, 0xff, "k0 to k7"},
    {"egpr", set::EGPR, 0xffff, "R16 to R31"},
    {"ssp", set::SSP, 1, "shadow-stack pointer"},
};

unsigned qwords_of(std::string_view name) {
  if (name == "xmm") return 2;
  if (name == "ymm") return 4;
  return name == "zmm" ? 8 : 0;
}

/// 0x3, or 3.
std::optional<u64> number_in(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const SimdClass* class_named(std::string_view name) {
  const auto* const found = std::ranges::find(classes, name, &SimdClass::name);
  return found == std::end(classes) ? nullptr : found;
}

Failure<Error> unknown_class(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SimdClass& c : classes) names.push_back(c.name);
  return Failure(Error(fmt::format("unknown register class '{}'{}: there are {}", name,
                                   did_you_mean(name, names), fmt::join(names, ", "))));
}

void add(SimdRegisters& registers, const SimdClass& c, u64 mask) {
  if (const unsigned qwords = qwords_of(c.name); qwords != 0) {
    registers.vector_qwords = std::max(registers.vector_qwords, static_cast<u16>(qwords));
    registers.vectors |= mask;
  }
  if (c.needs == set::OPMASK) registers.predicates |= static_cast<u32>(mask);
  if (c.needs == set::EGPR) registers.general |= mask << 24;
  if (c.needs == set::SSP) registers.general |= perf::register_mask::SSP;
}

/// Both halves of a register count as the register.
u64 vectors_of_halves(u64 mask) {
  u64 vectors = 0;
  for (const unsigned half : set_bits(mask >> 32)) vectors |= bit(half / 2);
  return vectors;
}

SimdRegisters with_xmm(SimdRegisters simd, u64 mask) {
  simd.vectors |= vectors_of_halves(mask);
  if (simd.vectors != 0) simd.vector_qwords = std::max(simd.vector_qwords, u16{2});
  return simd;
}

}  // namespace

std::span<const SimdClass> simd_classes() { return classes; }

Result<SimdRegisters, Error> parse_simd_registers(std::string_view list) {
  SimdRegisters registers;
  while (true) {
    const std::string_view word = list.substr(0, list.find(','));
    const std::size_t colon = word.find(':');
    const std::string_view name = word.substr(0, colon);
    const SimdClass* const c = class_named(name);
    if (c == nullptr) return unknown_class(name);
    u64 mask = c->whole;
    if (colon != std::string_view::npos) {
      const auto given = number_in(word.substr(colon + 1));
      if (!given || *given == 0 || (*given & ~c->whole) != 0)
        return Failure(Error(
            fmt::format("'{}': the mask has to name some of {}, within {:#x}", word, c->text, c->whole)));
      mask = *given;
    }
    add(registers, *c, mask);
    if (word.size() == list.size()) return registers;
    list.remove_prefix(word.size() + 1);
  }
}

void ask_for_registers(perf::Attr& attr, const RegisterChoice& choice) {
  using perf::register_mask::GENERAL;
  attr.sample_regs_intr = choice.interrupt;
  attr.sample_regs_user = choice.user;
  if (!choice.simd()) return;
  const SimdRegisters interrupt = with_xmm(choice.interrupt_simd, choice.interrupt);
  const SimdRegisters user = with_xmm(choice.user_simd, choice.user);
  attr.sample_regs_intr = (choice.interrupt & GENERAL) | interrupt.general;
  attr.sample_regs_user = (choice.user & GENERAL) | user.general;
  attr.sample_simd_regs_enabled = 1;
  attr.sample_simd_vec_reg_qwords = std::max(interrupt.vector_qwords, user.vector_qwords);
  attr.sample_simd_pred_reg_qwords = (interrupt.predicates | user.predicates) != 0 ? 1 : 0;
  attr.sample_simd_vec_reg_intr = interrupt.vectors;
  attr.sample_simd_vec_reg_user = user.vectors;
  attr.sample_simd_pred_reg_intr = interrupt.predicates;
  attr.sample_simd_pred_reg_user = user.predicates;
}

}  // namespace pmusim::events
