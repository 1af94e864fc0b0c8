// SPDX-License-Identifier: MIT
#include "program_argument.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/input_file.h"
#include "command.h"
#include "trace/format.h"

namespace pmusim::tools {

namespace fs = std::filesystem;

namespace {

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

bool is_program(const std::string& name) {
  if (is_trace(name)) return false;
  std::error_code error;
  if (name.find('/') != std::string::npos) return is_executable(name);
  return !fs::exists(name, error) && is_on_path(name);
}

/// Whether the option takes the argument behind this one. Of an option with an optional value perf takes an
/// attached one only.
bool takes_next(const CLI::App& command, const std::string& argument) {
  const auto needs_value = [&](const std::string& name) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_min() > 0;
  };
  if (argument.starts_with("--")) return argument.find('=') == std::string::npos && needs_value(argument);
  for (std::size_t at = 1; at < argument.size(); ++at)
    if (needs_value({'-', argument[at]})) return at + 1 == argument.size();
  return false;
}

}  // namespace

bool is_on_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    if (!folder.empty() && is_executable(fs::path(folder) / name)) return true;
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return false;
}

bool is_trace(const std::string& path) {
  const auto file = InputFile::open(path);
  trace::Magic magic{};
  return file.ok() && file->read_start(std::as_writable_bytes(std::span(magic))).ok() &&
         magic == trace::file_magic;
}

std::size_t find_program(const std::vector<std::string>& arguments) {
  const std::size_t none = arguments.size();
  CLI::App app;
  if (arguments.empty()) return none;
  if (arguments.front() == "record")
    add_record(app, {});
  else if (arguments.front() == "stat")
    add_stat(app, {});
  else
    return none;
  const CLI::App& command = *app.get_subcommands({}).front();
  for (std::size_t at = 1; at < arguments.size() && arguments[at] != "--"; ++at) {
    const std::string& argument = arguments[at];
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (!is_option) return is_program(argument) ? at : none;
    if (takes_next(command, argument)) ++at;
  }
  return none;
}

}  // namespace pmusim::tools
