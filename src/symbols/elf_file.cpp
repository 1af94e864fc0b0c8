// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/crc32.h"

namespace pmusim::symbols {

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

ElfFile::~ElfFile() {
  elf_.reset();
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<ElfFile> ElfFile::checked(ElfFile file) {
  GElf_Ehdr header;
  if (elf_kind(file.get()) != ELF_K_ELF || gelf_getehdr(file.get(), &header) == nullptr) return std::nullopt;
  if (header.e_machine != EM_X86_64 || gelf_getclass(file.get()) != ELFCLASS64) return std::nullopt;
  return file;
}

std::optional<ElfFile> ElfFile::open(const std::filesystem::path& path) {
  elf_version(EV_CURRENT);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  // A path out of a profile may name a device or a pipe.
  const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  Elf* const elf = is_file ? elf_begin(descriptor, ELF_C_READ, nullptr) : nullptr;
  return checked(ElfFile({}, descriptor, elf));
}

std::optional<ElfFile> ElfFile::from_memory(std::vector<std::byte> bytes) {
  elf_version(EV_CURRENT);
  if (bytes.empty()) return std::nullopt;
  Elf* const elf = elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return checked(ElfFile(std::move(bytes), -1, elf));
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

u64 ElfFile::bytes() const {
  struct stat status {};
  if (descriptor_ < 0) return bytes_.size();
  return fstat(descriptor_, &status) == 0 ? static_cast<u64>(status.st_size) : 0;
}

std::vector<std::byte> ElfFile::read(u64 offset, u64 count) const {
  if (descriptor_ < 0) {
    const u64 start = std::min<u64>(offset, bytes_.size());
    const u64 end = start + std::min<u64>(count, bytes_.size() - start);
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(start),
            bytes_.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || offset >= static_cast<u64>(status.st_size)) return {};
  std::vector<std::byte> bytes(std::min<u64>(count, static_cast<u64>(status.st_size) - offset));
  const ssize_t got = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
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
    if (!found) continue;
    const std::vector<std::byte> bytes = found->read(0, ~u64{0});
    if (crc32(bytes.data(), bytes.size()) == crc) return found;
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
