// SPDX-License-Identifier: MIT
#include "quantity.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "command_error.h"
#include "pmusim/cpu/setup.h"

namespace pmusim::tools {

namespace {

constexpr std::size_t page_bytes = 4096;
/// 1 GiB of data. A drained ring never needs more, and none is asked for that no machine has.
constexpr u64 most_pages = u64{1} << 18;

std::optional<unsigned> power_of(char unit) {
  switch (unit) {
    case 'B':
    case 'b':
      return 0;
    case 'k':
    case 'K':
      return 1;
    case 'm':
    case 'M':
      return 2;
    case 'g':
    case 'G':
      return 3;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void refuse_pages(std::string_view text, std::string_view reason) {
  throw CommandError(
      fmt::format("-m {}: {}; expected pages of 4 KiB, a power of two from 1 to {}, or a size as 64K or 4M",
                  text, reason, most_pages));
}

}  // namespace

std::optional<u64> parse_number(std::string_view text) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= list.size(); at += parts.back().size() + 1)
    parts.push_back(list.substr(at, list.find(',', at) - at));
  return parts;
}

std::optional<u64> parse_quantity(std::string_view text, Scale scale) {
  if (text.empty()) return std::nullopt;
  const std::optional<unsigned> power = power_of(text.back());
  std::optional<u64> value = parse_number(power ? text.substr(0, text.size() - 1) : text);
  for (unsigned i = 0; value && i < power.value_or(0); ++i) {
    u64 product = 0;
    if (__builtin_mul_overflow(*value, static_cast<u64>(scale), &product)) return std::nullopt;
    value = product;
  }
  return value;
}

u64 positive(std::string_view option, std::string_view text) {
  const std::optional<u64> value = parse_quantity(text, Scale::decimal);
  if (!value || *value == 0)
    throw CommandError(
        fmt::format("{} {}: expected a number from 1 up, as 10007, 10k, 2M or 1G", option, text));
  return *value;
}

u64 size_in_bytes(std::string_view option, std::string_view text) {
  const u64 bytes = parse_quantity(text, Scale::binary).value_or(0);
  if (bytes == 0) throw CommandError(fmt::format("{} {}: expected a size as 512K, 64M or 1G", option, text));
  return bytes;
}

std::vector<u32> number_list(std::string_view option, std::string_view text) {
  std::vector<u32> numbers;
  for (const std::string_view part : parts_of(text)) {
    const std::optional<u64> number = parse_number(part);
    if (!number || *number > ~u32{0})
      throw CommandError(
          fmt::format("{} {}: '{}' is no number; expected one, or several as 12,15", option, text, part));
    numbers.push_back(static_cast<u32>(*number));
  }
  return numbers;
}

void check_cpu_list(std::string_view text) {
  if (!text.empty() && !parse_cpu_list(text, u32{1}).ok())
    throw CommandError(fmt::format("-C {}: there is one CPU, number 0; --machine gives several", text));
}

std::size_t ring_pages(std::string_view text) {
  if (text.find(',') != std::string_view::npos)
    refuse_pages(text, "there is no AUX area, so only one number makes sense");
  if (const std::optional<u64> pages = parse_number(text)) {
    if (*pages == 0) refuse_pages(text, "a buffer without data pages takes no record");
    if (!std::has_single_bit(*pages)) refuse_pages(text, "the kernel takes powers of two only");
    if (*pages > most_pages) refuse_pages(text, "that is too large");
    return *pages;
  }
  const std::optional<u64> bytes = parse_quantity(text, Scale::binary);
  if (!bytes || *bytes == 0) refuse_pages(text, "is no size");
  if (*bytes > most_pages * page_bytes) refuse_pages(text, "that is too large");
  return std::bit_ceil((*bytes + page_bytes - 1) / page_bytes);
}

}  // namespace pmusim::tools
