// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_DESCRIPTOR_LINK_H
#define PMUSIM_SRC_LIVE_DESCRIPTOR_LINK_H

#include <string>

#include "pmusim/base/types.h"

namespace pmusim::live {

/// Where /proc shows a task's descriptor; of `number` the lower half counts, as for the kernel.
std::string descriptor_link(u32 tid, u64 number);
/// What the link says that it is: a path, or the like of "anon_inode:[perf_event]". Empty where there is
/// none. To ask the file itself may mean to ask a program, which may wait for an answer here.
std::string descriptor_name(u32 tid, u64 number);

}  // namespace pmusim::live

#endif
