// SPDX-License-Identifier: MIT
#include "formats/insn_trace.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <span>
#include <vector>

#include "formats/text.h"

namespace pmusim::formats {
namespace {

/// Takes the first word off.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

/// Seconds and a fraction, with the colon behind them.
bool is_time(std::string_view word) {
  if (word.size() < 2 || word.back() != ':') return false;
  word.remove_suffix(1);
  return word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) words.push_back(word);
  return words;
}

struct ThreadWord {
  std::optional<u32> pid;
  u32 tid = 0;
};

/// "TID" or "PID/TID".
std::optional<ThreadWord> thread_of(std::string_view word) {
  ThreadWord result;
  if (const std::size_t slash = word.find('/'); slash != word.npos) {
    result.pid = number<u32>(word.substr(0, slash), 10);
    if (!result.pid) return std::nullopt;
    word.remove_prefix(slash + 1);
  }
  const auto tid = number<u32>(word, 10);
  if (!tid) return std::nullopt;
  result.tid = *tid;
  return result;
}

bool is_cpu(std::string_view word) { return word.starts_with('[') && word.ends_with(']') && word.size() > 2; }

/// The words of a line: which is the address, and which the thread's.
struct Fields {
  std::size_t address = 0;
  std::optional<std::size_t> thread;
  bool timed = false;
};

std::optional<u64> address_of(std::string_view word) {
  const auto value = number<u64>(word, 16);
  return value && *value >= code_begin ? value : std::nullopt;
}

/// perf pads addresses to so many columns: what stands at their end is none of a thread.
constexpr std::size_t address_width = 16;

/// Columns from the end of the word before.
std::size_t width_at(std::span<const std::string_view> words, std::size_t n, std::string_view line) {
  const char* const before = n == 0 ? line.data() : words[n - 1].data() + words[n - 1].size();
  return static_cast<std::size_t>(words[n].data() + words[n].size() - before);
}

/// The first address behind the time, if there is one, else behind the CPU or the thread: a command may look
/// like an address.
std::optional<Fields> fields_of(std::span<const std::string_view> words, std::string_view line) {
  Fields fields;
  std::size_t begin = 0;
  const auto time = std::ranges::find_if(words, is_time);
  const auto cpu = std::ranges::find_if(words, [](std::string_view word) {
    return is_cpu(word) && number<u32>(word.substr(1, word.size() - 2), 10);
  });
  fields.timed = time != words.end();
  if (time != words.end() || cpu != words.end()) {
    const auto place = [&](auto at) { return static_cast<std::size_t>(at - words.begin()); };
    begin = place(time != words.end() ? time : cpu) + 1;
    const std::size_t before = std::min(place(time), place(cpu));
    if (before != 0 && thread_of(words[before - 1])) fields.thread = before - 1;
  } else {
    for (std::size_t n = 0; n + 1 < words.size() && !fields.thread; ++n)
      if (thread_of(words[n]) && address_of(words[n + 1]) && width_at(words, n, line) < address_width)
        fields.thread = n;
    begin = fields.thread ? *fields.thread + 1 : 0;
  }
  for (std::size_t n = begin; n < words.size(); ++n) {
    const bool is_period = n + 1 < words.size() && words[n + 1].ends_with(':');
    if (is_period || !address_of(words[n])) continue;
    fields.address = n;
    return fields;
  }
  return std::nullopt;
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

/// The text from the first of the words to the last.
std::string_view text_of(std::span<const std::string_view> words) {
  if (words.empty()) return {};
  return {words.front().data(), words.back().data() + words.back().size()};
}

std::optional<PrintedLine> parse_instruction(std::string_view line) {
  constexpr std::string_view mark = " insn:";
  constexpr std::size_t most_command_bytes = 15;
  const std::size_t code = line.rfind(mark);
  const std::vector<std::string_view> words = words_of(line.substr(0, code));
  const auto fields = fields_of(words, line);
  if (!fields && code == line.npos) return PrintedForeign{};
  if (!fields) return std::nullopt;
  if (code == line.npos) return fields->timed ? PrintedLine(PrintedWithoutCode{}) : PrintedForeign{};
  if (trimmed(line.substr(code + mark.size())).empty()) return PrintedWithoutCode{};
  PrintedInstruction instruction;
  instruction.timed = fields->timed;
  instruction.indented = line.starts_with(' ');
  instruction.ip = *address_of(words[fields->address]);
  if (fields->thread) {
    const ThreadWord thread = *thread_of(words[*fields->thread]);
    instruction.pid = thread.pid;
    instruction.tid = thread.tid;
    instruction.command = text_of(std::span(words).first(*fields->thread)).substr(0, most_command_bytes);
  }
  if (!parse_code(line.substr(code + mark.size()), instruction)) return std::nullopt;
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
  if (line.find("PERF_RECORD_") != line.npos) return PrintedOther{};
  return parse_instruction(line);
}

}  // namespace pmusim::formats
