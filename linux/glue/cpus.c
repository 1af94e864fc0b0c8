// SPDX-License-Identifier: GPL-2.0
// The CPUs of the machine: the variables that each has of its own, which of them runs the kernel's code, what
// one asks of another, and hot-plug. One thing happens at a time: a CPU that is asked does it at once, while
// who asks waits.
#include <asm/cpu.h>
#include <asm/smp.h>
#include <asm/topology.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/hardirq.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/topology.h>
#include <linux/smp.h>
#include <linux/version.h>

#include "glue.h"
#include "perf_event.h"

enum { dynamic_bytes = 64 << 10 };  // of each CPU, for what alloc_percpu() gives

#if LINUX_VERSION_CODE >= AFTER_6_12
DEFINE_PER_CPU_CACHE_HOT(int, cpu_number);
DEFINE_PER_CPU_CACHE_HOT(unsigned long, this_cpu_off);
#define number_of_cpu cpu_number
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
DEFINE_PER_CPU_READ_MOSTLY(unsigned long, this_cpu_off);
#define number_of_cpu pcpu_hot.cpu_number
#else
DEFINE_PER_CPU_READ_MOSTLY(int, cpu_number);
DEFINE_PER_CPU_READ_MOSTLY(unsigned long, this_cpu_off);
#define number_of_cpu cpu_number
#endif

DEFINE_PER_CPU_READ_MOSTLY(cpumask_var_t, cpu_sibling_map);
DEFINE_PER_CPU_READ_MOSTLY(cpumask_var_t, cpu_core_map);
DEFINE_PER_CPU_READ_MOSTLY(cpumask_var_t, cpu_die_map);
unsigned long __per_cpu_offset[NR_CPUS];
unsigned int nr_cpu_ids = 1;
int __max_smt_threads = 1;
struct cpumask __cpu_possible_mask, __cpu_present_mask, __cpu_online_mask, __cpu_active_mask,
    __cpu_dying_mask;
atomic_t __num_online_cpus;
#if LINUX_VERSION_CODE >= AFTER_6_12
DEFINE_PER_CPU(unsigned long, local_interrupt_disable_state);
unsigned int __num_possible_cpus = 1;
#endif

// Row n + 1 has bit n.
#define ROW(n) [(n) + 1] = {1ul << (n)}
#define ROWS_4(n) ROW(n), ROW((n) + 1), ROW((n) + 2), ROW((n) + 3)
#define ROWS_16(n) ROWS_4(n), ROWS_4((n) + 4), ROWS_4((n) + 8), ROWS_4((n) + 12)
const unsigned long cpu_bit_bitmap[BITS_PER_LONG + 1][BITS_TO_LONGS(NR_CPUS)] = {ROWS_16(0), ROWS_16(16),
                                                                                 ROWS_16(32), ROWS_16(48)};
const DECLARE_BITMAP(cpu_all_bits, NR_CPUS) = CPU_BITS_ALL;

// --- variables of each CPU

// What they begin with; where a CPU has its own, is so much further.
extern char __start_pmusim_percpu[], __stop_pmusim_percpu[];

static unsigned long linked_bytes(void) {
  return ALIGN(__stop_pmusim_percpu - __start_pmusim_percpu, PAGE_SIZE);
}

static void give_variables(unsigned cpu) {
  char* const area = glue_alloc(linked_bytes() + dynamic_bytes);
  memcpy(area, __start_pmusim_percpu, __stop_pmusim_percpu - __start_pmusim_percpu);
  __per_cpu_offset[cpu] = area - __start_pmusim_percpu;
  per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
  per_cpu(number_of_cpu, cpu) = cpu;
}

enum { smallest_class = 5, largest_class = 14 };

// Freed objects of 2^class bytes, each pointing at the next, by where the first CPU has them.
static void* free_objects[largest_class + 1];
static unsigned long next_dynamic;
static unsigned char class_at[dynamic_bytes >> smallest_class];

static char* first_dynamic(void) { return __start_pmusim_percpu + __per_cpu_offset[0] + linked_bytes(); }
static unsigned char* class_of(const void* object) {
  return &class_at[((const char*)object - first_dynamic()) >> smallest_class];
}

static void* new_object(unsigned class) {
  void* const freed = free_objects[class];
  const unsigned long at = ALIGN(next_dynamic, 1ul << class);
  if (freed) {
    free_objects[class] = *(void**)freed;
    return freed;
  }
  if (at + (1ul << class) > dynamic_bytes) return NULL;
  next_dynamic = at + (1ul << class);
  return first_dynamic() + at;
}

void __percpu* glue_alloc_percpu(size_t bytes, size_t alignment) {
  const unsigned class = max_t(unsigned, smallest_class, order_base_2(max(bytes, alignment)));
  void* const first = class <= largest_class ? new_object(class) : NULL;
  void __percpu* const object = (void __percpu*)((unsigned long)first - __per_cpu_offset[0]);
  unsigned cpu;
  if (!first) return NULL;
  *class_of(first) = class;
  for_each_possible_cpu(cpu) memset(per_cpu_ptr(object, cpu), 0, 1ul << class);
  return object;
}

void free_percpu(void __percpu* object) {
  void** const first = object ? per_cpu_ptr(object, 0) : NULL;
  if (!first) return;
  *first = free_objects[*class_of(first)];
  free_objects[*class_of(first)] = first;
}

// --- which CPU runs

static unsigned running_cpu;

pmusim_u32 linux_enter_cpu(pmusim_u32 cpu) {
  const unsigned before = running_cpu;
  if (cpu == before) return before;
  running_cpu = cpu;
  host_enter_cpu(cpu, __per_cpu_offset[cpu]);
  return before;
}

// --- what CPUs ask of each other

struct asked {
  smp_call_func_t function;
  void* info;
};
static void do_what_is_asked(void* asked) {
  const struct asked* const what = asked;
  what->function(what->info);
}

// In an interrupt there, which finds nobody's code: the program runs on one CPU at a time.
static void ask(unsigned cpu, smp_call_func_t function, void* info) {
  struct asked asked = {function, info};
  unsigned long flags;
  unsigned before;
  local_irq_save(flags);
  if (cpu == smp_processor_id()) {
    function(info);
  } else {
    before = linux_enter_cpu(cpu);
    glue_in_idle_interrupt(do_what_is_asked, &asked);
    linux_enter_cpu(before);
  }
  local_irq_restore(flags);
}

#if LINUX_VERSION_CODE >= AFTER_6_12
typedef bool wait_t;
#else
typedef int wait_t;
#endif
int smp_call_function_single(int cpu, smp_call_func_t function, void* info, wait_t wait) {
  // A CPU that comes or goes asks itself.
  if (cpu != smp_processor_id() && (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))) return -ENXIO;
  ask(cpu, function, info);
  return 0;
}

void on_each_cpu_cond_mask(smp_cond_func_t condition, smp_call_func_t function, void* info, bool wait,
                           const struct cpumask* mask) {
  unsigned cpu;
  for_each_cpu_and(cpu, mask, cpu_online_mask) {
    if (!condition || condition(cpu, info)) ask(cpu, function, info);
  }
}

void cpus_read_lock(void) {}
void cpus_read_unlock(void) {}
void cpus_write_lock(void) {}
void cpus_write_unlock(void) {}

// --- hot-plug

enum { most_states = 16 };
static struct hotplug_state {
  enum cpuhp_state state;
  int (*startup)(unsigned cpu);
  int (*teardown)(unsigned cpu);
} hotplug_states[most_states];
static unsigned hotplug_count;

// What a CPU that comes or goes does itself; the rest is done for it by the first.
static bool by_itself(const struct hotplug_state* state) { return state->state > CPUHP_BRINGUP_CPU; }
// While interrupts are off on it, and nobody sees it online.
static bool while_offline(const struct hotplug_state* state) { return state->state < CPUHP_AP_ONLINE; }

static int run_state(const struct hotplug_state* state, int (*callback)(unsigned), unsigned cpu) {
  unsigned long flags = 0;
  unsigned before;
  int error;
  if (!callback) return 0;
  before = by_itself(state) ? linux_enter_cpu(cpu) : running_cpu;
  if (by_itself(state) && while_offline(state)) local_irq_save(flags);
  error = callback(cpu);
  if (by_itself(state) && while_offline(state)) local_irq_restore(flags);
  linux_enter_cpu(before);
  return error;
}

int __cpuhp_setup_state(enum cpuhp_state state, const char* name, bool invoke, int (*startup)(unsigned),
                        int (*teardown)(unsigned), bool multi) {
  const struct hotplug_state added = {state, startup, teardown};
  unsigned at = hotplug_count++;
  unsigned cpu;
  int error = 0;
  if (at >= most_states) return -ENOSPC;
  for (; at > 0 && hotplug_states[at - 1].state > state; --at) hotplug_states[at] = hotplug_states[at - 1];
  hotplug_states[at] = added;
  if (!invoke) return 0;
  for_each_online_cpu(cpu) error = error ?: run_state(&added, startup, cpu);
  return error;
}
void __cpuhp_remove_state(enum cpuhp_state state, bool invoke) {}

// The states of perf itself stand in a table of the kernel's that is not built.
void glue_add_states_of_perf(void) {
#if LINUX_VERSION_CODE < AFTER_6_12
  __cpuhp_setup_state(CPUHP_PERF_PREPARE, "perf:prepare", false, perf_event_init_cpu, NULL, false);
#endif
  __cpuhp_setup_state(CPUHP_AP_PERF_ONLINE, "perf:online", false, perf_event_init_cpu, perf_event_exit_cpu,
                      false);
}

static void set_online(unsigned cpu, bool online) {
  if (cpumask_test_cpu(cpu, &__cpu_online_mask) == online) return;
  assign_bit(cpu, cpumask_bits(&__cpu_online_mask), online);
  assign_bit(cpu, cpumask_bits(&__cpu_active_mask), online);
  atomic_add(online ? 1 : -1, &__num_online_cpus);
}

int linux_cpu_down(pmusim_u32 cpu) {
  unsigned n;
  int error = 0;
  for (n = hotplug_count; n-- > 0 && !error;) {
    if (while_offline(&hotplug_states[n])) set_online(cpu, false);
    error = run_state(&hotplug_states[n], hotplug_states[n].teardown, cpu);
  }
  return error;
}

int linux_cpu_up(pmusim_u32 cpu) {
  unsigned n;
  int error = 0;
  for (n = 0; n < hotplug_count && !error; ++n) {
    if (!while_offline(&hotplug_states[n])) set_online(cpu, true);
    error = run_state(&hotplug_states[n], hotplug_states[n].startup, cpu);
  }
  return error;
}

// --- topology

static bool same_core(const struct kernel_cpu* one, const struct kernel_cpu* other) {
  return one->package == other->package && one->die == other->die && one->core == other->core;
}

static void find_neighbours(const struct kernel_machine* machine) {
  unsigned cpu, other;
  for (cpu = 0; cpu < machine->cpu_count; ++cpu) {
    for (other = 0; other < machine->cpu_count; ++other) {
      const struct kernel_cpu *const one = &machine->cpus[cpu], *const two = &machine->cpus[other];
      if (one->package != two->package) continue;
      cpumask_set_cpu(other, per_cpu(cpu_core_map, cpu));
      if (one->die == two->die) cpumask_set_cpu(other, per_cpu(cpu_die_map, cpu));
      if (same_core(one, two)) cpumask_set_cpu(other, per_cpu(cpu_sibling_map, cpu));
    }
  }
}

const struct cpumask* cpu_clustergroup_mask(int cpu) { return per_cpu(cpu_sibling_map, cpu); }

// The first CPU is there from the beginning.
void glue_cpus_init(const struct kernel_machine* machine) {
  unsigned cpu;
  nr_cpu_ids = machine->cpu_count;
#if LINUX_VERSION_CODE >= AFTER_6_12
  __num_possible_cpus = machine->cpu_count;
#endif
  __max_smt_threads = machine->threads_per_core;
  for (cpu = 0; cpu < machine->cpu_count; ++cpu) {
    cpumask_set_cpu(cpu, &__cpu_possible_mask);
    cpumask_set_cpu(cpu, &__cpu_present_mask);
    give_variables(cpu);
  }
  host_enter_cpu(0, __per_cpu_offset[0]);
  find_neighbours(machine);
  set_online(0, true);
}
