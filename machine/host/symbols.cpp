// SPDX-License-Identifier: MIT
#include "host/symbols.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

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

bool write_whole(const fs::path& path, const std::string& contents) {
  const fs::path beside = path.string() + ".new";
  std::ofstream file(beside, std::ios::binary);
  file << contents;
  file.close();
  std::error_code error;
  if (file) fs::rename(beside, path, error);
  if (file && !error) return true;
  fs::remove(beside, error);
  return false;
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
