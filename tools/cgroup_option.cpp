// SPDX-License-Identifier: MIT
#include "cgroup_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "command_error.h"
#include "quantity.h"

namespace pmusim::tools {

namespace {

std::string without_slash(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

bool is_cgroup_path(const std::string& name) {
  const std::string path = without_slash(name);
  return !path.empty() && !path.starts_with('/') && !path.ends_with('/') && path.find("//") == path.npos;
}

bool is_thread_id(std::string_view task) {
  return !task.empty() && task.find_first_not_of("0123456789") == std::string_view::npos;
}

CgroupTasks cgroup_of(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || !is_cgroup_path(text.substr(0, sign)) || sign + 1 == text.size())
    throw CommandError(
        fmt::format("--cgroup-tasks {}: expected a cgroup and its tasks, as web=1783,nginx", text));
  CgroupTasks cgroup{.path = text.substr(0, sign), .threads = {}, .commands = {}};
  for (const std::string_view task : parts_of(std::string_view(text).substr(sign + 1)))
    if (is_thread_id(task))
      cgroup.threads.push_back(number_list("--cgroup-tasks", task).front());
    else
      cgroup.commands.emplace_back(task);
  return cgroup;
}

/// Its own tasks are not all that a cgroup has.
bool is_at_or_above(const std::string& name, const std::string& path) {
  return without_slash(path) == without_slash(name) ||
         without_slash(path).starts_with(without_slash(name) + "/");
}

/// One for all, or one for each.
void give_cgroups(std::vector<events::EventGroup>& groups, const std::vector<std::string>& names) {
  const auto name_of = [&](std::size_t event) {
    return names.size() == 1 ? names.front() : event < names.size() ? names[event] : std::string();
  };
  std::size_t event = 0;
  for (events::EventGroup& group : groups) {
    group.cgroup = name_of(event);
    for (std::size_t n = 0; n < group.events.size(); ++n, ++event)
      if (name_of(event) != group.cgroup)
        throw CommandError("-G: the events of a group in braces count for one cgroup");
  }
  if (names.size() > 1 && names.size() > event)
    throw CommandError(fmt::format("-G: there are {} cgroups for {} events", names.size(), event));
}

std::vector<events::EventGroup> for_each_cgroup(const std::vector<events::EventGroup>& groups,
                                                const std::vector<std::string>& names) {
  std::vector<events::EventGroup> all;
  for (const std::string& name : names)
    for (const events::EventGroup& group : groups) all.push_back({group.events, name});
  return all;
}

}  // namespace

void CgroupOption::add_to(CLI::App& command) {
  command.add_option("-G,--cgroup", names_,
                     "Count for tasks of these cgroups alone: one for all events, or one for each in turn");
  command
      .add_option("--cgroup-tasks", tasks_,
                  "Who is in a cgroup, as web=1783,nginx: thread ids, and names of programs that threads "
                  "execute; what they start is in it, too. May be repeated")
      ->option_text("NAME=TASKS")
      ->allow_extra_args(false);
}

void CgroupOption::add_for_each_to(CLI::App& command) {
  command.add_option("--for-each-cgroup", each_, "Count every event for each of these cgroups");
}

void CgroupOption::apply_to(SessionOptions& options) const {
  for (const std::string& text : tasks_) options.cgroups.push_back(cgroup_of(text));
}

void CgroupOption::check(const std::string& name) const {
  const auto has_it = [&](const std::string& text) { return is_at_or_above(name, cgroup_of(text).path); };
  if (!name.empty() && name != "/" && std::ranges::none_of(tasks_, has_it))
    throw CommandError(
        fmt::format("cgroup '{}': nobody is in it; --cgroup-tasks {}=TASKS says who is", name, name));
}

void CgroupOption::apply_to(std::vector<events::EventGroup>& groups, bool of_cpus) const {
  if (names_.empty() && each_.empty()) return;
  if (!names_.empty() && !each_.empty()) throw CommandError("-G and --for-each-cgroup exclude each other");
  if (!of_cpus)
    throw CommandError(
        "-G, --for-each-cgroup: only with -a or -C, and without --per-thread, -p and -t: "
        "events of cgroups are those of CPUs");
  const std::vector<std::string_view> parts = parts_of(each_.empty() ? names_ : each_);
  const std::vector<std::string> names(parts.begin(), parts.end());
  for (const std::string& name : names) check(name);
  if (each_.empty())
    give_cgroups(groups, names);
  else
    groups = for_each_cgroup(groups, names);
}

}  // namespace pmusim::tools
