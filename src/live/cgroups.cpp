// SPDX-License-Identifier: MIT
// cgroups(7), proc_pid_cgroup(5), proc_pid_mountinfo(5).
#include "live/cgroups.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/split.h"
#include "live/descriptor_link.h"
#include "live/machine_view.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

constexpr std::string_view controller = "perf_event";

bool has_controller(std::string_view list) {
  return std::ranges::any_of(split(list, ','), [](std::string_view name) { return name == controller; });
}

/// A line of memberships: number of the hierarchy, controllers, path, which may hold colons.
struct Membership {
  std::string_view controllers, path;
  bool is_version_2 = false;
};

/// What the perf core takes for the name of a cgroup.
bool is_path(std::string_view text) {
  return text == "/" || (text.starts_with('/') && !text.ends_with('/') && text.find("//") == text.npos);
}

std::optional<Membership> membership_in(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
  if (second == line.npos || !is_path(line.substr(second + 1))) return std::nullopt;
  return Membership{line.substr(first + 1, second - first - 1), line.substr(second + 1),
                    line.starts_with("0::")};
}

/// In a hierarchy of version 1 that has perf_event, or else in that of version 2.
std::optional<Membership> counted_membership(std::string_view memberships) {
  std::optional<Membership> of_version_2;
  for (const std::string_view line : split(memberships, '\n')) {
    const auto membership = membership_in(line);
    if (membership && has_controller(membership->controllers)) return membership;
    if (membership && membership->is_version_2) of_version_2 = membership;
  }
  return of_version_2;
}

/// Space, tab, newline and backslash are three octal digits behind a backslash there.
std::string unescaped(std::string_view text) {
  constexpr std::size_t digits = 3;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  while (!text.empty()) {
    const std::string_view octal = text.substr(1, digits);
    const bool is_escape = text[0] == '\\' && octal.size() == digits && std::ranges::all_of(octal, is_octal);
    unsigned code = 0;
    for (const char digit : octal) code = code * 8 + static_cast<unsigned>(digit - '0');
    plain += is_escape ? static_cast<char>(code) : text[0];
    text.remove_prefix(is_escape ? 1 + digits : 1);
  }
  return plain;
}

/// A line of mounts: what of the file system is mounted, and where; the kind of file system and its options.
struct Mount {
  std::string root, point;
  std::string_view system, options;
};

std::optional<Mount> mount_in(std::string_view line) {
  constexpr std::string_view separator = " - ";  // behind any number of optional fields
  const std::size_t optional_end = line.find(separator);
  if (optional_end == line.npos) return std::nullopt;
  const auto of_mount = split(line.substr(0, optional_end), ' ');
  const auto of_system = split(line.substr(optional_end + separator.size()), ' ');
  if (of_mount.size() < 5 || of_system.empty()) return std::nullopt;
  Mount mount{unescaped(of_mount[3]), unescaped(of_mount[4]), of_system.front(), of_system.back()};
  return is_path(mount.root) && is_path(mount.point) ? std::optional(std::move(mount)) : std::nullopt;
}

/// What is behind `top` of a path that is there or below.
std::optional<std::string_view> below(std::string_view path, std::string_view top) {
  if (top == "/") top = "";
  if (path == "/") path = "";
  if (!path.starts_with(top)) return std::nullopt;
  path.remove_prefix(top.size());
  return path.empty() || path.front() == '/' ? std::optional(path) : std::nullopt;
}

std::string joined(std::string_view top, std::string_view rest) {
  const std::string path = std::string(top == "/" ? "" : top).append(rest);
  return path.empty() ? "/" : path;
}

bool is_cgroup_directory(const std::string& link) {
  struct statfs system {};
  if (::statfs(link.c_str(), &system) != 0) return false;
  std::error_code error;
  const auto type = static_cast<u32>(system.f_type);
  return (type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC) &&
         std::filesystem::is_directory(link, error);
}

}  // namespace

std::string cgroup_in(std::string_view memberships) {
  const auto membership = counted_membership(memberships);
  return membership ? std::string(membership->path) : "/";
}

CgroupMounts::CgroupMounts(std::string_view memberships, std::string_view mounts) {
  const auto counted = counted_membership(memberships);
  if (!counted) return;
  for (const std::string_view line : split(mounts, '\n')) {
    const auto mount = mount_in(line);
    if (!mount) continue;
    const bool is_it = counted->is_version_2 ? mount->system == "cgroup2"
                                             : mount->system == "cgroup" && has_controller(mount->options);
    if (is_it) roots_[mount->point] = mount->root;
  }
}

/// The nearest mount above it has it.
std::optional<std::string> CgroupMounts::cgroup_at(std::string_view directory) const {
  for (auto mount = roots_.rbegin(); mount != roots_.rend(); ++mount)
    if (const auto rest = below(directory, mount->first)) return joined(mount->second, *rest);
  return std::nullopt;
}

std::optional<std::string> CgroupMounts::directory_of(std::string_view cgroup) const {
  for (const auto& [point, root] : roots_)
    if (const auto rest = below(cgroup, root)) return joined(point, *rest);
  return std::nullopt;
}

bool asks_for_cgroups(const perf::Attr& attr) {
  const bool counts_switches = attr.type == static_cast<u32>(perf::EventType::software) &&
                               attr.config == static_cast<u64>(perf::SoftwareId::cgroup_switches);
  return counts_switches || attr.cgroup != 0 || (attr.sample_type & perf::sample::CGROUP) != 0;
}

Cgroups::Cgroups(perf::PerfCore& perf)
    : perf_(perf),
      mounts_(trace::proc_file(static_cast<u32>(::getpid()), "cgroup"),
              trace::proc_file(static_cast<u32>(::getpid()), "mountinfo")) {}

Result<u64, KernelError> Cgroups::named_by(u32 tid, u64 descriptor) {
  const std::string link = descriptor_link(tid, descriptor);
  if (!is_cgroup_directory(link))
    return Failure(
        KernelError(EBADF, fmt::format("PID_CGROUP: descriptor {} is no directory of a cgroup file system",
                                       static_cast<i32>(descriptor))));
  const std::string name = descriptor_name(tid, descriptor);
  const CgroupMounts mounts(trace::proc_file(tid, "cgroup"), trace::proc_file(tid, "mountinfo"));
  const auto cgroup = mounts.cgroup_at(name);
  if (!cgroup)
    return Failure(KernelError(
        ENOENT, fmt::format("PID_CGROUP: {} is of a hierarchy without controller perf_event", name)));
  if (identity_of(fmt::format("/proc/{}/root{}", tid, name)) != identity_of(link))
    return Failure(KernelError(ENOENT, fmt::format("PID_CGROUP: {} has been removed", name)));
  return number_of(*cgroup);
}

std::optional<u64> Cgroups::of_task(u32 tid) {
  const std::string memberships = trace::proc_file(tid, "cgroup");
  return memberships.empty() ? std::nullopt : std::optional(number_of(cgroup_in(memberships)));
}

/// Kernels call a cgroup by the inode of its directory.
u64 Cgroups::number_of(const std::string& path) {
  if (const auto known = numbers_.find(path); known != numbers_.end()) return known->second;
  u64 number = perf_.make_cgroup("/");
  for (std::size_t end = 1; end != path.npos && path != "/";) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    const auto directory = mounts_.directory_of(part);
    const u64 inode = directory ? identity_of(*directory).inode : 0;
    number = perf_.make_cgroup(part, inode != 0 ? std::optional(inode) : std::nullopt);
  }
  numbers_.emplace(path, number);
  return number;
}

}  // namespace pmusim::live
