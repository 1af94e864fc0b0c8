// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRACE_ELF_HANDLE_H
#define PMUSIM_SRC_TRACE_ELF_HANDLE_H

#include <libelf.h>

#include <memory>

namespace pmusim::trace {

struct ElfDeleter {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfDeleter>;

}  // namespace pmusim::trace

#endif
