// SPDX-License-Identifier: MIT
// The machine view as mounts. Nothing is mounted over /sys itself: tools look whether that is a sysfs.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "events/sampling_pmus.h"
#include "live/machine_view.h"

namespace pmusim::live {
namespace {

namespace fs = std::filesystem;

const fs::path devices = "/sys/devices", event_sources = "/sys/bus/event_source/devices";
const fs::path all_devices = "/dev", cpu_devices = "/dev/cpu";

/// A step that failed, for the one place that tells of it.
struct Failed {
  std::string what;
};

void check(bool done, const std::string& what) {
  if (!done) throw Failed{fmt::format("{}: {}", what, std::strerror(errno))};
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  check(static_cast<bool>(file.flush()), path.string());
}

void bind(const fs::path& what, const fs::path& where) {
  check(::mount(what.c_str(), where.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
        "mounting " + where.string());
}

/// Root here and nobody else: whoever may mount is root of its namespace.
void enter_user_namespace() {
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  check(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "a user namespace");
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("0 {} 1", uid));
  write_file("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

void enter_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) enter_user_namespace();
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "a private mount namespace");
}

/// Of the CPU that is: programs see those of the emulated one in their place.
bool is_of_cpu(const std::string& name) {
  return name == "cpu" || name == "cpu_core" || name == "cpu_atom" || name == "cpu_lowpower" ||
         events::is_sampling_pmu(name);
}

/// All devices that there are, and the CPU's PMUs among them.
void show_devices(const MachineView& view, const fs::path& scratch) {
  for (const fs::directory_entry& device : fs::directory_iterator(devices)) {
    const std::string name = device.path().filename();
    if (is_of_cpu(name)) continue;
    fs::create_directory(scratch / name);
    bind(device.path(), scratch / name);
  }
  for (const PmuView& pmu : view.pmus)
    for (const auto& [path, text] : pmu.files) {
      const fs::path file = scratch / pmu.name / path;
      fs::create_directories(file.parent_path());
      write_file(file, text);
    }
  bind(scratch, devices);
}

void show_event_sources(const MachineView& view, const fs::path& scratch) {
  for (const fs::directory_entry& source : fs::directory_iterator(event_sources)) {
    const std::string name = source.path().filename();
    if (!is_of_cpu(name)) fs::create_symlink(fs::read_symlink(source.path()), scratch / name);
  }
  for (const PmuView& pmu : view.pmus)
    fs::create_symlink(fs::path("../../../devices") / pmu.name, scratch / pmu.name);
  bind(scratch, event_sources);
}

void show_file(const fs::path& path, const std::string& text, const fs::path& scratch) {
  write_file(scratch, text);
  bind(scratch, path);
}

/// What stands beside something that is to be new.
void copy_entry(const fs::directory_entry& entry, const fs::path& scratch) {
  const fs::path copy = scratch / entry.path().filename();
  if (entry.is_symlink()) return fs::copy_symlink(entry.path(), copy);
  if (entry.is_directory())
    fs::create_directory(copy);
  else
    write_file(copy, "");
  bind(entry.path(), copy);
}

void copy_devices(const fs::path& scratch) {
  for (const fs::directory_entry& device : fs::directory_iterator(all_devices)) copy_entry(device, scratch);
}

bool is_numbered(const std::string& name, const std::string& word) {
  return name.size() > word.size() && name.starts_with(word) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(word.size()), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

/// Single files where the rest stays as it is; a new folder, with what else the old one has, where folders
/// go.
void show_system_folder(const SystemFolder& folder, const fs::path& directory) {
  const fs::path real = devices / "system" / folder.name, scratch = directory / folder.name;
  if (!fs::is_directory(real)) return;
  fs::create_directory(scratch);
  for (const auto& [path, text] : folder.files) {
    fs::create_directories((scratch / path).parent_path());
    write_file(scratch / path, text);
    if (folder.numbered.empty()) bind(scratch / path, real / path);
  }
  if (folder.numbered.empty()) return;
  for (const auto& [path, target] : folder.links) fs::create_symlink(target, scratch / path);
  for (const fs::directory_entry& entry : fs::directory_iterator(real)) {
    const std::string name = entry.path().filename();
    if (!fs::exists(scratch / name) && !is_numbered(name, folder.numbered)) copy_entry(entry, scratch);
  }
  bind(scratch, real);
}

/// For the owner alone, as the kernel's.
void show_registers(const MachineView& view, const fs::path& directory) {
  const bool has_folder = fs::is_directory(cpu_devices);
  const fs::path scratch = directory / "dev";
  fs::create_directory(scratch);
  if (!has_folder) copy_devices(scratch);
  for (const u32 cpu : view.cpus) {
    const fs::path file = scratch / fmt::format("cpu/{}/msr", cpu);
    fs::create_directories(file.parent_path());
    write_file(file, "");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  }
  if (has_folder)
    bind(scratch / "cpu", cpu_devices);
  else
    bind(scratch, all_devices);
}

void show_all(const MachineView& view, const fs::path& directory) {
  enter_mount_namespace();
  check(::mount("pmusim", directory.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0,
        "mounting " + directory.string());
  for (const char* part : {"devices", "event_source"}) fs::create_directory(directory / part);
  show_event_sources(view, directory / "event_source");
  show_devices(view, directory / "devices");
  for (const SystemFolder& folder : view.system) show_system_folder(folder, directory);
  for (const auto& [path, text] : view.proc)
    show_file("/proc" / fs::path(path), text, directory / fs::path(path).filename());
}

/// What failed of it, or nothing.
template <class Action>
std::string failure_of(Action action) {
  try {
    action();
  } catch (const Failed& failed) {
    return failed.what;
  } catch (const fs::filesystem_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  return {.device = file.st_dev, .inode = file.st_ino};
}

Shown show(const MachineView& view, const std::string& directory) {
  for (const auto& [name, value] : view.environment) ::setenv(name.c_str(), value.c_str(), 1);
  Shown shown;
  shown.missing = failure_of([&] { show_all(view, directory); });
  shown.missing_registers =
      shown.missing.empty() ? failure_of([&] { show_registers(view, directory); }) : shown.missing;
  if (shown.missing_registers.empty()) shown.registers = identity_of(directory).device;
  return shown;
}

}  // namespace pmusim::live
