// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/crc32.h"

namespace pmusim::symbols {

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

std::optional<ElfFile> ElfFile::checked(ElfFile file) {
  GElf_Ehdr header;
  if (elf_kind(file.get()) != ELF_K_ELF || gelf_getehdr(file.get(), &header) == nullptr) return std::nullopt;
  if (header.e_machine != EM_X86_64 || gelf_getclass(file.get()) != ELFCLASS64) return std::nullopt;
  return file;
}

std::optional<ElfFile> ElfFile::open(const std::filesystem::path& path) {
  elf_version(EV_CURRENT);
  auto file = InputFile::open(path);
  if (!file.ok()) return std::nullopt;
  Elf* const elf = elf_begin(file->descriptor(), ELF_C_READ, nullptr);
  return checked(ElfFile({}, *std::move(file), elf));
}

std::optional<ElfFile> ElfFile::from_memory(std::vector<std::byte> bytes) {
  elf_version(EV_CURRENT);
  if (bytes.empty()) return std::nullopt;
  Elf* const elf = elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return checked(ElfFile(std::move(bytes), std::nullopt, elf));
}

std::vector<std::byte> ElfFile::build_id() const {
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(get(), &id);
  if (size <= 0) return {};
  const auto* const bytes = static_cast<const std::byte*>(id);
  return {bytes, bytes + size};
}

std::vector<GElf_Phdr> ElfFile::load_segments() const {
  std::size_t count = 0;
  if (elf_getphdrnum(get(), &count) != 0) return {};
  std::vector<GElf_Phdr> segments;
  GElf_Phdr segment;
  for (std::size_t i = 0; i < count; ++i)
    if (gelf_getphdr(get(), static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD)
      segments.push_back(segment);
  return segments;
}

std::vector<std::byte> ElfFile::read(u64 offset, u64 count) const {
  const u64 start = std::min(offset, bytes());
  std::vector<std::byte> result(std::min(count, bytes() - start));
  if (!file_)
    std::ranges::copy(std::span(bytes_).subspan(start, result.size()), result.begin());
  else if (!file_->read(start, result).ok())
    result.clear();
  return result;
}

Elf_Scn* ElfFile::section(std::string_view name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(get(), &names) != 0) return nullptr;
  GElf_Shdr header;
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(get(), at)) != nullptr;) {
    if (gelf_getshdr(at, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const text = elf_strptr(get(), names, header.sh_name);
    if (text != nullptr && name == text) return at;
  }
  return nullptr;
}

namespace {

std::optional<ElfFile> by_build_id(std::span<const std::byte> id, const std::filesystem::path& directory) {
  if (id.size() < 2) return std::nullopt;
  const std::string text = hexadecimal(id);
  auto file = ElfFile::open(directory / ".build-id" / text.substr(0, 2) / (text.substr(2) + ".debug"));
  if (!file || !std::ranges::equal(file->build_id(), id)) return std::nullopt;
  return file;
}

/// A piece at a time: the file may be larger than memory.
u32 crc_of(const ElfFile& file) {
  constexpr u64 piece = 1 << 20;
  u32 crc = 0;
  for (u64 at = 0; at < file.bytes(); at += piece) {
    const std::vector<std::byte> bytes = file.read(at, piece);
    crc = crc32(bytes.data(), bytes.size(), crc);
  }
  return crc;
}

/// GDB's manual, "Separate Debug Files": beside the program, in .debug beside it, under the debug directory.
std::optional<ElfFile> by_link(const ElfFile& file, const std::filesystem::path& program,
                               const std::filesystem::path& debug_directory) {
  GElf_Word crc = 0;
  const char* const name = dwelf_elf_gnu_debuglink(file.get(), &crc);
  if (name == nullptr || std::string_view(name).find('/') != std::string_view::npos) return std::nullopt;
  const std::filesystem::path beside = program.parent_path();
  for (const auto& path :
       {beside / name, beside / ".debug" / name, debug_directory / beside.relative_path() / name}) {
    auto found = ElfFile::open(path);
    if (found && crc_of(*found) == crc) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElfFile> find_debug_file(const ElfFile* file, const FileIdentity& wanted,
                                       const std::filesystem::path& debug_directory) {
  auto found = by_build_id(file != nullptr ? file->build_id() : wanted.build_id, debug_directory);
  return found || file == nullptr ? std::move(found) : by_link(*file, wanted.path, debug_directory);
}

}  // namespace pmusim::symbols
