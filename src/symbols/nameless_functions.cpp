// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "elf_file.h"

namespace pmusim::symbols {

namespace {

/// A piece of code without any mark in it is cut here, so that it can be read as a function.
constexpr u64 longest_piece = 64 << 10;
/// A file with more is no program.
constexpr std::size_t most_pieces = 1 << 20;

/// DWARF pointer encodings (LSB, "DWARF Exception Header Encoding") that linkers use in .eh_frame_hdr.
constexpr u8 encoding_format = 0x0f, unsigned_4_bytes = 0x03, signed_4_bytes = 0x0b;
constexpr u8 signed_4_bytes_from_here = 0x3b;

template <class Value>
Value value_at(const Elf_Data& data, std::size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const std::byte*>(data.d_buf) + offset, sizeof value);
  return value;
}

/// Where functions begin, as the search table for unwinding tells (LSB, ".eh_frame_hdr"): stripped programs
/// keep it, because exceptions need it.
std::vector<u64> unwound_functions(const ElfFile& file) {
  constexpr std::size_t head_bytes = 12, row_bytes = 8;
  Elf_Scn* const section = file.section(".eh_frame_hdr");
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
  const Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < head_bytes) return {};
  const auto version = value_at<u8>(*data, 0), frames = value_at<u8>(*data, 1),
             count_encoding = value_at<u8>(*data, 2), row_encoding = value_at<u8>(*data, 3);
  const bool has_short_pointer =
      (frames & encoding_format) == signed_4_bytes || (frames & encoding_format) == unsigned_4_bytes;
  if (version != 1 || !has_short_pointer || count_encoding != unsigned_4_bytes ||
      row_encoding != signed_4_bytes_from_here)
    return {};
  const std::size_t count =
      std::min<std::size_t>(value_at<u32>(*data, 8), (data->d_size - head_bytes) / row_bytes);
  std::vector<u64> starts;
  for (std::size_t i = 0; i < count; ++i)
    starts.push_back(header.sh_addr +
                     static_cast<u64>(i64{value_at<i32>(*data, head_bytes + row_bytes * i)}));
  std::ranges::sort(starts);
  return starts;
}

/// Lays pieces between what is known.
class Filler {
 public:
  Filler(std::vector<u64> starts, const std::string& module) : starts_(std::move(starts)), module_(module) {}

  void fill(u64 from, u64 end) {
    while (from < end && pieces_.size() < most_pieces) {
      const auto next = std::ranges::upper_bound(starts_, from);
      const u64 mark = next == starts_.end() ? end : *next;
      const u64 until = std::min({mark, end, from + std::min(longest_piece, end - from)});
      pieces_.push_back({from, until, fmt::format("[{}+{:#x}]", module_, from)});
      from = until;
    }
  }
  std::vector<Symbol> take() { return std::move(pieces_); }

 private:
  std::vector<u64> starts_;
  const std::string& module_;
  std::vector<Symbol> pieces_;
};

}  // namespace

std::vector<Symbol> nameless_functions(const ElfFile& file, const std::vector<Symbol>& known,
                                       const std::string& module) {
  std::vector<GElf_Phdr> segments = file.load_segments();
  std::erase_if(segments, [](const GElf_Phdr& s) { return (s.p_flags & PF_X) == 0; });
  std::ranges::sort(segments, {}, &GElf_Phdr::p_vaddr);
  Filler filler(unwound_functions(file), module);
  auto next = known.begin();
  u64 at = 0;
  for (const GElf_Phdr& s : segments) {
    at = std::max(at, s.p_vaddr);
    const u64 in_file = file.bytes() - std::min(file.bytes(), s.p_offset);
    const u64 end = s.p_vaddr + std::min({s.p_filesz, in_file, ~u64{0} - s.p_vaddr});
    for (; next != known.end() && next->start < end; ++next) {
      filler.fill(at, next->start);
      at = std::max(at, next->end);
    }
    filler.fill(at, end);
    at = std::max(at, end);
  }
  return filler.take();
}

}  // namespace pmusim::symbols
