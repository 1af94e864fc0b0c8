// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TEMPORARY_DIRECTORY_H
#define PMUSIM_TOOLS_TEMPORARY_DIRECTORY_H

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "command_error.h"

namespace pmusim::tools {

/// A directory of its own under the system's temporary one, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "pmusim-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw CommandError("cannot create a directory like " + path_ + ": " + std::strerror(errno));
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pmusim::tools

#endif
