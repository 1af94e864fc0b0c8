// SPDX-License-Identifier: MIT
#include "kernel_entries_option.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "quantity.h"

namespace pmusim::tools {
namespace {

constexpr std::string_view wanted =
    "expected 'default', or syscall=N, signal=N, tick=N (instructions at ring 0) and every=N "
    "(instructions of the program from one tick to the next), between commas";

[[noreturn]] void refuse(std::string_view item) {
  throw CommandError(fmt::format("--kernel-entries: '{}': {}", item, wanted));
}

/// Nothing where the item has no such number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  const std::optional<u64> number = parse_number(text);
  return number && *number <= std::numeric_limits<Number>::max() ? std::optional(static_cast<Number>(*number))
                                                                 : std::nullopt;
}

void set(trace::KernelEntries& entries, std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == item.npos) refuse(item);
  const std::string_view name = item.substr(0, equals);
  const auto take = [&]<class Number>(Number& member) {
    const std::optional<Number> number = number_in<Number>(item.substr(equals + 1));
    if (!number) refuse(item);
    member = *number;
  };
  if (name == "syscall") return take(entries.system_call);
  if (name == "signal") return take(entries.signal);
  if (name == "tick") return take(entries.tick);
  if (name == "every") return take(entries.tick_every);
  refuse(item);
}

}  // namespace

void KernelEntriesOption::add_to(CLI::App& command) {
  const trace::KernelEntries defaults;
  command.add_option(
      "--kernel-entries", list_,
      fmt::format("Lead system calls and signals of a trace of user mode through a synthetic kernel, so that "
                  "there is something at ring 0 to count: 'default', or a list of syscall=N, signal=N and "
                  "tick=N, the instructions of an entry ({}, {} and {}), and every=N, instructions of the "
                  "program between two ticks (none come without)",
                  defaults.system_call, defaults.signal, defaults.tick));
}

void KernelEntriesOption::apply_to(SessionOptions& options) const {
  if (!is_given()) return;
  trace::KernelEntries& entries = options.kernel_entries.emplace();
  if (list_ == "default") return;
  for (const std::string_view item : parts_of(list_)) set(entries, item);
}

}  // namespace pmusim::tools
