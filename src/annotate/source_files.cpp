// SPDX-License-Identifier: MIT
#include "source_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/input_file.h"

namespace pmusim::annotate {

namespace {

constexpr u64 largest_source = 16u << 20;

/// Of languages whose compilers write DWARF, and of what generates code for them.
constexpr std::array<std::string_view, 56> source_extensions{
    ".adb", ".ads", ".asm",  ".c",   ".C",     ".c++", ".cc",  ".cl",  ".cp",  ".cpp", ".cppm", ".cr",
    ".cu",  ".cuh", ".cxx",  ".d",   ".def",   ".f",   ".F",   ".f03", ".f08", ".f90", ".F90",  ".f95",
    ".for", ".go",  ".h",    ".H",   ".h++",   ".hh",  ".hpp", ".hs",  ".hxx", ".i",   ".ii",   ".inc",
    ".inl", ".ipp", ".ispc", ".ixx", ".jl",    ".l",   ".m",   ".ml",  ".mm",  ".nim", ".pas",  ".pp",
    ".pyx", ".rs",  ".s",    ".S",   ".swift", ".tcc", ".y",   ".zig"};

/// Debug information may name anything, and its lines end up in pages that are handed on: what is read is
/// called as source code is. Headers of C++ libraries have no extension: they are below a folder "include".
bool is_called_like_source(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (!extension.empty()) return std::ranges::find(source_extensions, extension) != source_extensions.end();
  const std::filesystem::path folder = path.lexically_normal().parent_path();
  return std::ranges::find(folder, std::filesystem::path("include")) != folder.end();
}

std::vector<std::string> read_lines(const std::string& path) {
  if (!is_called_like_source(path)) return {};
  const auto file = InputFile::open(path);
  if (!file.ok() || file->size() > largest_source) return {};
  const auto bytes = file->read_all();
  if (!bytes.ok()) return {};
  std::vector<std::string> lines;
  std::string_view rest(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

}  // namespace

SourcePosition SourceFiles::number(const std::optional<symbols::Position>& position) {
  if (!position) return {};
  auto at = index_.find(position->file);
  if (at == index_.end()) {
    at = index_.emplace(std::string(position->file), static_cast<u32>(files_.size())).first;
    files_.push_back({at->first, {}});
    was_read_.push_back(false);
  }
  return {at->second, position->line};
}

bool SourceFiles::read(u32 file) {
  if (!was_read_[file]) files_[file].lines = read_lines(files_[file].path);
  was_read_[file] = true;
  return !files_[file].lines.empty();
}

}  // namespace pmusim::annotate
