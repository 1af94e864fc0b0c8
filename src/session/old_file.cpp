// SPDX-License-Identifier: MIT
#include "session/old_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace pmusim {

namespace fs = std::filesystem;

/// The file keeps its first name until the new one takes it, so that there is one at every moment. A file
/// system without links has the old name only.
Result<Done, Error> keep_old_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) == 0) return Done{};
  const std::string old = path + ".old";
  fs::remove(old, error);
  fs::create_hard_link(path, old, error);
  if (error) fs::rename(path, old, error);
  if (error) return Failure(Error(fmt::format("{}: cannot be kept as {}: {}", path, old, error.message())));
  return Done{};
}

}  // namespace pmusim
