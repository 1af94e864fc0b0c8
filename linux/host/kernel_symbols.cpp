// SPDX-License-Identifier: MIT
#include "host/kernel_symbols.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

namespace pmusim::linux_driver {

KernelSymbols::KernelSymbols() {
  elf_version(EV_CURRENT);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  Elf* const elf = elf_begin(file, ELF_C_READ, nullptr);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* const symbols = elf_getdata(section, nullptr);
    for (int n = 0; n < static_cast<int>(header.sh_size / header.sh_entsize); ++n) {
      GElf_Sym symbol;
      if (gelf_getsym(symbols, n, &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      functions_[symbol.st_value] = {symbol.st_size, elf_strptr(elf, header.sh_link, symbol.st_name)};
    }
  }
  elf_end(elf);
  close(file);
}

std::string KernelSymbols::at(u64 address) const {
  auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return fmt::format("{:#x}", address);
  const auto& [start, function] = *--after;
  if (address - start > function.bytes) return fmt::format("{:#x}", address);
  return fmt::format("{}+{:#x}", function.name, address - start);
}

}  // namespace pmusim::linux_driver
