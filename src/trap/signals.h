// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRAP_SIGNALS_H
#define PMUSIM_SRC_TRAP_SIGNALS_H

#include "pmusim/base/types.h"

/// SIGSEGV and SIGTRAP of the process: to the thread that they are about, if it has an emulated CPU, and else
/// to whoever had them before.
namespace pmusim::trap {

/// One more thread needs the signals: they are taken with the first. Errors: the system refuses.
Result<Done, Error> take_signals();
/// One thread less. After the last, the signals go back, unless other code has installed handlers meanwhile.
void release_signals();
/// Takes them from code that has installed handlers since; foreign signals go to those.
void retake_signals();

}  // namespace pmusim::trap

#endif
