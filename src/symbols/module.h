// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SYMBOLS_MODULE_H
#define PMUSIM_SRC_SYMBOLS_MODULE_H

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/address_space.h"

namespace pmusim::symbols {

/// A function: [start, end) in addresses of the file.
struct Symbol {
  u64 start = 0, end = 0;
  std::string name;  ///< as linked; see base/demangle.h
};

struct AddressRange {
  u64 first = 0, end = 0;
  bool contains(u64 address) const { return address >= first && address < end; }
};

/// A line of source code. `file` is valid as long as the module.
struct Position {
  std::string_view file;
  u32 line = 0;
};

/// A function inlined at [start, end). `depth` counts from 0: inlined into the function that the symbol
/// names.
struct InlinedCall {
  u64 start = 0, end = 0;
  u32 depth = 0;
  std::string function;  ///< linkage name where there is one
  Position call;
};

/// Where distributions install separate debug files.
inline constexpr const char* usual_debug_directory = "/usr/lib/debug";

/// An executable or shared library, and what its debug information says of it.
///
/// Symbols come from the file's symbol table, else from that of its separate debug file, else from the
/// dynamic symbols; lines and inlined functions from the DWARF of either. Files that are missing, broken,
/// stripped or of another build give what they can; problem() says what is missing. The functions of a
/// stripped file that have no name are called after their address, "[libx.so+0x1230]".
class Module {
 public:
  /// `debug_directory` holds separate debug files as distributions install them (.build-id/ab/cdef.debug).
  static Module open(const FileIdentity& identity, const std::filesystem::path& debug_directory);
  /// ELF bytes that are not in a file.
  static Module from_memory(const std::string& name, std::vector<std::byte> bytes);
  /// The text that JIT compilers write: a line "START SIZE NAME" for each function, numbers in hexadecimal.
  /// Addresses are those of the process.
  static Module from_jit_map(const std::filesystem::path& path);

  /// The text that /proc/kallsyms has of a kernel: lines "ADDRESS TYPE NAME", numbers in hexadecimal. A
  /// function reaches to the next symbol of code.
  static Module from_kallsyms(const std::filesystem::path& path);

  /// What is no file at all: no symbols, and this for problem().
  static Module nameless(std::string problem);

  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// Sentences on what could not be read; empty if nothing is missing.
  const std::string& problem() const;
  /// Hexadecimal; empty if the file has none.
  std::string build_id() const;

  /// The address at which the file wants the byte at `file_offset`; the offset itself if no segment has it.
  u64 address_of(u64 file_offset) const;
  /// By address; none overlap.
  std::span<const Symbol> symbols() const;
  /// nullptr between symbols.
  const Symbol* find(u64 address) const;
  const Symbol* find(std::string_view linkage_name) const;
  /// Where a function lies in a process that maps the file so; nothing if this mapping does not show it.
  std::optional<AddressRange> loaded_range(std::string_view linkage_name, const Mapping& mapping) const;
  /// The code from `address` on: `bytes`, or less at the end of the segment; none if the file has none.
  std::vector<std::byte> code(u64 address, u64 bytes) const;

  std::optional<Position> position(u64 address);
  /// All calls inlined into [start, end), callers before callees.
  std::vector<InlinedCall> inlined_calls(u64 start, u64 end);

 private:
  class State;
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::symbols

#endif
