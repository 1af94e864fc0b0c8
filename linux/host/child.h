// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_CHILD_H
#define PMUSIM_LINUX_HOST_CHILD_H

#include <functional>
#include <string>

namespace pmusim::linux_driver {

/// What a child process said, and how it ended.
struct ChildResult {
  std::string text;
  int exit_status = 0;  ///< as a shell tells it: 128 and the signal if one ended it
};

/// Runs `work` in a child, because a kernel boots once in a process; what it returns is the child's text.
ChildResult in_child(const std::function<std::string()>& work);
/// Prints what it said, and that `name` ended badly if it did: whether it ended well.
bool show(const ChildResult& child, const std::string& name);

}  // namespace pmusim::linux_driver

#endif
