// SPDX-License-Identifier: MIT
#include "disassembly.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace pmusim::annotate {

namespace {

using Operands = std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>;

class Printer {
 public:
  Printer(Syntax syntax, const NameAddress& name) : name_(name) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter_,
                       syntax == Syntax::att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    const auto set = [&](ZydisFormatterProperty property, ZyanUPointer value) {
      ZydisFormatterSetProperty(&formatter_, property, value);
    };
    set(ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE);
    set(ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    set(ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    set(ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED);
    set(ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    set(ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
  }

  DisassembledInstruction print(std::span<const std::byte> code, u64 address) const {
    ZydisDecodedInstruction instruction;
    Operands operands;
    const ZyanStatus decoded =
        ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &instruction, operands.data());
    if (!ZYAN_SUCCESS(decoded)) return {address, 1, "(bad)", 0};
    std::array<char, 256> text{};
    ZydisFormatterFormatInstruction(&formatter_, &instruction, operands.data(),
                                    instruction.operand_count_visible, text.data(), text.size(), address,
                                    nullptr);
    DisassembledInstruction result{address, instruction.length, text.data(), 0};
    rename_condition(result.text);
    annotate(result, instruction, operands);
    return result;
  }

 private:
  /// The names that everybody but Zydis gives conditions: je for jz, jae for jnb.
  static void rename_condition(std::string& text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names{
        {{"nbe", "a"}, {"nb", "ae"}, {"nle", "g"}, {"nl", "ge"}, {"nz", "ne"}, {"z", "e"}}};
    const std::size_t end = std::min(text.find(' '), text.size());
    for (const std::string_view stem : {"j", "set", "cmov"}) {
      if (!text.starts_with(stem)) continue;
      const std::string_view condition = std::string_view(text).substr(stem.size(), end - stem.size());
      const auto found = std::ranges::find(names, condition, &decltype(names)::value_type::first);
      if (found != names.end()) text.replace(stem.size(), end - stem.size(), found->second);
      return;
    }
  }

  /// Says what a direct branch or a RIP-relative operand refers to.
  void annotate(DisassembledInstruction& result, const ZydisDecodedInstruction& instruction,
                const Operands& operands) const {
    const auto target = absolute_operand(result.address, instruction, operands);
    if (!target) return;
    const bool is_branch = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (is_branch) result.jump_target = *target;
    const std::string name = name_(*target);
    if (is_branch && !name.empty()) result.text += fmt::format(" <{}>", name);
    if (!is_branch) result.text += fmt::format("  # {:x}{}", *target, name.empty() ? "" : " <" + name + ">");
  }

  static std::optional<u64> absolute_operand(u64 address, const ZydisDecodedInstruction& instruction,
                                             const Operands& operands) {
    for (u8 i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      const bool is_branch = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative;
      const bool is_data =
          operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
      u64 absolute = 0;
      if ((is_branch || is_data) &&
          ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operand, address, &absolute)))
        return absolute;
    }
    return std::nullopt;
  }

  const NameAddress& name_;
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
};

}  // namespace

std::vector<DisassembledInstruction> disassemble(std::span<const std::byte> code, u64 address, Syntax syntax,
                                                 const NameAddress& name) {
  const Printer printer(syntax, name);
  std::vector<DisassembledInstruction> all;
  for (std::size_t at = 0; at < code.size(); at += all.back().bytes)
    all.push_back(printer.print(code.subspan(at), address + at));
  return all;
}

}  // namespace pmusim::annotate
