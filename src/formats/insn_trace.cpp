// SPDX-License-Identifier: MIT
#include "formats/insn_trace.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <charconv>

namespace pmusim::formats {
namespace {

template <class T>
std::optional<T> number(std::string_view text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

/// Takes the first word off.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

/// Takes the last word off.
std::string_view take_last_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t space = text.find_last_of(" \t");
  const std::string_view word = text.substr(space == text.npos ? 0 : space + 1);
  text.remove_suffix(word.size());
  return word;
}

/// Seconds and a fraction, with the colon behind them.
bool is_time(std::string_view word) {
  if (word.size() < 2 || word.back() != ':') return false;
  word.remove_suffix(1);
  return word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos;
}

struct Parts {
  std::string_view before_time, behind_time;
};

std::optional<Parts> split_at_time(std::string_view line) {
  for (std::size_t begin = 0; begin < line.size();) {
    begin = line.find_first_not_of(" \t", begin);
    if (begin == line.npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (is_time(line.substr(begin, end - begin))) return Parts{line.substr(0, begin), line.substr(end)};
    begin = end;
  }
  return std::nullopt;
}

/// "COMMAND PID/TID [CPU]" into the instruction.
bool parse_thread(std::string_view text, PrintedInstruction& instruction) {
  std::string_view word = take_last_word(text);
  if (word.starts_with('[')) word = take_last_word(text);
  const std::size_t slash = word.find('/');
  if (slash != word.npos) {
    instruction.pid = number<u32>(word.substr(0, slash), 10);
    word.remove_prefix(slash + 1);
    if (!instruction.pid) return false;
  }
  const auto tid = number<u32>(word, 10);
  instruction.tid = tid.value_or(0);
  instruction.command = trimmed(text).substr(0, 15);
  return tid.has_value();
}

/// Hex bytes up to whatever comes behind them.
bool parse_code(std::string_view text, PrintedInstruction& instruction) {
  for (std::string_view word = take_word(text); word.size() == 2; word = take_word(text)) {
    const auto byte = number<u8>(word, 16);
    if (!byte) break;
    if (instruction.code.full()) return false;
    instruction.code.push_back(std::byte{*byte});
  }
  return !instruction.code.empty();
}

std::optional<PrintedLine> parse_instruction(std::string_view line) {
  constexpr std::string_view mark = " insn: ";
  const auto parts = split_at_time(line);
  if (!parts) return std::nullopt;
  const std::size_t code = parts->behind_time.rfind(mark);
  if (code == std::string_view::npos) return std::nullopt;
  PrintedInstruction instruction;
  std::string_view location = parts->behind_time.substr(0, code);
  const auto ip = number<u64>(take_word(location), 16);
  if (!ip || !parse_thread(parts->before_time, instruction)) return std::nullopt;
  instruction.ip = *ip;
  if (!parse_code(parts->behind_time.substr(code + mark.size()), instruction)) return std::nullopt;
  return instruction;
}

u32 protection_of(std::string_view text) {
  return (text.starts_with('r') ? u32{PROT_READ} : 0) | (text.find('w') != text.npos ? u32{PROT_WRITE} : 0) |
         (text.find('x') != text.npos ? u32{PROT_EXEC} : 0);
}

std::string_view until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  const std::string_view found = at == text.npos ? std::string_view() : text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + mark.size());
  return found;
}

// "PID/TID: [0xSTART(0xBYTES) @ OFFSET ...]: r-xp PATH", numbers in hex and in decimal.
std::optional<PrintedLine> parse_mapping(std::string_view text) {
  const auto hex_or_zero = [](std::string_view word) {
    const bool prefixed = word.starts_with("0x");
    return number<u64>(word.substr(prefixed ? 2 : 0), prefixed ? 16 : 10);
  };
  const auto pid = number<u32>(trimmed(until(text, "/")), 10);
  const auto tid = number<u32>(trimmed(until(text, ":")), 10);
  until(text, "[");
  const auto start = hex_or_zero(until(text, "(")), bytes = hex_or_zero(until(text, ")"));
  until(text, "@");
  std::string_view inside = until(text, "]:");
  const auto offset = hex_or_zero(take_word(inside));
  const std::string_view protection = take_word(text);
  const std::string_view path = trimmed(text);
  if (!pid || !tid || !start || !bytes || !offset || path.empty() || path.size() > 4095) return std::nullopt;
  return PrintedMapping{
      *pid, *tid, {*start, *bytes, *offset, protection_of(protection), MAP_PRIVATE, std::string(path), {}}};
}

}  // namespace

std::optional<PrintedLine> parse_insn_trace_line(std::string_view line) {
  if (trimmed(line).empty() || trimmed(line).starts_with('#')) return PrintedOther{};
  if (line.find("instruction trace error") != line.npos) return PrintedGap{};
  for (const std::string_view record : {"PERF_RECORD_MMAP2 ", "PERF_RECORD_MMAP "})
    if (const std::size_t at = line.find(record); at != line.npos)
      return parse_mapping(line.substr(at + record.size()));
  if (line.find(" PERF_RECORD_") != line.npos) return PrintedOther{};
  return parse_instruction(line);
}

}  // namespace pmusim::formats
