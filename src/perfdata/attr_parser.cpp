// SPDX-License-Identifier: MIT
#include "perfdata/attr_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "perf/simd_abi.h"

namespace pmusim::perfdata {

std::optional<perf::Attr> parse_attr(std::span<const std::byte> bytes) {
  constexpr u32 smallest = 64;
  if (bytes.size() < smallest) return std::nullopt;
  perf::Attr attr;
  u32 size;
  std::memcpy(&size, bytes.data() + offsetof(perf::Attr, size), sizeof size);
  if (size == 0) size = smallest;
  if (size < smallest || size > bytes.size()) return std::nullopt;
  std::array<std::byte, sizeof attr> image{};
  std::copy_n(bytes.begin(), std::min<std::size_t>(size, sizeof attr), image.begin());
  std::memcpy(&attr, image.data(), sizeof attr);
  attr.size = size;
  return perf::simd_abi_of(attr) == perf::SimdAbi::series_v7 ? perf::from_series_v7(attr) : attr;
}

std::string unknown_parts(std::span<const std::byte> bytes) {
  const auto attr = parse_attr(bytes);
  if (!attr) return "";
  std::string parts;
  const auto add = [&](bool unknown, std::string text) {
    if (unknown) parts += (parts.empty() ? "" : ", ") + text;
  };
  const u64 sample_type = attr->sample_type & ~perf::sample::ALL;
  const u64 read_format = attr->read_format & ~perf::read_format::ALL;
  const u64 branch_type = attr->branch_sample_type & ~perf::branch::ALL;
  add((attr->reserved_1 | attr->reserved_2 | attr->reserved_4) != 0, "reserved bits");
  add(sample_type != 0, fmt::format("sample type {:#x}", sample_type));
  add(read_format != 0, fmt::format("read format {:#x}", read_format));
  add(branch_type != 0, fmt::format("branch sample type {:#x}", branch_type));
  const auto beyond = bytes.first(std::min<std::size_t>(attr->size, bytes.size()));
  add(beyond.size() > sizeof *attr &&
          std::ranges::any_of(beyond.subspan(sizeof *attr), [](std::byte b) { return b != std::byte{0}; }),
      fmt::format("fields behind its first {} bytes", sizeof *attr));
  return parts;
}

}  // namespace pmusim::perfdata
