// SPDX-License-Identifier: MIT
#include "debug_information.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "side_files.h"

namespace pmusim::symbols {

namespace {

/// Deeper nesting of scopes is no program.
constexpr u32 deepest_scope = 256;

/// Calls visit(start, end) for every range of a scope.
template <class Visit>
void for_each_range(Dwarf_Die* die, Visit visit) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  constexpr int most_ranges = 1 << 20;
  std::ptrdiff_t at = 0;
  for (int i = 0; i < most_ranges && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0; ++i)
    if (start < end) visit(start, end);
}

bool touches(Dwarf_Die* die, u64 start, u64 end) {
  bool found = false;
  for_each_range(die, [&](u64 from, u64 to) { found = found || (from < end && start < to); });
  return found;
}

const char* text_attribute(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

u64 number_attribute(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

std::string function_name(Dwarf_Die* die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
    if (const char* const text = text_attribute(die, name)) return text;
  return "[unknown]";
}

bool has_code_below(int tag) {
  return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
         tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

bool only_names(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
         tag == DW_TAG_structure_type;
}

}  // namespace

bool DebugInformation::is_in(const ElfFile& elf) {
  return elf.has_section(".debug_info") || elf.has_section(".zdebug_info");
}

Result<std::unique_ptr<DebugInformation>, Error> DebugInformation::open(const ElfFile& elf) {
  Dwarf* const dwarf = dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return Failure(Error("has debug information (DWARF) that cannot be read"));
  std::unique_ptr<DebugInformation> result(new DebugInformation(dwarf));
  if (const auto unfit = unfit_side_file(dwarf, elf))
    return Failure(Error(
        fmt::format("has debug information (DWARF) that names {}, which is no file of debug information",
                    unfit->string())));
  result->find_units();
  return result;
}

void DebugInformation::find_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, split;
  Dwarf_Half version = 0;
  u8 type = 0;
  while (dwarf_get_units(dwarf_.get(), unit, &unit, &version, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Dwarf_Die& content = type == DW_UT_skeleton && split.addr != nullptr ? split : die;
    const auto number = static_cast<u32>(units_.size());
    units_.push_back({.die = content, .lines = std::nullopt});
    for_each_range(&die, [&](u64 start, u64 end) { ranges_.push_back({start, end, number}); });
  }
  std::ranges::sort(ranges_, {}, [](const UnitRange& r) { return std::tuple(r.start, r.end, r.unit); });
}

DebugInformation::Unit* DebugInformation::unit_at(u64 address) {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &UnitRange::start);
  if (after == ranges_.begin() || address >= std::prev(after)->end) return nullptr;
  return &units_[std::prev(after)->unit];
}

const std::vector<DebugInformation::Line>& DebugInformation::lines_of(Unit& unit) {
  if (unit.lines) return *unit.lines;
  unit.lines.emplace();
  Dwarf_Lines* table = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&unit.die, &table, &count) != 0) return *unit.lines;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* const row = dwarf_onesrcline(table, i);
    Line line{0, dwarf_linesrc(row, nullptr, nullptr), 0, false};
    int number = 0;
    if (dwarf_lineaddr(row, &line.address) != 0 || dwarf_lineno(row, &number) != 0) continue;
    dwarf_lineendsequence(row, &line.ends);
    line.line = static_cast<u32>(std::max(number, 0));
    unit.lines->push_back(line);
  }
  // Where one sequence ends and another begins, the beginning counts.
  std::ranges::stable_sort(*unit.lines, {}, [](const Line& l) { return std::tuple(l.address, !l.ends); });
  return *unit.lines;
}

/// Old line tables give paths relative to the directory of the compilation.
std::string_view DebugInformation::full_path(const Unit& unit, const char* file) {
  std::string path = file;
  Dwarf_Die die = unit.die;
  const char* const directory = text_attribute(&die, DW_AT_comp_dir);
  if (!path.starts_with('/') && directory != nullptr) path = std::string(directory) + "/" + path;
  return *paths_.insert(std::filesystem::path(path).lexically_normal().string()).first;
}

std::optional<Position> DebugInformation::position(u64 address) {
  Unit* const unit = unit_at(address);
  if (unit == nullptr) return std::nullopt;
  const std::vector<Line>& lines = lines_of(*unit);
  const auto after = std::ranges::upper_bound(lines, address, {}, &Line::address);
  if (after == lines.begin()) return std::nullopt;
  const Line& line = *std::prev(after);
  if (line.ends || line.line == 0 || line.file == nullptr) return std::nullopt;
  return Position{full_path(*unit, line.file), line.line};
}

Position DebugInformation::call_site(const Unit& unit, Dwarf_Die* die) {
  const u64 file = number_attribute(die, DW_AT_call_file), line = number_attribute(die, DW_AT_call_line);
  const char* const path = unit.files ? dwarf_filesrc(unit.files, file, nullptr, nullptr) : nullptr;
  if (path == nullptr) return {};
  return {full_path(unit, path), static_cast<u32>(std::min<u64>(line, ~u32{0}))};
}

void DebugInformation::take_inlined(Walk& walk, Dwarf_Die* die, u32 depth) {
  const std::string name = function_name(die);
  const Position call = call_site(*walk.unit, die);
  for_each_range(die, [&](u64 start, u64 end) {
    const u64 from = std::max(start, walk.start), to = std::min(end, walk.end);
    if (from < to) walk.calls.push_back({from, to, depth, name, call});
  });
}

/// Depth first through the scopes that touch [start, end): `depth` counts inlined functions, `nesting`
/// scopes.
void DebugInformation::walk(Walk& walk, Dwarf_Die* parent, u32 depth, u32 nesting) {
  Dwarf_Die die;
  if (nesting > deepest_scope || dwarf_child(parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    if (!only_names(tag) && (!has_code_below(tag) || !touches(&die, walk.start, walk.end))) continue;
    if (is_inlined) take_inlined(walk, &die, depth);
    this->walk(walk, &die, depth + (is_inlined ? 1 : 0), nesting + 1);
  } while (dwarf_siblingof(&die, &die) == 0);
}

std::vector<InlinedCall> DebugInformation::inlined_calls(u64 start, u64 end) {
  Unit* const unit = unit_at(start);
  if (unit == nullptr) return {};
  if (unit->files == nullptr) {
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit->die, &unit->files, &count) != 0) unit->files = nullptr;
  }
  Walk walk{start, end, unit, {}};
  this->walk(walk, &unit->die, 0, 0);
  std::ranges::stable_sort(walk.calls, {}, [](const InlinedCall& c) { return std::tuple(c.depth, c.start); });
  return std::move(walk.calls);
}

}  // namespace pmusim::symbols
