// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SYMBOLS_ELF_FILE_H
#define PMUSIM_SRC_SYMBOLS_ELF_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "symbols/module.h"

namespace pmusim::symbols {

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// An ELF file of this machine's class, open or in memory.
class ElfFile {
 public:
  /// Nothing if there is no such regular file or it is no 64-bit x86 ELF.
  static std::optional<ElfFile> open(const std::filesystem::path& path);
  static std::optional<ElfFile> from_memory(std::vector<std::byte> bytes);

  ElfFile(ElfFile&&) noexcept = default;
  ElfFile& operator=(ElfFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
    std::swap(elf_, other.elf_);
    return *this;
  }

  Elf* get() const { return elf_.get(); }
  /// Empty for one in memory.
  std::string path() const { return file_ ? file_->path() : ""; }
  u64 bytes() const { return file_ ? file_->size() : bytes_.size(); }
  std::vector<std::byte> build_id() const;
  std::vector<GElf_Phdr> load_segments() const;
  /// Bytes [offset, offset + count) of the file, fewer at its end.
  std::vector<std::byte> read(u64 offset, u64 count) const;
  /// The first section of this name that is in the file.
  Elf_Scn* section(std::string_view name) const;
  bool has_section(std::string_view name) const { return section(name) != nullptr; }

 private:
  ElfFile(std::vector<std::byte> bytes, std::optional<InputFile> file, Elf* elf)
      : bytes_(std::move(bytes)), file_(std::move(file)), elf_(elf) {}
  static std::optional<ElfFile> checked(ElfFile file);

  std::vector<std::byte> bytes_;
  std::optional<InputFile> file_;
  std::unique_ptr<Elf, CloseElf> elf_;  // goes before its file does
};

/// The functions of the symbol table in sections of type `table` (SHT_SYMTAB, SHT_DYNSYM), by address, one
/// for each address, cut where the next begins.
std::vector<Symbol> function_symbols(const ElfFile& file, u32 table);
/// Variables that have a size, as addresses of the file.
std::vector<Symbol> object_symbols(const ElfFile& file, u32 table);
/// Names "f@plt" for the stubs of the procedure linkage table.
std::vector<Symbol> plt_symbols(const ElfFile& file);
/// The code between the symbols of a stripped file: cut where functions begin as far as its table for
/// unwinding tells, and named by address, "[libx.so+0x1230]". Neither overlaps `known`, which is by address.
std::vector<Symbol> nameless_functions(const ElfFile& file, const std::vector<Symbol>& known,
                                       const std::string& module);
/// Both in one list, by address; where both have a symbol, that of the first.
std::vector<Symbol> merged(std::vector<Symbol> symbols, std::vector<Symbol> more);

/// The separate debug file of `file`, by build id or by the name in .gnu_debuglink. `wanted` is the build id
/// if there is no `file`.
std::optional<ElfFile> find_debug_file(const ElfFile* file, const FileIdentity& wanted,
                                       const std::filesystem::path& debug_directory);

std::string hexadecimal(std::span<const std::byte> bytes);

}  // namespace pmusim::symbols

#endif
