// SPDX-License-Identifier: MIT
#include "live/msr_device.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>

#include "live/descriptor_link.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

std::string link_of(const Call& call) { return descriptor_link(call.tid, call.arguments[0]); }

bool is_named_so(const Call& call) {
  return descriptor_name(call.tid, call.arguments[0]).ends_with("/cpu/0/msr");
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
  const FaultOr<u64> value = pmu_.rdmsr(address);
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
