/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands before the emulator's own header of this name in the include path: its table of helpers, and ours.
 */
#include_next "helper.h"
DEF_HELPER_FLAGS_2(pmusim_instruction, TCG_CALL_NO_WG, void, env, ptr)
DEF_HELPER_FLAGS_2(pmusim_block, TCG_CALL_NO_WG, void, env, ptr)
