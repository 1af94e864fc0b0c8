/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PMUSIM_MACHINE_GLUE_H
#define PMUSIM_MACHINE_GLUE_H

/* The emulator's headers need each other in this order. */
/* clang-format off */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "interface.h"
/* clang-format on */

/* A function of the emulator that --wrap leads to us, and how it is reached from there. */
#define WRAPPED(type, name, ...)   \
  type __real_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__)

static inline unsigned glue_cpu(CPUX86State* env) { return env_cpu(env)->cpu_index; }

/* The CPU's PMU exists from here on. */
void glue_need_pmu(unsigned cpu);
/* After whatever may have changed what the PMU listens to: how the CPU goes on. */
void glue_choose_feed(CPUState* cs);
/* What has executed has retired, up to the instruction that runs: before its PMU's registers are read. */
void glue_settle(CPUX86State* env);
/* The same before they are written: afterwards, things may happen sooner. */
void glue_settle_for_write(CPUX86State* env);
/* The PMU's clock shows the guest's time. */
void glue_set_time(CPUState* cs);
/* A PMI is under way to the CPU: it leaves its translated code before the next instruction. */
void glue_leave_code(unsigned cpu);

#endif
