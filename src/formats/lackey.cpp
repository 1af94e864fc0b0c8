// SPDX-License-Identifier: MIT
#include "formats/lackey.h"

#include <fmt/format.h>

#include <charconv>

namespace pmusim::formats {
namespace {

constexpr u64 max_access_bytes = 4096;

/// A number that fills the text.
std::optional<u64> hex_or_decimal(std::string_view text, int base) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

LackeyReader::Line LackeyReader::parse(std::string_view text) {
  if (text.empty() || text.starts_with("==") || text.starts_with("--")) return {Kind::remark};
  const std::string_view mark = text.substr(0, 3);
  const Kind kind = mark == "I  "   ? Kind::instruction
                    : mark == " L " ? Kind::load
                    : mark == " S " ? Kind::store
                    : mark == " M " ? Kind::modify
                                    : Kind::unknown;
  const std::size_t comma = text.find(',');
  if (kind == Kind::unknown || comma == text.npos) return {};
  const auto address = hex_or_decimal(text.substr(3, comma - 3), 16),
             bytes = hex_or_decimal(text.substr(comma + 1), 10);
  if (!address || !bytes || *bytes == 0 || *bytes > max_access_bytes) return {};
  return {kind, *address, *bytes};
}

Result<std::optional<LackeyReader::Line>, Error> LackeyReader::next_line() {
  for (;;) {
    const auto text = lines_.next();
    if (!text.ok()) return Failure(text.error());
    if (!text->has_value()) return std::optional<Line>();
    const Line line = parse(**text);
    if (line.kind == Kind::unknown)
      return Failure(lines_.damaged("expected 'I  ADDRESS,SIZE' or ' L', ' S' or ' M' with the same"));
    const bool impossible = !is_code_address(line.address) || line.bytes > max_instruction_bytes;
    if (line.kind == Kind::instruction && impossible)
      return Failure(lines_.damaged(
          fmt::format("no user's instruction has {} bytes at {:#x}", line.bytes, line.address)));
    if (line.kind != Kind::remark) return std::optional(line);
  }
}

Result<std::optional<Step>, Error> LackeyReader::next() {
  if (!ahead_) {
    const auto first = next_line();
    if (!first.ok()) return Failure(first.error());
    if (!first->has_value()) return std::optional<Step>();
    if ((*first)->kind != Kind::instruction)
      return Failure(lines_.damaged("an access without an instruction"));
    ahead_ = *first;
  }
  Step step{.ip = ahead_->address, .length = static_cast<u8>(ahead_->bytes)};
  for (ahead_.reset(); !ahead_;) {
    const auto line = next_line();
    if (!line.ok()) return Failure(line.error());
    if (!line->has_value()) break;
    if ((*line)->kind == Kind::instruction) {
      ahead_ = *line;
    } else if (step.accesses.size() < step.accesses.capacity()) {
      step.accesses.push_back({(*line)->address, static_cast<u16>((*line)->bytes),
                               (*line)->kind != Kind::store, (*line)->kind != Kind::load});
    }
  }
  return std::optional(step);
}

}  // namespace pmusim::formats
