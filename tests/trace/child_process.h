// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_TRACE_CHILD_PROCESS_H
#define PMUSIM_TESTS_TRACE_CHILD_PROCESS_H

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// A child of this process, which ends with it. In the child itself pid() is 0.
class ChildProcess {
 public:
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  u32 pid() const { return static_cast<u32>(pid_); }

 protected:
  ChildProcess() : pid_(::fork()) {}
  ~ChildProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

}  // namespace pmusim::trace

#endif
