// SPDX-License-Identifier: MIT
#ifndef PMUSIM_OBSERVE_TEXT_FILE_H
#define PMUSIM_OBSERVE_TEXT_FILE_H

#include <optional>
#include <string>
#include <string_view>

#include "base/output_file.h"

namespace pmusim::observe {

/// A text on its way into a file, for those who cannot handle an error when it happens: the first one
/// waits for finish(), and nothing is written after it.
class TextFile {
 public:
  /// `path` "-" is standard output. What registers held is for its owner's eyes.
  static Result<TextFile, Error> create(const std::string& path) {
    Result<OutputFile, Error> file =
        path == "-" ? OutputFile::standard_output() : OutputFile::create(path, Readers::owner);
    if (!file.ok()) return Failure(file.error());
    return TextFile(std::move(file).value());
  }

  void write(std::string_view text) {
    if (error_) return;
    if (Result<Done, Error> written = file_.write(std::as_bytes(std::span(text))); !written.ok())
      error_ = written.error();
  }
  Result<Done, Error> finish() {
    if (error_) return Failure(*error_);
    return file_.commit();
  }

 private:
  explicit TextFile(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  std::optional<Error> error_;
};

}  // namespace pmusim::observe

#endif
