// SPDX-License-Identifier: MIT
#include "trace/build_id.h"

#include <gelf.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/input_file.h"
#include "trace/elf_handle.h"

namespace pmusim::trace {
namespace {

std::vector<u8> find_in_notes(Elf_Data* notes) {
  GElf_Nhdr header{};
  std::size_t name = 0, description = 0;
  for (std::size_t at = 0; (at = gelf_getnote(notes, at, &header, &name, &description)) != 0;) {
    const auto* bytes = static_cast<const u8*>(notes->d_buf);
    const std::string_view owner(reinterpret_cast<const char*>(bytes + name), header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU\0", 4)) {
      return {bytes + description, bytes + description + header.n_descsz};
    }
  }
  return {};
}

std::vector<u8> note_of_build_id(Elf* elf) {
  std::size_t count = 0;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t n = 0; n < count; ++n) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, static_cast<int>(n), &segment) == nullptr || segment.p_type != PT_NOTE) continue;
    Elf_Data* notes = elf_getdata_rawchunk(elf, static_cast<i64>(segment.p_offset), segment.p_filesz,
                                           segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (notes == nullptr) continue;
    auto id = find_in_notes(notes);
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace

std::vector<u8> build_id_of_file(const std::string& path) {
  elf_version(EV_CURRENT);
  const auto file = InputFile::open(path);
  if (!file.ok()) return {};
  return note_of_build_id(ElfHandle(elf_begin(file->descriptor(), ELF_C_READ, nullptr)).get());
}

std::vector<u8> build_id_of_image(std::span<const std::byte> image) {
  elf_version(EV_CURRENT);
  std::vector<char> copy(image.size());  // libelf takes no const image
  std::transform(image.begin(), image.end(), copy.begin(), [](std::byte b) { return static_cast<char>(b); });
  return note_of_build_id(ElfHandle(elf_memory(copy.data(), copy.size())).get());
}

}  // namespace pmusim::trace
