// SPDX-License-Identifier: MIT
#include "live/msr_device.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "live/descriptor_link.h"
#include "live/machine_view.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

std::string link_of(const Call& call) { return descriptor_link(call.tid, call.arguments[0]); }

/// "/dev/cpu/3/msr"
std::optional<u32> number_in(const std::string& name) {
  unsigned cpu = 0;
  int end = 0;
  const std::size_t at = name.rfind("/cpu/");
  if (at == std::string::npos || std::sscanf(name.c_str() + at, "/cpu/%u/msr%n", &cpu, &end) != 1 ||
      at + static_cast<std::size_t>(end) != name.size())
    return std::nullopt;
  return cpu;
}

/// The permissions of the link are those that the file was opened with.
bool is_open_for(mode_t access, const Call& call) {
  struct stat link {};
  return ::lstat(link_of(call).c_str(), &link) == 0 && (link.st_mode & access) != 0;
}

}  // namespace

std::optional<u32> MsrDevice::cpu_of(const Call& call) const {
  const auto cpu = number_in(descriptor_name(call.tid, call.arguments[0]));
  const bool is_there = device_ != 0 && cpu && *cpu < monitor_.cpus();
  return is_there && identity_of(link_of(call)).device == device_ ? cpu : std::nullopt;
}

namespace {

i64 read(Pmu& pmu, u32 tid, u32 address, u64 where) {
  const FaultOr<u64> value = pmu.rdmsr(address);
  if (!value.ok()) return -EIO;
  const auto bytes = std::as_bytes(std::span(&value.value(), 1));
  return trace::write_memory(tid, where, bytes) ? static_cast<i64>(bytes.size()) : -EFAULT;
}

i64 write(Pmu& pmu, u32 tid, u32 address, u64 where) {
  u64 value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  if (trace::read_memory(tid, where, bytes) != bytes.size()) return -EFAULT;
  return pmu.wrmsr(address, value) == Fault::none ? static_cast<i64>(bytes.size()) : -EIO;
}

}  // namespace

i64 MsrDevice::access(const Call& call, u32 cpu) {
  const u64 where = call.arguments[1], offset = call.arguments[3];
  const bool reads = call.number == SYS_pread64;
  if (!is_open_for(reads ? S_IRUSR : S_IWUSR, call)) return -EBADF;
  if (static_cast<i64>(offset) < 0) return -EINVAL;
  const u32 address = static_cast<u32>(offset);
  Pmu& pmu = monitor_.cpu(cpu).pmu();
  return reads ? read(pmu, call.tid, address, where) : write(pmu, call.tid, address, where);
}

}  // namespace pmusim::live
