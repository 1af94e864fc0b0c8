// SPDX-License-Identifier: MIT
#include "live/event_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "live/descriptor_link.h"

namespace pmusim::live {
namespace {

u64 pipe_inode(const char* path) {
  struct stat file {};
  return ::stat(path, &file) == 0 && S_ISFIFO(file.st_mode) ? file.st_ino : 0;
}

}  // namespace

std::optional<EventDescriptor::Made> EventDescriptor::make(perf::Event& event, u32 opener) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  struct stat file {};
  ::fstat(ends[0], &file);
  return Made{EventDescriptor(event, opener, std::move(write_end), file.st_ino), std::move(read_end)};
}

void EventDescriptor::wake(u64 data_head) {
  if (!write_end_) return;
  woken_for_ = data_head;
  if (awake_) calm();
  (void)!::write(write_end_.number(), "", 1);
  awake_ = true;
}

/// Whoever has one end of a pipe can open the other.
FileDescriptor EventDescriptor::read_end() const {
  if (!write_end_) return {};
  const std::string path = fmt::format("/proc/self/fd/{}", write_end_.number());
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

void EventDescriptor::calm() {
  if (!std::exchange(awake_, false)) return;
  const FileDescriptor end = read_end();
  std::array<char, 16> bytes{};
  if (end) (void)!::read(end.number(), bytes.data(), bytes.size());
}

bool EventDescriptor::abandoned() const {
  if (!write_end_) return ::kill(static_cast<pid_t>(opener_), 0) != 0 && errno == ESRCH;
  pollfd end{write_end_.number(), 0, 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0;
}

EventDescriptor& EventDescriptors::add(EventDescriptor descriptor) {
  const u64 inode = descriptor.inode();
  return by_inode_.insert_or_assign(inode, std::move(descriptor)).first->second;
}

EventDescriptor* EventDescriptors::find(u32 tid, u64 number) {
  const auto found = by_inode_.find(pipe_inode(descriptor_link(tid, number).c_str()));
  return found == by_inode_.end() ? nullptr : &found->second;
}

}  // namespace pmusim::live
