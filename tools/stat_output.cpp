// SPDX-License-Identifier: MIT
#include "stat_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/input_file.h"
#include "output.h"

namespace pmusim::tools {

namespace {

[[noreturn]] void fail(const std::string& name) {
  throw CommandError(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
}

/// What --append adds to. A pipe or a terminal has nothing to keep.
std::string present_content(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  return value_or_fail(value_or_fail(InputFile::open(path)).read_text());
}

}  // namespace

StatOutput::StatOutput(const StatCommand& command) : stream_(command.json ? stdout : stderr) {
  if (!command.output.empty()) {
    file_.emplace(value_or_fail(OutputFile::create(command.output)));
    if (command.append) print(present_content(command.output));
  } else if (command.descriptor) {
    name_ = fmt::format("--log-fd {}", *command.descriptor);
    const int own = ::dup(*command.descriptor);
    descriptor_.reset(own < 0 ? nullptr : ::fdopen(own, command.append ? "ae" : "we"));
    if (!descriptor_) fail(name_);
    stream_ = descriptor_.get();
  }
}

void StatOutput::print(const std::string& text) {
  if (file_) {
    value_or_fail(file_->write(std::as_bytes(std::span(text))));
    if (!file_->seekable()) value_or_fail(file_->publish());  // a pipe's reader waits for it
    return;
  }
  if (!descriptor_) return print_to(stream_, text);
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size() || std::fflush(stream_) != 0)
    fail(name_);
}

void StatOutput::finish() {
  if (file_) value_or_fail(file_->commit());
}

}  // namespace pmusim::tools
