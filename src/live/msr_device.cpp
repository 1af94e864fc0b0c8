// SPDX-License-Identifier: MIT
#include "live/msr_device.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "trace/tracee.h"

namespace pmusim::live {
namespace {

std::string link_of(const Call& call) {
  return fmt::format("/proc/{}/fd/{}", call.tid, static_cast<u32>(call.arguments[0]));
}

/// By its name alone: to ask the file itself may mean to ask a program, which may wait for an answer here.
bool is_named_so(const Call& call) {
  constexpr std::string_view name = "/cpu/0/msr";
  std::array<char, 64> path{};
  const ssize_t bytes = ::readlink(link_of(call).c_str(), path.data(), path.size());
  return bytes > 0 && std::string_view(path.data(), static_cast<std::size_t>(bytes)).ends_with(name);
}

/// The permissions of the link are those that the file was opened with.
bool is_open_for(mode_t access, const Call& call) {
  struct stat link {};
  return ::lstat(link_of(call).c_str(), &link) == 0 && (link.st_mode & access) != 0;
}

}  // namespace

bool MsrDevice::is_meant(const Call& call) const {
  if (call.number != SYS_pread64 && call.number != SYS_pwrite64) return false;
  return file_.inode != 0 && is_named_so(call) && identity_of(link_of(call)) == file_;
}

i64 MsrDevice::access(const Call& call) {
  const u64 where = call.arguments[1], offset = call.arguments[3];
  const bool reads = call.number == SYS_pread64;
  if (!is_open_for(reads ? S_IRUSR : S_IWUSR, call)) return -EBADF;
  if (static_cast<i64>(offset) < 0) return -EINVAL;
  const u32 address = static_cast<u32>(offset);
  return reads ? read(call.tid, address, where) : write(call.tid, address, where);
}

i64 MsrDevice::read(u32 tid, u32 address, u64 where) {
  const Faulty<u64> value = pmu_.rdmsr(address);
  if (!value.ok()) return -EIO;
  const auto bytes = std::as_bytes(std::span(&value.value(), 1));
  return trace::write_memory(tid, where, bytes) ? static_cast<i64>(bytes.size()) : -EFAULT;
}

i64 MsrDevice::write(u32 tid, u32 address, u64 where) {
  u64 value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  if (trace::read_memory(tid, where, bytes) != bytes.size()) return -EFAULT;
  return pmu_.wrmsr(address, value) == Fault::none ? static_cast<i64>(bytes.size()) : -EIO;
}

}  // namespace pmusim::live
