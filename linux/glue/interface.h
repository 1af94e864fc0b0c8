/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef PMUSIM_LINUX_INTERFACE_H
#define PMUSIM_LINUX_INTERFACE_H

/*
 * All that the kernel's side and the program's side of pmusim-linux say to each other. Neither includes a
 * header of the other: this one uses no type that either defines. Errors are negative errno values.
 */
#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int pmusim_u32;
typedef unsigned long long pmusim_u64;

/* --- what the kernel asks of its machine; the program gives it */

/* 0, or 1 if the instruction faults. */
int host_rdmsr(pmusim_u32 address, pmusim_u64* value, const void* caller);
int host_wrmsr(pmusim_u32 address, pmusim_u64 value, const void* caller);
int host_rdpmc(pmusim_u32 counter, pmusim_u64* value, const void* caller);
/* words: EAX, EBX, ECX, EDX */
void host_cpuid(pmusim_u32 leaf, pmusim_u32 subleaf, pmusim_u32* words);
void host_xsaves(void* area, pmusim_u64 features);
void host_xrstors(const void* area, pmusim_u64 features);
/* perf time in ns, and how it follows from the TSC: ns = tsc * multiplier >> shift. */
pmusim_u64 host_now_ns(void);
pmusim_u32 host_clock_multiplier(void);
pmusim_u32 host_clock_shift(void);
/* Of the running program: how many of `bytes` bytes at `address` could be copied. */
unsigned long host_read_user(void* to, pmusim_u64 address, unsigned long bytes);
/* A local APIC without MSRs has its registers in memory. */
void host_write_apic(pmusim_u32 offset, pmusim_u32 value, const void* caller);
/* The kernel's code runs on this CPU from now on, whose variables are so much further than linked (GS base).
 */
void host_enter_cpu(pmusim_u32 cpu, unsigned long base);
void host_print(const char* line);
/* A WARN that does not trap. */
void host_warned(const char* file, unsigned line);
/* A function that nobody gives the kernel was called: ends the program. */
void host_missing(const char* function);

/* --- what the program asks of the kernel */

struct kernel_memory {
  unsigned long pages, page_bytes; /* what the kernel allocates from; at a multiple of 4096 */
  unsigned long page_structures;   /* room for 64 bytes for each page */
  unsigned long cpu_entry_area;
};
unsigned long linux_cpu_entry_area_bytes(void);
/* Of `pages`, what has been used by now. */
unsigned long linux_used_bytes(void);

struct kernel_cpu {
  pmusim_u32 family, model, stepping, microcode;
  pmusim_u32 package, die, core; /* those of a core are its threads */
  int online;
};
struct kernel_machine {
  const struct kernel_cpu* cpus; /* the first is online */
  pmusim_u32 cpu_count;          /* up to linux_most_cpus() */
  pmusim_u32 threads_per_core; /* 2: Hyper-Threading is on, whether or not both threads of a core are here */
};
/* How many CPUs the kernel is made for. */
pmusim_u32 linux_most_cpus(void);
/* What the kernel's initialisation returns. Call it once. The first CPU runs its code then. */
int linux_boot(const struct kernel_memory* memory, const struct kernel_machine* machine);
/* This CPU runs the kernel's code from now on; which one has until now. */
pmusim_u32 linux_enter_cpu(pmusim_u32 cpu);
/* Of which release this kernel is: 6 << 8 | 12. */
unsigned linux_release(void);
/* attr.type of this CPU's PMU on a hybrid processor, that of raw events otherwise. */
pmusim_u32 linux_pmu_type(void);
/* "cpu", "cpu_core", "cpu_atom": of this CPU's. */
const char* linux_pmu_name(void);
/* attr.type of the PMU with this name; -1 if there is none. */
int linux_named_pmu_type(const char* name);
/* "PMU: counters 4 ..." as far as the kernel's variables say it. */
struct kernel_pmu {
  const char* name;
  int version, counters, fixed, counter_bits, lbr_entries, pebs_format, max_precise;
  int has_pebs, has_bts, has_arch_lbr;
};
void linux_describe(struct kernel_pmu* pmu);

/* Tasks. One that runs is named by its thread number; 0 is the idle one. */
int linux_task_started(int pid, int tid, const char* comm);
int linux_fork(int parent_tid, int pid, int tid);
void linux_exec(int tid, const char* comm);
void linux_exit(int tid);
/* On this CPU. `preempted`: who has run until now could go on. A task that ran elsewhere before migrates. */
void linux_switch_to(int tid, int preempted);
void linux_map(int tid, unsigned long address, unsigned long bytes, unsigned long file_offset,
               pmusim_u32 protection, int shared, const char* path);

/* System calls. */
int linux_open(const void* attr, unsigned long bytes, int pid, int cpu, int group, unsigned long flags);
long linux_read(int fd, void* buffer, unsigned long bytes);
long linux_ioctl(int fd, pmusim_u32 command, unsigned long argument);
void linux_close(int fd);
/* Whether the driver has the event on a counter that it lets run. */
int linux_counts(int fd);
int linux_mmap(int fd, unsigned long data_pages);
/* One of the pages of an event's mapping, 0 the control page; null beyond the last. */
void* linux_mapped_page(int fd, unsigned long number);

/* Code that an interrupt finds. Registers in the order of their encoding; `known` 0: the instruction pointer
 * alone is. */
struct kernel_frame {
  pmusim_u64 gpr[16], ip, flags;
  int user, known;
};
void linux_set_user_frame(const struct kernel_frame* frame);
void linux_pmi(const struct kernel_frame* frame);
/* Timers that are due, and the tick. */
pmusim_u64 linux_next_timer(void);
void linux_run_timers(const struct kernel_frame* frame);
void linux_tick(const struct kernel_frame* frame);
/* What interrupts leave behind. */
void linux_run_deferred(const struct kernel_frame* frame);

/* A CPU on which nobody runs goes and comes back. */
int linux_cpu_down(pmusim_u32 cpu);
int linux_cpu_up(pmusim_u32 cpu);

/* 1 where a trap of WARN or BUG stands. */
int linux_find_bug(unsigned long address, const char** file, unsigned* line, int* is_warning);

#ifdef __cplusplus
}
#endif

#endif
