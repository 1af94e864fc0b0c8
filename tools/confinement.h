// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_CONFINEMENT_H
#define PMUSIM_TOOLS_CONFINEMENT_H

namespace pmusim::tools {

/// Gives up, until the process ends, what reading and writing files never needs: connections, other programs,
/// other processes and what they hold, kernel interfaces that no command of ours uses. Such calls then fail
/// with EPERM, whoever makes them: what a hostile input took over could not do more than damage the output
/// and read files (docs/security.md). Where the kernel has no seccomp, nothing changes.
void confine();

}  // namespace pmusim::tools

#endif
