// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SYMBOLS_DEBUG_INFORMATION_H
#define PMUSIM_SRC_SYMBOLS_DEBUG_INFORMATION_H

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "elf_file.h"

namespace pmusim::symbols {

/// The DWARF of one file. Units are found by address at once; their line tables are read when first asked
/// for.
class DebugInformation {
 public:
  static bool is_in(const ElfFile& elf);
  /// Errors, as the end of a sentence: it cannot be read; it names files that are not to be opened. `elf` has
  /// to outlive the object.
  static Result<std::unique_ptr<DebugInformation>, Error> open(const ElfFile& elf);

  std::optional<Position> position(u64 address);
  std::vector<InlinedCall> inlined_calls(u64 start, u64 end);

 private:
  struct Line {
    u64 address;
    const char* file;
    u32 line;
    bool ends;  ///< a gap begins here
  };
  struct Unit {
    Dwarf_Die die;
    std::optional<std::vector<Line>> lines;
    Dwarf_Files* files = nullptr;
  };
  struct UnitRange {
    u64 start, end;
    u32 unit;
  };
  struct Walk {
    u64 start, end;
    Unit* unit;
    std::vector<InlinedCall> calls;
  };

  explicit DebugInformation(Dwarf* dwarf) : dwarf_(dwarf) {}
  void find_units();
  Unit* unit_at(u64 address);
  const std::vector<Line>& lines_of(Unit& unit);
  std::string_view full_path(const Unit& unit, const char* file);
  void walk(Walk& walk, Dwarf_Die* die, u32 depth, u32 nesting);
  void take_inlined(Walk& walk, Dwarf_Die* die, u32 depth);
  Position call_site(const Unit& unit, Dwarf_Die* die);

  std::unique_ptr<Dwarf, CloseDwarf> dwarf_;
  std::vector<Unit> units_;
  std::vector<UnitRange> ranges_;
  std::set<std::string, std::less<>> paths_;
};

}  // namespace pmusim::symbols

#endif
