/* SPDX-License-Identifier: GPL-2.0 */
/* Included before every file. Static calls are function pointers, instead of code that is patched; the linear
 * map begins where a variable says, so that it fits into a program. */
#undef CONFIG_HAVE_STATIC_CALL
#undef CONFIG_HAVE_STATIC_CALL_INLINE
#define static_call_mod(name) static_call(name)
#define EXPORT_STATIC_CALL_TRAMP_GPL(name)
#ifndef CONFIG_DYNAMIC_MEMORY_LAYOUT
#define CONFIG_DYNAMIC_MEMORY_LAYOUT 1
#endif
