// SPDX-License-Identifier: MIT
// Functions by name, in the symbol tables of an ELF file.
#include <gelf.h>

#include <memory>

#include "base/demangle.h"
#include "base/input_file.h"
#include "trace/elf_handle.h"
#include "trace/region_gate.h"

namespace pmusim::trace {
namespace {

bool is_called(const char* linked, const std::string& name) {
  if (linked == nullptr) return false;
  if (linked == name) return true;
  const std::string whole = demangled(linked);
  return whole != linked && (whole == name || whole.substr(0, whole.find('(')) == name);
}

std::optional<u64> value_in(Elf* elf, Elf_Scn* section, const std::string& name) {
  GElf_Shdr header{};
  if (gelf_getshdr(section, &header) == nullptr) return std::nullopt;
  if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return std::nullopt;
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr) return std::nullopt;
  GElf_Sym symbol{};
  for (int n = 0; gelf_getsym(data, n, &symbol) != nullptr; ++n) {
    const bool is_function = GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (is_function && is_called(elf_strptr(elf, header.sh_link, symbol.st_name), name))
      return symbol.st_value;
  }
  return std::nullopt;
}

std::optional<u64> offset_of(Elf* elf, u64 address) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  for (std::size_t n = 0; n < count; ++n) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, static_cast<int>(n), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
    if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  return std::nullopt;
}

std::optional<u64> find_function(Elf* elf, const std::string& name) {
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;)
    if (const auto value = value_in(elf, section, name)) return offset_of(elf, *value);
  return std::nullopt;
}

}  // namespace

std::optional<u64> file_offset_of_function(const std::string& file, const std::string& name) {
  elf_version(EV_CURRENT);
  const auto opened = InputFile::open(file);
  if (!opened.ok()) return std::nullopt;
  return find_function(ElfHandle(elf_begin(opened->descriptor(), ELF_C_READ, nullptr)).get(), name);
}

}  // namespace pmusim::trace
