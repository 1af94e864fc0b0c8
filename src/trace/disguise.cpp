// SPDX-License-Identifier: MIT
#include "trace/disguise.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace pmusim::trace {
namespace {

bool concerns(u32 tid, const Registers& r) { return first_argument(r) == 0 || first_argument(r) == tid; }

}  // namespace

void Disguise::enter_call(u32 tid, u64 number, const Registers& registers) {
  TrapDisguise::enter_call(tid, number, registers);
  if (number == SYS_sched_setaffinity && concerns(tid, registers)) enter_setaffinity(tid, registers);
}

void Disguise::leave_call(u32 tid, u64 number, const Registers& registers) {
  if (number == SYS_sched_getaffinity && concerns(tid, registers)) leave_getaffinity(tid, registers);
  if (result_) set_call_result(tid, *std::exchange(result_, std::nullopt));
  TrapDisguise::leave_call(tid, number, registers);
}

// The thread stays on the recorder's CPU.
void Disguise::enter_setaffinity(u32 tid, const Registers& registers) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  const std::size_t bytes = std::min<std::size_t>(second_argument(registers), sizeof wanted);
  const auto memory = std::as_writable_bytes(std::span(&wanted, 1)).first(bytes);
  cpu_set_t machine;
  ::sched_getaffinity(1, sizeof machine, &machine);  // init has all there are
  result_ = -EFAULT;
  if (read_memory(tid, third_argument(registers), memory) == bytes) {
    CPU_AND(&wanted, &wanted, &machine);
    result_ = CPU_COUNT(&wanted) != 0 ? 0 : -EINVAL;
    if (*result_ == 0) cpus_ = wanted;
  }
  skip_call(tid);
}

void Disguise::leave_getaffinity(u32 tid, const Registers& registers) const {
  const i64 result = static_cast<i64>(registers[Gpr::rax]);
  if (result <= 0) return;
  const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(result), sizeof cpus_);
  write_memory(tid, third_argument(registers), std::as_bytes(std::span(&cpus_, 1)).first(bytes));
}

std::optional<std::string> program_without_rights(u32 pid) {
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  struct stat program {};
  if (::stat(link.c_str(), &program) != 0) return std::nullopt;
  const bool other_user = (program.st_mode & S_ISUID) != 0 && program.st_uid != effective_id(pid, "Uid:");
  const bool other_group = (program.st_mode & S_ISGID) != 0 && (program.st_mode & S_IXGRP) != 0 &&
                           program.st_gid != effective_id(pid, "Gid:");
  const bool capable =
      effective_id(pid, "Uid:") != 0 && ::getxattr(link.c_str(), "security.capability", nullptr, 0) > 0;
  if (!other_user && !other_group && !capable) return std::nullopt;
  std::array<char, PATH_MAX> name{};
  const ssize_t bytes = ::readlink(link.c_str(), name.data(), name.size());
  return std::string(name.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
}

}  // namespace pmusim::trace
