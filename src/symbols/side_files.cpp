// SPDX-License-Identifier: MIT
#include "side_files.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include <algorithm>

namespace pmusim::symbols {

namespace {

namespace fs = std::filesystem;

using Unfit = std::optional<fs::path>;

/// What is no ELF file is closed again by libdw. A side file that names others in turn is none of a compiler.
bool is_fit(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return true;
  if (!InputFile::open(path).ok()) return false;
  const auto elf = ElfFile::open(path);
  return !elf || !elf->has_section(".gnu_debugaltlink");
}

bool is_fit_split_file(const fs::path& path) {
  std::error_code error;
  return !fs::exists(path, error) || (path.extension() == ".dwo" && is_fit(path));
}

const char* text_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute storage;
  return dwarf_formstring(dwarf_attr(die, attribute, &storage));
}

/// The places where libdw looks for the split unit of a skeleton. An absolute name replaces what it is
/// appended to.
Unfit unfit_split_file(Dwarf_Die* unit, const fs::path& folder) {
  const char* const compiled_in = text_of(unit, DW_AT_comp_dir);
  for (const unsigned attribute : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    const char* const name = text_of(unit, attribute);
    if (name == nullptr) continue;
    for (const fs::path& path : {folder / name, folder / (compiled_in == nullptr ? "" : compiled_in) / name})
      if (!is_fit_split_file(path)) return path;
  }
  return std::nullopt;
}

/// By build id in the usual directory, else by the name in the link.
Unfit unfit_alternative(Dwarf* dwarf, const fs::path& folder) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
  if (id_bytes <= 0) return std::nullopt;
  const std::string hex =
      hexadecimal({static_cast<const std::byte*>(id), static_cast<std::size_t>(id_bytes)});
  const fs::path installed =
      fs::path(usual_debug_directory) / ".build-id" / hex.substr(0, 2) / (hex.substr(2) + ".debug");
  for (const fs::path& path : {installed, folder / name})
    if (!is_fit(path)) return path;
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> unfit_side_file(Dwarf* dwarf, const ElfFile& elf) {
  std::error_code error;
  const fs::path path = fs::canonical(elf.path(), error), folder = path.parent_path();
  if (auto unfit = unfit_alternative(dwarf, folder)) return unfit;
  if (const fs::path package = path.string() + ".dwp"; !path.empty() && !is_fit(package)) return package;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    if (auto unfit = unfit_split_file(&die, folder)) return unfit;
  return std::nullopt;
}

}  // namespace pmusim::symbols
