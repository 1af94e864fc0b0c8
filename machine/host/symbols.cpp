// SPDX-License-Identifier: MIT
#include "host/symbols.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

namespace pmusim::machine {

namespace fs = std::filesystem;

std::string build_id_of(std::string_view notes) {
  constexpr std::uint32_t build_id_note = 3;  // NT_GNU_BUILD_ID of <elf.h>
  const auto padded = [](std::uint32_t bytes) { return (std::size_t{bytes} + 3) & ~std::size_t{3}; };
  while (notes.size() >= 12) {
    std::uint32_t name_bytes = 0, bytes = 0, type = 0;
    std::memcpy(&name_bytes, notes.data(), 4);
    std::memcpy(&bytes, notes.data() + 4, 4);
    std::memcpy(&type, notes.data() + 8, 4);
    const std::size_t at = 12 + padded(name_bytes), end = at + padded(bytes);
    if (end > notes.size()) break;
    if (type == build_id_note && notes.substr(12, 3) == "GNU") {
      std::string text;
      for (const char byte : notes.substr(at, bytes)) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
      }
      return text;
    }
    notes.remove_prefix(end);
  }
  return {};
}

bool write_whole(const fs::path& path, const std::string& contents, fs::perms access) {
  const fs::path beside = path.string() + ".new";
  std::error_code error;
  std::ofstream file(beside, std::ios::binary);
  if (access != fs::perms::unknown) fs::permissions(beside, access, error);
  if (!error) file << contents;
  file.close();
  if (file && !error) fs::rename(beside, path, error);
  if (file && !error) return true;
  fs::remove(beside, error);
  return false;
}

KernelFunctions::KernelFunctions(std::string_view kallsyms) {
  while (!kallsyms.empty()) {
    std::string_view line = kallsyms.substr(0, kallsyms.find('\n'));
    kallsyms.remove_prefix(std::min(line.size() + 1, kallsyms.size()));
    Symbol symbol;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (error != std::errc() || line.size() < 4 || line[0] != ' ' || line[2] != ' ') continue;
    if (std::string_view("tTwW").find(line[1]) != std::string_view::npos)
      symbol.name = line.substr(3, line.find('\t') - 3);
    symbols_.push_back(std::move(symbol));
  }
  std::ranges::stable_sort(symbols_, {}, &Symbol::address);
}

std::string_view KernelFunctions::name_of(std::uint64_t address) const {
  constexpr std::uint64_t kernel_half = std::uint64_t{1} << 63;
  const auto behind = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  return address < kernel_half || behind == symbols_.begin() ? "" : std::string_view((behind - 1)->name);
}

bool KernelFunctions::name_in(const fs::path& path) const {
  std::ifstream file(path, std::ios::binary);
  std::string named;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view mark = " at=0x";
    if (const std::size_t at = line.rfind(mark); at != std::string::npos) {
      std::uint64_t address = 0;
      const char* const digits = line.data() + at + mark.size();
      std::from_chars(digits, line.data() + line.size(), address, 16);
      if (const std::string_view name = name_of(address); !name.empty())
        line.replace(at + mark.size() - 2, std::string::npos, name);
    }
    named += line + '\n';
  }
  std::error_code error;
  const fs::perms readers = fs::status(path, error).permissions();
  return !error && !file.bad() && write_whole(path, named, readers);
}

fs::path cache_symbols(const std::string& build_id, const std::string& kallsyms) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || build_id.size() < 3) return {};
  const fs::path cache = fs::path(home) / ".debug", folder = cache / "[kernel.kallsyms]" / build_id;
  const fs::path link = cache / ".build-id" / build_id.substr(0, 2) / build_id.substr(2);
  std::error_code error;
  fs::create_directories(folder, error);
  fs::create_directories(link.parent_path(), error);
  if (!write_whole(folder / "kallsyms", kallsyms)) return {};
  fs::remove(link, error);
  fs::create_directory_symlink(fs::path("../..") / "[kernel.kallsyms]" / build_id, link, error);
  return folder / "kallsyms";
}

}  // namespace pmusim::machine
