// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_JSON_FILE_H
#define PMUSIM_TOOLS_JSON_FILE_H

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pmusim::tools {

/// JSON that others made, with the name of its file for sentences. Every reader of JSON begins here.
///
/// Nesting is bounded: the library walks what it has read by calling itself.
struct JsonFile {
  std::string path;
  nlohmann::ordered_json content;

  /// Ends the command with a sentence if the file cannot be read, is larger than 64 MiB, is no JSON, or is
  /// nested more than 64 deep.
  static JsonFile read(const std::string& path);

  /// Ends the command: "FILE: SENTENCE".
  [[noreturn]] void refuse(std::string_view sentence) const;
};

}  // namespace pmusim::tools

#endif
