// SPDX-License-Identifier: MIT
#include "perfdata/input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/input_file.h"
#include "perfdata/file_format.h"

namespace pmusim::perfdata {

namespace fs = std::filesystem;

namespace {

Result<InputBytes, Error> read_file(const fs::path& path) {
  const auto file = InputFile::open(path.string());
  if (!file) return Failure(file.error());
  auto bytes = file->read_all();
  if (!bytes) return Failure(bytes.error());
  return InputBytes{path.string(), *std::move(bytes)};
}

bool may_be_perf_data(const std::vector<std::byte>& start) {
  return start.size() < sizeof magic || std::memcmp(start.data(), &magic, sizeof magic) == 0;
}

/// To its end, if its start is that of a perf.data: other input may have none.
Result<InputBytes, Error> read_standard_input() {
  constexpr std::size_t step = 1 << 16;
  InputBytes input{"standard input", {}};
  std::vector<std::byte>& bytes = input.bytes;
  while (may_be_perf_data(bytes)) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + step);
    const ssize_t got = ::read(STDIN_FILENO, bytes.data() + filled, step);
    if (got < 0 && errno != EINTR)
      return Failure(Error(fmt::format("standard input: cannot read: {}", std::strerror(errno))));
    bytes.resize(filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  return input;
}

/// The N of data.N.
std::optional<unsigned> part_number(const fs::path& path) {
  constexpr std::string_view start = "data.";
  const std::string name = path.filename().string();
  if (!name.starts_with(start)) return std::nullopt;
  unsigned number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + start.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

std::vector<fs::path> parts_in(const fs::path& directory) {
  std::vector<std::pair<unsigned, fs::path>> numbered;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (const auto number = part_number(entry.path())) numbered.emplace_back(*number, entry.path());
  std::ranges::sort(numbered);
  std::vector<fs::path> paths;
  for (auto& [number, path] : numbered) paths.push_back(std::move(path));
  return paths;
}

Result<Input, Error> read_directory(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::exists(directory / "data", ignored))
    return Failure(
        Error(fmt::format("{}: is a directory without a file 'data'; expected a perf.data file, or a "
                          "directory that perf record --threads or --kcore wrote",
                          directory.string())));
  auto head = read_file(directory / "data");
  if (!head) return Failure(head.error());
  Input input{*std::move(head), {}};
  for (const fs::path& path : parts_in(directory)) {
    auto part = read_file(path);
    if (!part) return Failure(part.error());
    input.parts.push_back(*std::move(part));
  }
  return input;
}

}  // namespace

Result<Input, Error> read_input(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_directory(path);
  auto file = path == "-" ? read_standard_input() : read_file(path);
  if (!file) return Failure(file.error());
  return Input{*std::move(file), {}};
}

}  // namespace pmusim::perfdata
