// SPDX-License-Identifier: MIT
#include "stat_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "output.h"

namespace pmusim::tools {

namespace {

[[noreturn]] void fail(const std::string& name) {
  throw CommandError(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
}

}  // namespace

StatOutput::StatOutput(const StatCommand& command) : stream_(command.json ? stdout : stderr) {
  const char* const mode = command.append ? "ae" : "we";
  if (!command.output.empty()) {
    name_ = "-o " + command.output;
    file_.reset(std::fopen(command.output.c_str(), mode));
  } else if (command.descriptor) {
    name_ = fmt::format("--log-fd {}", *command.descriptor);
    const int own = ::dup(*command.descriptor);
    file_.reset(own < 0 ? nullptr : ::fdopen(own, mode));
  } else {
    return;
  }
  if (!file_) fail(name_);
  stream_ = file_.get();
}

void StatOutput::print(const std::string& text) {
  if (!file_) return print_to(stream_, text);
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size() || std::fflush(stream_) != 0)
    fail(name_);
}

}  // namespace pmusim::tools
