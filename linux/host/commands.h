// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_COMMANDS_H
#define PMUSIM_LINUX_HOST_COMMANDS_H

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::linux_driver {

/// One sentence for the user; exit status 2.
struct CommandError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a command found that must not be: exit status 1.
struct Findings {};

/// The value, or the end of the command with the error's sentence.
template <class T, class E>
T value_or_fail(Result<T, E> result) {
  if (!result.ok()) throw CommandError(result.error().message);
  return std::move(result).value();
}

/// The models named; all of them if none is.
std::vector<CpuModel> models_named(const std::vector<std::string>& names);

// Each adds its subcommand.
void add_boot(CLI::App& app);
/// `program` with its arguments is recorded and watched, where no trace is named.
void add_stat(CLI::App& app, const std::vector<std::string>& program);
void add_record(CLI::App& app, const std::vector<std::string>& program);
void add_compare(CLI::App& app);
void add_drain(CLI::App& app);
void add_bench(CLI::App& app);
void add_planted(CLI::App& app);
void add_explore(CLI::App& app);

}  // namespace pmusim::linux_driver

#endif
