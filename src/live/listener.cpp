// SPDX-License-Identifier: MIT
#include "live/listener.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

namespace pmusim::live {

std::optional<Call> Listener::receive() const {
  seccomp_notif notification{};
  if (::ioctl(descriptor_.number(), SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) return std::nullopt;
  Call call{.id = notification.id,
            .tid = notification.pid,
            .number = static_cast<u32>(notification.data.nr),
            .arguments = {}};
  std::ranges::copy(notification.data.args, call.arguments.begin());
  return call;
}

void Listener::let_through(const Call& call) const {
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(descriptor_.number(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void Listener::finish(const Call& call, i64 result) const {
  seccomp_notif_resp answer{};
  answer.id = call.id;
  if (result < 0)
    answer.error = static_cast<i32>(result);
  else
    answer.val = result;
  ::ioctl(descriptor_.number(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

int Listener::give(const Call& call, const FileDescriptor& file, std::optional<u32> number,
                   AtExec at_exec) const {
  seccomp_notif_addfd gift{};
  gift.id = call.id;
  gift.srcfd = static_cast<u32>(file.number());
  if (number) {
    gift.flags = SECCOMP_ADDFD_FLAG_SETFD;
    gift.newfd = *number;
  }
  gift.newfd_flags = at_exec == AtExec::is_closed ? O_CLOEXEC : 0;
  int given = 0;
  do given = ::ioctl(descriptor_.number(), SECCOMP_IOCTL_NOTIF_ADDFD, &gift);
  while (given < 0 && errno == EINTR);  // the caller takes it by itself, and a signal can come before
  return given < 0 ? -errno : given;
}

}  // namespace pmusim::live
