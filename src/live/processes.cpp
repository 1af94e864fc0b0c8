// SPDX-License-Identifier: MIT
#include "live/processes.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "trace/tracee.h"

namespace pmusim::live {
namespace {

namespace fs = std::filesystem;

/// Numbers that are names in a folder.
std::vector<u32> numbers_in(const std::string& folder) {
  std::vector<u32> all;
  std::error_code error;
  for (fs::directory_iterator next(folder, error), end; !error && next != end; next.increment(error))
    if (const auto id = static_cast<u32>(std::strtoul(next->path().filename().c_str(), nullptr, 10)); id != 0)
      all.push_back(id);
  return all;
}

/// 0: gone.
u32 parent_of(u32 pid) { return parent_in(trace::proc_file(pid, "stat")); }

}  // namespace

u32 parent_in(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');  // names may hold anything
  u32 parent = 0;
  if (name_end != std::string::npos) std::sscanf(stat.c_str() + name_end, ") %*c %u", &parent);
  return parent;
}

std::set<u32> descendants_of(u32 ancestor) {
  std::vector<std::pair<u32, u32>> parents;  // of whom
  for (const u32 pid : numbers_in("/proc")) parents.emplace_back(parent_of(pid), pid);
  std::set<u32> found;
  for (std::size_t before = 1; before != found.size();) {
    before = found.size();
    for (const auto& [parent, pid] : parents)
      if (parent == ancestor || found.contains(parent)) found.insert(pid);
  }
  return found;
}

bool descends_from(u32 pid, u32 ancestor) {
  while (pid != 0 && pid != ancestor) pid = parent_of(pid);
  return pid == ancestor;
}

std::vector<u32> threads_of(u32 pid) { return numbers_in(fmt::format("/proc/{}/task", pid)); }

TaskStatus status_of(u32 tid) {
  TaskStatus status = status_in(trace::proc_file(tid, "status"));
  status.user_namespace = identity_of(fmt::format("/proc/{}/ns/user", tid));
  return status;
}

TaskStatus status_in(const std::string& text) {
  const auto value = [&](std::string_view name) {
    const std::size_t at = text.find(name);
    return at == std::string::npos ? "" : text.c_str() + at + name.size();
  };
  const auto number = [&](std::string_view name, int base) {
    return std::strtoull(value(name), nullptr, base);
  };
  const std::string_view state = value("\nState:\t");
  return {.process = static_cast<u32>(number("\nTgid:", 10)),
          .parent = static_cast<u32>(number("\nPPid:", 10)),
          .tracer = static_cast<u32>(number("\nTracerPid:", 10)),
          .user = static_cast<u32>(number("\nUid:", 10)),
          .capabilities = number("\nCapEff:", 16),
          .user_namespace = {},
          .has_ended = state.empty() || state.starts_with('Z') || state.starts_with('X')};
}

}  // namespace pmusim::live
