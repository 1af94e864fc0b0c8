// SPDX-License-Identifier: GPL-2.0
// The processor under the kernel: its instructions, which go to the emulated one, its time, and its CPU
// identification.
#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/desc.h>
#include <asm/fpu/xcr.h>
#include <asm/hardirq.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/paravirt.h>
#include <asm/timer.h>
#include <asm/unwind.h>
#include <asm/x86_init.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/nmi.h>
#include <linux/perf_event.h>
#include <linux/radix-tree.h>
#include <linux/sched/clock.h>
#include <linux/static_call.h>
#include <linux/version.h>

#include "glue.h"
#include "perf_event.h"

struct cpuinfo_x86 boot_cpu_data;
DEFINE_PER_CPU_READ_MOSTLY(struct cpuinfo_x86, cpu_info);
DEFINE_PER_CPU_PAGE_ALIGNED(struct gdt_page, gdt_page);
DEFINE_PER_CPU_SHARED_ALIGNED(irq_cpustat_t, irq_stat);
DEFINE_PER_CPU(struct pt_regs*, __irq_regs);
struct x86_platform_ops x86_platform;
bool static_key_initialized = true;

// --- instructions

// They are called from inline assembly, of which the compiler does not know that it calls: the stack may be
// anywhere.
#define INSTRUCTION static __attribute__((force_align_arg_pointer))

INSTRUCTION u64 read_msr(unsigned address) {
  u64 value = 0;
  if (host_rdmsr(address, &value, __builtin_return_address(0))) return 0;
  return value;
}

#if LINUX_VERSION_CODE >= AFTER_6_12
INSTRUCTION int read_msr_safe(u32 address, u64* value) {
  return host_rdmsr(address, value, __builtin_return_address(0)) ? -EIO : 0;
}

INSTRUCTION void write_msr(u32 address, u64 value) {
  host_wrmsr(address, value, __builtin_return_address(0));
}

INSTRUCTION int write_msr_safe(u32 address, u64 value) {
  return host_wrmsr(address, value, __builtin_return_address(0)) ? -EIO : 0;
}
#else
INSTRUCTION u64 read_msr_safe(unsigned address, int* error) {
  u64 value = 0;
  *error = host_rdmsr(address, &value, __builtin_return_address(0)) ? -EIO : 0;
  return value;
}

INSTRUCTION void write_msr(unsigned address, unsigned low, unsigned high) {
  host_wrmsr(address, (u64)high << 32 | low, __builtin_return_address(0));
}

INSTRUCTION int write_msr_safe(unsigned address, unsigned low, unsigned high) {
  return host_wrmsr(address, (u64)high << 32 | low, __builtin_return_address(0)) ? -EIO : 0;
}
#endif

INSTRUCTION u64 read_pmc(int counter) {
  u64 value = 0;
  if (host_rdpmc(counter, &value, __builtin_return_address(0))) return 0;
  return value;
}

INSTRUCTION void read_cpuid(unsigned* eax, unsigned* ebx, unsigned* ecx, unsigned* edx) {
  unsigned words[4];
  host_cpuid(*eax, *ecx, words);
  *eax = words[0];
  *ebx = words[1];
  *ecx = words[2];
  *edx = words[3];
}

static DEFINE_PER_CPU(unsigned long, interrupt_flag) = X86_EFLAGS_IF;
static __used unsigned long save_flags(void) { return this_cpu_read(interrupt_flag); }
static __used void disable_interrupts(void) { this_cpu_write(interrupt_flag, 0); }
static __used void enable_interrupts(void) { this_cpu_write(interrupt_flag, X86_EFLAGS_IF); }
PV_CALLEE_SAVE_REGS_THUNK(save_flags);
PV_CALLEE_SAVE_REGS_THUNK(disable_interrupts);
PV_CALLEE_SAVE_REGS_THUNK(enable_interrupts);

struct pv_info pv_info;
struct paravirt_patch_template pv_ops = {
    .cpu.read_msr = read_msr,
    .cpu.read_msr_safe = read_msr_safe,
    .cpu.write_msr = write_msr,
    .cpu.write_msr_safe = write_msr_safe,
    .cpu.read_pmc = read_pmc,
    .cpu.cpuid = read_cpuid,
    .irq.save_fl = PV_CALLEE_SAVE(save_flags),
    .irq.irq_disable = PV_CALLEE_SAVE(disable_interrupts),
    .irq.irq_enable = PV_CALLEE_SAVE(enable_interrupts),
};

static int change_bit_of_msr(u32 address, u8 bit, bool set, const void* caller) {
  u64 value = 0, wanted;
  if (host_rdmsr(address, &value, caller)) return -EIO;
  wanted = set ? value | BIT_ULL(bit) : value & ~BIT_ULL(bit);
  if (wanted == value) return 0;
  return host_wrmsr(address, wanted, caller) ? -EIO : 1;
}
int msr_set_bit(u32 address, u8 bit) {
  return change_bit_of_msr(address, bit, true, __builtin_return_address(0));
}
int msr_clear_bit(u32 address, u8 bit) {
  return change_bit_of_msr(address, bit, false, __builtin_return_address(0));
}

void xsaves(struct xregs_state* area, u64 features) { host_xsaves(area, features); }
void xrstors(struct xregs_state* area, u64 features) { host_xrstors(area, features); }

int xfeature_size(int feature) {
  unsigned words[4];
  host_cpuid(0xD, feature, words);
  return words[0];
}

static void write_apic(u32 offset, u32 value) { host_write_apic(offset, value, __builtin_return_address(0)); }

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
struct static_call_key __SCK__apic_call_write = {.func = write_apic};
#else
struct apic* apic = &(struct apic){.write = write_apic};
#endif

int setup_APIC_eilvt(u8 offset, u8 vector, u8 message, u8 mask) {
  if (offset >= APIC_EILVT_NR_MAX) return -EINVAL;
  write_apic(APIC_EILVTn(offset), mask << 16 | message << 8 | vector);
  return 0;
}

// --- identification

static void capability_word(struct cpuinfo_x86* c, unsigned word, unsigned leaf, unsigned subleaf,
                            unsigned register_number) {
  unsigned most[4], words[4];
  host_cpuid(leaf & 0x80000000, 0, most);
  if (leaf > most[0]) return;
  host_cpuid(leaf, subleaf, words);
  c->x86_capability[word] = words[register_number];
}

// What a kernel concludes for Intel processors at their start.
static void conclude_intel_capabilities(struct cpuinfo_x86* c) {
  u64 enabled = 0;
  unsigned words[4];
  if (c->cpuid_level > 9) {
    host_cpuid(10, 0, words);
    if ((words[0] & 0xFF) && (words[0] >> 8 & 0xFF) > 1) set_cpu_cap(c, X86_FEATURE_ARCH_PERFMON);
  }
  if (cpu_has(c, X86_FEATURE_DS) && !host_rdmsr(MSR_IA32_MISC_ENABLE, &enabled, NULL)) {
    if (!(enabled & MSR_IA32_MISC_ENABLE_BTS_UNAVAIL)) set_cpu_cap(c, X86_FEATURE_BTS);
    if (!(enabled & MSR_IA32_MISC_ENABLE_PEBS_UNAVAIL)) set_cpu_cap(c, X86_FEATURE_PEBS);
  }
}

struct zen_models {
  unsigned family, first, last, feature;
};
static const struct zen_models zen_models[] = {
    {0x17, 0x00, 0x2F, X86_FEATURE_ZEN1}, {0x17, 0x50, 0x5F, X86_FEATURE_ZEN1},
    {0x17, 0x30, 0x4F, X86_FEATURE_ZEN2}, {0x17, 0x60, 0x7F, X86_FEATURE_ZEN2},
    {0x17, 0x90, 0x91, X86_FEATURE_ZEN2}, {0x17, 0xA0, 0xAF, X86_FEATURE_ZEN2},
    {0x19, 0x00, 0x0F, X86_FEATURE_ZEN3}, {0x19, 0x20, 0x5F, X86_FEATURE_ZEN3},
    {0x19, 0x10, 0x1F, X86_FEATURE_ZEN4}, {0x19, 0x60, 0xAF, X86_FEATURE_ZEN4},
    {0x1A, 0x00, 0x2F, X86_FEATURE_ZEN5}, {0x1A, 0x40, 0x4F, X86_FEATURE_ZEN5},
    {0x1A, 0x60, 0x7F, X86_FEATURE_ZEN5}, {0x1A, 0xD0, 0xD7, X86_FEATURE_ZEN5},
};

// And for AMD's: the generation, and what is scattered over words of its own.
static void conclude_amd_capabilities(struct cpuinfo_x86* c) {
  static const unsigned scattered[] = {X86_FEATURE_PERFMON_V2, X86_FEATURE_AMD_LBR_V2,
                                       X86_FEATURE_AMD_LBR_PMC_FREEZE};
  unsigned most[4], words[4], n;
  for (n = 0; n < ARRAY_SIZE(zen_models); ++n) {
    const struct zen_models* const zen = &zen_models[n];
    if (c->x86 == zen->family && c->x86_model >= zen->first && c->x86_model <= zen->last)
      set_cpu_cap(c, zen->feature);
  }
  host_cpuid(0x80000000, 0, most);
  if (most[0] < 0x80000022) return;
  host_cpuid(0x80000022, 0, words);
  for (n = 0; n < ARRAY_SIZE(scattered); ++n)
    if (words[0] & BIT(n)) set_cpu_cap(c, scattered[n]);
}

static u32 core_type_word(void) {
  unsigned words[4];
  host_cpuid(0x1A, 0, words);
  return words[0];
}

static void place(struct cpuinfo_x86* c, const struct kernel_cpu* cpu) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
  c->topo.pkg_id = cpu->package;
  c->topo.die_id = cpu->die;
  c->topo.core_id = cpu->core;
#else
  c->phys_proc_id = cpu->package;
  c->cpu_die_id = cpu->die;
  c->cpu_core_id = cpu->core;
#endif
#if LINUX_VERSION_CODE >= AFTER_6_12
  c->topo.hw_cpu_type = core_type_word();  // core type and native model id share the word
#endif
}

// The CPU that runs this.
static void identify(struct cpuinfo_x86* c, const struct kernel_cpu* cpu) {
  enum { intel = 0x756E6547 };  // "Genu"
  unsigned words[4];
  host_cpuid(0, 0, words);
  c->cpuid_level = words[0];
  c->x86_vendor = words[1] == intel ? X86_VENDOR_INTEL : X86_VENDOR_AMD;
  c->x86 = cpu->family;
  c->x86_model = cpu->model;
  c->x86_stepping = cpu->stepping;
  c->microcode = cpu->microcode;
  place(c, cpu);
  capability_word(c, CPUID_1_EDX, 1, 0, 3);
  capability_word(c, CPUID_1_ECX, 1, 0, 2);
  capability_word(c, CPUID_7_0_EBX, 7, 0, 1);
  capability_word(c, CPUID_7_ECX, 7, 0, 2);
  capability_word(c, CPUID_7_EDX, 7, 0, 3);
  capability_word(c, CPUID_7_1_EAX, 7, 1, 0);
  capability_word(c, CPUID_D_1_EAX, 0xD, 1, 0);
  capability_word(c, CPUID_6_EAX, 6, 0, 0);
  capability_word(c, CPUID_8000_0001_EDX, 0x80000001, 0, 3);
  capability_word(c, CPUID_8000_0001_ECX, 0x80000001, 0, 2);
  capability_word(c, CPUID_8000_0008_EBX, 0x80000008, 0, 1);
  set_cpu_cap(c, X86_FEATURE_ALWAYS);
  host_cpuid(0x80000008, 0, words);
  c->x86_virt_bits = words[0] >> 8 & 0xFF;
  if (c->x86_vendor == X86_VENDOR_INTEL)
    conclude_intel_capabilities(c);
  else
    conclude_amd_capabilities(c);
}

// The first CPU's features are those of all.
static void identify_another(const struct kernel_cpu* cpu) {
  struct cpuinfo_x86* const c = this_cpu_ptr(&cpu_info);
  unsigned word;
  identify(c, cpu);
  for (word = 0; word < NCAPINTS; ++word) boot_cpu_data.x86_capability[word] &= c->x86_capability[word];
}

void clear_cpu_cap(struct cpuinfo_x86* c, unsigned bit) {
  clear_bit(bit, (unsigned long*)c->x86_capability);
  if (c == &boot_cpu_data) clear_bit(bit, (unsigned long*)this_cpu_ptr(&cpu_info)->x86_capability);
}
void setup_clear_cpu_cap(unsigned bit) { clear_cpu_cap(&boot_cpu_data, bit); }

u8 get_this_hybrid_cpu_type(void) { return core_type_word() >> 24; }
void cr4_update_pce(void* unused) {}

// --- time

u64 sched_clock(void) { return host_now_ns(); }
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
u64 local_clock(void) { return host_now_ns(); }
#else
u64 sched_clock_cpu(int cpu) { return host_now_ns(); }
#endif
u64 native_sched_clock_from_tsc(u64 tsc) { return tsc * host_clock_multiplier() >> host_clock_shift(); }
bool using_native_sched_clock(void) { return true; }
int sched_clock_stable(void) { return 1; }
u64 __sched_clock_offset;
u64 ktime_get_mono_fast_ns(void) { return host_now_ns(); }
u64 ktime_get_raw_fast_ns(void) { return host_now_ns(); }
ktime_t ktime_get_with_offset(enum tk_offsets offset) { return host_now_ns(); }
static ktime_t now(void) { return host_now_ns(); }
void __const_udelay(unsigned long loops) {}  // no time passes in the kernel's code

void cyc2ns_read_begin(struct cyc2ns_data* data) {
  *data = (struct cyc2ns_data){.cyc2ns_mul = host_clock_multiplier(), .cyc2ns_shift = host_clock_shift()};
}
void cyc2ns_read_end(void) {}

enum { most_timers = 64 };
static DEFINE_PER_CPU(struct hrtimer* [most_timers], timers);

static struct hrtimer** slot_on(unsigned cpu, const struct hrtimer* timer) {
  struct hrtimer** const all = per_cpu(timers, cpu);
  unsigned n;
  for (n = 0; n < most_timers; ++n)
    if (all[n] == timer) return &all[n];
  return NULL;
}
static struct hrtimer** free_slot(void) { return slot_on(smp_processor_id(), NULL); }
static struct hrtimer** slot_of(const struct hrtimer* timer) {
  struct hrtimer** slot = NULL;
  unsigned cpu;
  for_each_possible_cpu(cpu) slot = slot ?: slot_on(cpu, timer);
  return slot;
}

#if LINUX_VERSION_CODE >= AFTER_6_12
ktime_t hrtimer_cb_get_time(const struct hrtimer* timer) { return now(); }
void hrtimer_setup(struct hrtimer* timer, enum hrtimer_restart (*function)(struct hrtimer*), clockid_t clock,
                   enum hrtimer_mode mode) {
  memset(timer, 0, sizeof *timer);
  ACCESS_PRIVATE(timer, function) = function;
}
static void set_queued(struct hrtimer* timer, bool queued) { timer->is_queued = queued; }
#else
static struct hrtimer_clock_base clock_base = {.get_time = now};
void hrtimer_init(struct hrtimer* timer, clockid_t clock, enum hrtimer_mode mode) {
  memset(timer, 0, sizeof *timer);
  timer->base = &clock_base;
}
static void set_queued(struct hrtimer* timer, bool queued) {
  timer->state = queued ? HRTIMER_STATE_ENQUEUED : HRTIMER_STATE_INACTIVE;
}
#endif

void hrtimer_start_range_ns(struct hrtimer* timer, ktime_t expires, u64 slack, const enum hrtimer_mode mode) {
  struct hrtimer** const slot = slot_of(timer) ?: free_slot();
  if (mode & HRTIMER_MODE_REL) expires += now();
  timer->node.expires = timer->_softexpires = expires;
  set_queued(timer, true);
  if (!slot) return host_missing("a kernel with fewer timers");
  *slot = timer;
}

int hrtimer_cancel(struct hrtimer* timer) {
  struct hrtimer** const slot = slot_of(timer);
  set_queued(timer, false);
  if (!slot) return 0;
  *slot = NULL;
  return 1;
}
int hrtimer_try_to_cancel(struct hrtimer* timer) { return hrtimer_cancel(timer); }

u64 hrtimer_forward(struct hrtimer* timer, ktime_t from, ktime_t interval) {
  u64 periods = 0;
  while (timer->node.expires <= from) {
    timer->node.expires += interval;
    ++periods;
  }
  timer->_softexpires = timer->node.expires;
  return periods;
}

ktime_t __hrtimer_get_remaining(const struct hrtimer* timer, bool adjust) {
  return timer->node.expires - now();
}

static struct hrtimer* earliest_timer(void) {
  struct hrtimer** const all = *this_cpu_ptr(&timers);
  struct hrtimer* earliest = NULL;
  unsigned n;
  for (n = 0; n < most_timers; ++n)
    if (all[n] && (!earliest || all[n]->node.expires < earliest->node.expires)) earliest = all[n];
  return earliest;
}

pmusim_u64 linux_next_timer(void) {
  const struct hrtimer* const timer = earliest_timer();
  return timer ? timer->node.expires : ~0ull;
}

static void run_timer(struct hrtimer* timer) {
  hrtimer_cancel(timer);
  if (ACCESS_PRIVATE(timer, function)(timer) != HRTIMER_RESTART || slot_of(timer)) return;
  set_queued(timer, true);
  *free_slot() = timer;
}

// --- interrupts

// All are asked, in the order in which they have come.
static LIST_HEAD(nmi_actions);

int __register_nmi_handler(unsigned type, struct nmiaction* action) {
  if (type == NMI_LOCAL) list_add_tail(&action->list, &nmi_actions);
  return 0;
}
void unregister_nmi_handler(unsigned type, const char* name) {
  struct nmiaction *action, *next;
  if (type != NMI_LOCAL) return;
  list_for_each_entry_safe(action, next, &nmi_actions, list) {
    if (!strcmp(action->name, name)) list_del_init(&action->list);
  }
}

void linux_pmi(const struct kernel_frame* frame) {
  struct pt_regs regs;
  struct nmiaction* action;
  const unsigned long flags = save_flags();
  glue_fill(&regs, frame);
  disable_interrupts();
  __preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
  list_for_each_entry(action, &nmi_actions, list) action->handler(NMI_LOCAL, &regs);
  __preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
  this_cpu_write(interrupt_flag, flags);
}

static void in_interrupt_with(struct pt_regs* regs, void (*work)(void*), void* of) {
  struct pt_regs* const outer = set_irq_regs(regs);
  const unsigned long flags = save_flags();
  disable_interrupts();
  __preempt_count_add(HARDIRQ_OFFSET);
  work(of);
  __preempt_count_sub(HARDIRQ_OFFSET);
  this_cpu_write(interrupt_flag, flags);
  set_irq_regs(outer);
}

void glue_in_idle_interrupt(void (*work)(void*), void* of) {
  struct pt_regs regs = {.cs = __KERNEL_CS, .ss = __KERNEL_DS};
  in_interrupt_with(&regs, work, of);
}

static void call(void* work) { ((void (*)(void))work)(); }
static void in_interrupt_of(const struct kernel_frame* frame, void (*work)(void)) {
  struct pt_regs regs;
  glue_fill(&regs, frame);
  in_interrupt_with(&regs, call, work);
}

static void run_due_timers(void) {
  struct hrtimer* timer;
  while ((timer = earliest_timer()) && timer->node.expires <= now()) run_timer(timer);
}

void linux_run_timers(const struct kernel_frame* frame) { in_interrupt_of(frame, run_due_timers); }
void linux_tick(const struct kernel_frame* frame) { in_interrupt_of(frame, perf_event_task_tick); }

static DEFINE_PER_CPU(bool, irq_work_raised);
void arch_irq_work_raise(void) { this_cpu_write(irq_work_raised, true); }

void linux_run_deferred(const struct kernel_frame* frame) {
  if (this_cpu_read(irq_work_raised)) {
    this_cpu_write(irq_work_raised, false);
    in_interrupt_of(frame, irq_work_run);
  }
  glue_run_rcu();
}

// --- boot

// Static in their files; the build makes them symbols of the object.
int init_hw_perf_events(void);
int fixup_ht_bug(void);
int amd_ibs_init(void);
extern struct idr pmu_idr;

pmusim_u32 linux_most_cpus(void) { return NR_CPUS; }

static int bring_up_others(const struct kernel_machine* machine) {
  unsigned cpu;
  int error = 0;
  for (cpu = 1; cpu < machine->cpu_count && !error; ++cpu) {
    const unsigned first = linux_enter_cpu(cpu);
    identify_another(&machine->cpus[cpu]);
    linux_enter_cpu(first);
    if (machine->cpus[cpu].online) error = linux_cpu_up(cpu);
  }
  return error;
}

int linux_boot(const struct kernel_memory* memory, const struct kernel_machine* machine) {
  int error;
  glue_memory_init(memory);
  glue_cpus_init(machine);
  identify(&boot_cpu_data, &machine->cpus[0]);
  *this_cpu_ptr(&cpu_info) = boot_cpu_data;
  glue_tasks_init();
  radix_tree_init();
  perf_event_init();
  perf_event_init_cpu(0);
  glue_add_states_of_perf();
  error = init_hw_perf_events();
  if (!error) error = bring_up_others(machine);
  if (!error) fixup_ht_bug();
  if (!error) amd_ibs_init();  // refuses where there is no such unit
  return error;
}

static const struct pmu* pmu_of_cpu(void) { return this_cpu_read(cpu_hw_events.pmu); }

unsigned linux_release(void) { return LINUX_VERSION_CODE >> 8; }

pmusim_u32 linux_pmu_type(void) {
  const struct pmu* const pmu = pmu_of_cpu();
  return pmu ? pmu->type : PERF_TYPE_RAW;
}

const char* linux_pmu_name(void) {
  const struct pmu* const pmu = pmu_of_cpu();
  return pmu && pmu->name ? pmu->name : "";
}

int linux_named_pmu_type(const char* name) {
  const struct pmu* pmu;
  int type;
  idr_for_each_entry(&pmu_idr, pmu, type) if (!strcmp(pmu->name, name)) return type;
  return -1;
}

static int counters_of(const struct pmu* pmu) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
  return hweight64(hybrid((struct pmu*)pmu, cntr_mask64));
#else
  return hybrid((struct pmu*)pmu, num_counters);
#endif
}

static int fixed_counters_of(const struct pmu* pmu) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
  return hweight64(hybrid((struct pmu*)pmu, fixed_cntr_mask64));
#else
  return hybrid((struct pmu*)pmu, num_counters_fixed);
#endif
}

#if LINUX_VERSION_CODE >= AFTER_6_12
static bool has_pebs(void) { return x86_pmu.ds_pebs || x86_pmu.arch_pebs; }
#else
static bool has_pebs(void) { return x86_pmu.pebs; }
#endif

static int greatest_precision(void) {
  if (!has_pebs()) return 0;
  if (!x86_pmu.lbr_nr && x86_pmu.intel_cap.pebs_format < 2) return 1;
  return x86_pmu.pebs_prec_dist ? 3 : x86_pmu.lbr_nr || x86_pmu.intel_cap.pebs_format >= 2 ? 2 : 1;
}

void linux_describe(struct kernel_pmu* pmu) {
  const struct pmu* const present = pmu_of_cpu();
  *pmu = (struct kernel_pmu){.name = x86_pmu.name,
                             .version = x86_pmu.version,
                             .counters = counters_of(present),
                             .fixed = fixed_counters_of(present),
                             .counter_bits = x86_pmu.cntval_bits,
                             .lbr_entries = x86_pmu.lbr_nr,
                             .pebs_format = has_pebs() ? (int)x86_pmu.intel_cap.pebs_format : -1,
                             .max_precise = greatest_precision(),
                             .has_pebs = has_pebs(),
                             .has_bts = x86_pmu.bts,
                             .has_arch_lbr = boot_cpu_has(X86_FEATURE_ARCH_LBR)};
}

// --- traps

#if LINUX_VERSION_CODE >= AFTER_6_12
// A WARN with a text is a call, which gets its entry of the table.
static void warn(struct bug_entry* bug, ...) {
  host_warned((const char*)&bug->file_disp + bug->file_disp, bug->line);
}
struct static_call_key __SCK__WARN_trap = {.func = warn};
#endif

extern const struct bug_entry __start___bug_table[] __weak, __stop___bug_table[] __weak;

int linux_find_bug(unsigned long address, const char** file, unsigned* line, int* is_warning) {
  const struct bug_entry* bug;
  for (bug = __start___bug_table; bug < __stop___bug_table; ++bug) {
    if ((unsigned long)&bug->bug_addr_disp + bug->bug_addr_disp != address) continue;
    *file = (const char*)&bug->file_disp + bug->file_disp;
    *line = bug->line;
    *is_warning = (bug->flags & BUGFLAG_WARNING) != 0;
    return 1;
  }
  return 0;
}
