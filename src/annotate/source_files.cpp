// SPDX-License-Identifier: MIT
#include "source_files.h"

#include <filesystem>
#include <fstream>

namespace pmusim::annotate {

namespace {

/// A path out of debug information may name anything.
constexpr u64 largest_source = 16u << 20;

std::vector<std::string> read_lines(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  if (std::filesystem::file_size(path, error) > largest_source || error) return {};
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
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
