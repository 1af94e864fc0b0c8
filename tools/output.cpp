// SPDX-License-Identifier: MIT
#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>

#include "base/output_file.h"
#include "base/printable.h"
#include "command_error.h"
#include "interrupts.h"

namespace pmusim::tools {

namespace fs = std::filesystem;

namespace {

constexpr int bad_status = 2;

/// The end of all output: what is still in a buffer may not fit on the disk.
int flushed(int status) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written) return std::fflush(stderr) == 0 && std::ferror(stderr) == 0 ? status : bad_status;
  complain(fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
  return bad_status;
}

/// Quitting with output half written is no reason to write the other half.
int failed(std::string_view sentence) {
  complain(sentence);
  return bad_status;
}

}  // namespace

int run_guarded(const std::function<int()>& command) {
  try {
    return flushed(command());
  } catch (const ExitStatus& end) {
    return flushed(end.status);
  } catch (const EndedBySignal& end) {
    flushed(0);
    end_by(end.signal);
  } catch (const std::bad_alloc&) {
    return failed("not enough memory");
  } catch (const std::exception& error) {
    if (Interrupts::caught() == SIGPIPE) end_by(SIGPIPE);  // nobody reads, nor wants a sentence
    return failed(error.what());
  }
}

void claim_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free number is this one. What is opened for the other direction fails when used.
      const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != descriptor) ::close(opened);
    }
}

void complain(std::string_view sentence) noexcept {
  say("pmusim: ");
  try {
    say(printable_sentence(sentence));
  } catch (...) {
    say("not enough memory for the whole message");
  }
  say("\n");
}

// Not through fmt, which throws where there is nobody to tell. The stream remembers that it failed.
void say(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void say_lines(std::string_view text) {
  for (std::size_t end; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const bool whole = line.back() == '\n';
    say(printable_sentence(line.substr(0, line.size() - (whole ? 1 : 0))) + (whole ? "\n" : ""));
  }
}

void print_to(std::FILE* stream, std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (!written)
    throw CommandError(fmt::format("standard {}: cannot be written: {}",
                                   stream == stdout ? "output" : "error", std::strerror(errno)));
}

void write_page(const std::string& path, std::string_view page) {
  OutputFile file = value_or_fail(OutputFile::create(path));
  value_or_fail(file.write(std::as_bytes(std::span(page))));
  value_or_fail(file.commit());
}

void check_output_name(const std::string& path, std::span<const std::string> inputs,
                       std::string_view option) {
  if (path == "-") return;
  if (path.empty()) throw CommandError(fmt::format("{} '': expected the name of a file to write", option));
  std::error_code error;
  if (fs::is_directory(path, error)) throw CommandError(fmt::format("{} {}: is a directory", option, path));
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw CommandError(fmt::format("{} {}: there is no directory {}", option, path, folder.string()));
  for (const std::string& input : inputs)
    if (fs::equivalent(path, input, error))
      throw CommandError(fmt::format("{} {}: is the input {}, and would be overwritten; give another name",
                                     option, path, input));
}

}  // namespace pmusim::tools
