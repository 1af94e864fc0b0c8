// SPDX-License-Identifier: MIT
#ifndef TESTS_TRACE_SYMBOLS_H
#define TESTS_TRACE_SYMBOLS_H

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim::trace {

struct PlacedSymbol {
  u64 address = 0, file_offset = 0;
};

/// A symbol of an ELF file's symbol table, defined in a section; zeros if it is not there.
inline PlacedSymbol find_symbol(const std::string& path, std::string_view name) {
  elf_version(EV_CURRENT);
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  Elf* elf = elf_begin(descriptor, ELF_C_READ, nullptr);
  PlacedSymbol found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header{};
    gelf_getshdr(section, &header);
    if (header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int n = 0; n < static_cast<int>(header.sh_size / header.sh_entsize); ++n) {
      GElf_Sym symbol{};
      gelf_getsym(data, n, &symbol);
      if (name != elf_strptr(elf, header.sh_link, symbol.st_name)) continue;
      GElf_Shdr place{};
      gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &place);
      found = {symbol.st_value, symbol.st_value - place.sh_addr + place.sh_offset};
    }
  }
  elf_end(elf);
  ::close(descriptor);
  return found;
}

inline u64 symbol_address(const std::string& path, std::string_view name) {
  return find_symbol(path, name).address;
}

}  // namespace pmusim::trace

#endif
