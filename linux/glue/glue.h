/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PMUSIM_LINUX_GLUE_H
#define PMUSIM_LINUX_GLUE_H

#include <asm/cpu_entry_area.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include "interface.h"

/* What is different in 7.3, the next release after 6.12 that the glue has been tried with. */
#define AFTER_6_12 KERNEL_VERSION(6, 13, 0)

/* Zeroed; objects of 2^n bytes are aligned to as much. */
void* glue_alloc(unsigned long bytes);
void __percpu* glue_alloc_percpu(size_t bytes, size_t alignment);
void glue_memory_init(const struct kernel_memory* memory);
void glue_cpus_init(const struct kernel_machine* machine);
void glue_add_states_of_perf(void);
void glue_tasks_init(void);
/* Work in an interrupt that finds this CPU halted. */
void glue_in_idle_interrupt(void (*work)(void*), void* of);

/* Registers as an interrupt saves them. */
void glue_fill(struct pt_regs* to, const struct kernel_frame* from);
/* What call_rcu() was given until now. */
void glue_run_rcu(void);

#endif
