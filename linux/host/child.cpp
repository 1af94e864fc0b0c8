// SPDX-License-Identifier: MIT
#include "host/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace pmusim::linux_driver {

namespace {

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0) _exit(3);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void be_child(int file, const std::function<std::string()>& work) {
  int status = 0;
  try {
    write_all(file, work());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pmusim-linux: %s\n", error.what());
    status = 2;
  }
  std::fflush(stdout);
  _exit(status);
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 65536> piece{};
  for (ssize_t n = 0; (n = read(file, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

ChildResult in_child(const std::function<std::string()>& work) {
  std::fflush(stdout);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe to a child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], work);
  }
  close(ends[1]);
  ChildResult result{.text = read_all(ends[0])};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool show(const ChildResult& child, const std::string& name) {
  std::fputs(child.text.c_str(), stdout);
  if (child.exit_status != 0) std::printf("%s: ended with exit status %d\n", name.c_str(), child.exit_status);
  std::fflush(stdout);
  return child.exit_status == 0;
}

}  // namespace pmusim::linux_driver
