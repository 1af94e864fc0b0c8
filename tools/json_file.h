// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_JSON_FILE_H
#define PMUSIM_TOOLS_JSON_FILE_H

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "pmusim/base/types.h"

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

  /// The value, or the end of the command with the error's sentence behind the file's name.
  template <class T>
  T value_or_refuse(Result<T, Error> result) const {
    if (!result.ok()) refuse(result.error().message);
    return std::move(result).value();
  }
};

}  // namespace pmusim::tools

#endif
