// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_SOURCE_FILES_H
#define PMUSIM_SRC_ANNOTATE_SOURCE_FILES_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"
#include "symbols/module.h"

namespace pmusim::annotate {

/// The source files that a report mentions, by number.
class SourceFiles {
 public:
  SourcePosition number(const std::optional<symbols::Position>& position);
  /// Reads the text of a file when something of it is to be shown. False if it cannot be read.
  bool read(u32 file);
  std::vector<SourceFile> take() { return std::move(files_); }

 private:
  std::vector<SourceFile> files_;
  std::vector<bool> was_read_;
  std::map<std::string, u32, std::less<>> index_;
};

}  // namespace pmusim::annotate

#endif
