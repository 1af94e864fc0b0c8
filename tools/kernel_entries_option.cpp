// SPDX-License-Identifier: MIT
#include "kernel_entries_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace pmusim::tools {
namespace {

constexpr std::string_view wanted =
    "expected 'default', or syscall=N, signal=N, tick=N (instructions at ring 0) and every=N (instructions "
    "of "
    "the program from one tick to the next), between commas";

u64 number_of(const std::string& item, std::string_view text, u64 most) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most)
    throw CommandError(fmt::format("--kernel-entries: '{}': {}", item, wanted));
  return number;
}

void set(trace::KernelEntries& entries, const std::string& item) {
  const std::size_t equals = std::min(item.find('='), item.size());
  const std::string name = item.substr(0, equals);
  const auto number = [&](u64 most) {
    return number_of(item, std::string_view(item).substr(std::min(equals + 1, item.size())), most);
  };
  constexpr u64 most = std::numeric_limits<u32>::max();
  if (name == "syscall") {
    entries.system_call = static_cast<u32>(number(most));
  } else if (name == "signal") {
    entries.signal = static_cast<u32>(number(most));
  } else if (name == "tick") {
    entries.tick = static_cast<u32>(number(most));
  } else if (name == "every") {
    entries.tick_every = number(~u64{0});
  } else {
    throw CommandError(fmt::format("--kernel-entries: '{}': {}", item, wanted));
  }
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
  for (std::size_t begin = 0; begin <= list_.size();) {
    const std::size_t end = std::min(list_.find(',', begin), list_.size());
    set(entries, list_.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace pmusim::tools
