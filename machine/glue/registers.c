/* SPDX-License-Identifier: GPL-2.0-only */
/* What the guest's software sees of a PMU: CPUID, MSRs, RDPMC, the local APIC's LVT entry and the PMI; its
 * memory. */
/* The emulator's headers need each other in this order. */
/* clang-format off */
#include "glue.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "exec/address-spaces.h"
#include "exec/helper-proto.h"
#include "exec/memory.h"
#include "hw/boards.h"
#include "hw/i386/apic.h"
#include "hw/i386/apic_internal.h"
#include "hw/i386/x86.h"
#include "guest/channel.h"
#include "target/i386/tcg/helper-tcg.h"
/* clang-format on */

enum { APIC_LVTPC = 0x340 };

void glue_need_pmu(unsigned cpu) {
  static bool made[MACHINE_CPUS_MAX];
  if (made[cpu]) return;
  made[cpu] = true;
  const char* model = getenv("PMUSIM_MACHINE_MODEL");
  pmu_create(cpu, model != NULL ? model : "");
}

static uint64_t edx_eax(CPUX86State* env) {
  return (uint32_t)env->regs[R_EAX] | (uint64_t)env->regs[R_EDX] << 32;
}
static void set_edx_eax(CPUX86State* env, uint64_t value) {
  env->regs[R_EAX] = (uint32_t)value;
  env->regs[R_EDX] = value >> 32;
}

/* The emulator's own helpers look at where they return to, so that ours end in a jump to them. */
WRAPPED(void, helper_rdmsr, CPUX86State* env) {
  unsigned cpu = glue_cpu(env);
  glue_need_pmu(cpu);
  if (!pmu_has_register(cpu, (uint32_t)env->regs[R_ECX])) {
    __real_helper_rdmsr(env);
    return;
  }
  glue_settle(env);
  pmu_access_from(cpu, env->eip, env->regs[R_ESP]);
  uint64_t value;
  if (!pmu_read_register(cpu, (uint32_t)env->regs[R_ECX], &value))
    raise_exception_err_ra(env, EXCP0D_GPF, 0, GETPC());
  set_edx_eax(env, value);
}

WRAPPED(void, helper_wrmsr, CPUX86State* env) {
  unsigned cpu = glue_cpu(env);
  glue_need_pmu(cpu);
  if (!pmu_has_register(cpu, (uint32_t)env->regs[R_ECX])) {
    __real_helper_wrmsr(env);
    return;
  }
  glue_settle_for_write(env);
  glue_set_time(env_cpu(env));
  pmu_access_from(cpu, env->eip, env->regs[R_ESP]);
  if (!pmu_write_register(cpu, (uint32_t)env->regs[R_ECX], edx_eax(env)))
    raise_exception_err_ra(env, EXCP0D_GPF, 0, GETPC());
  glue_choose_feed(env_cpu(env));
}

/* The translator takes this helper for one that does not return: RDPMC ends its block, and is skipped by
 * hand. */
G_NORETURN void __wrap_helper_rdpmc(CPUX86State* env);
G_NORETURN void __wrap_helper_rdpmc(CPUX86State* env) {
  unsigned cpu = glue_cpu(env);
  uint64_t value;
  glue_need_pmu(cpu);
  cpu_restore_state(env_cpu(env), GETPC());
  glue_settle(env);
  pmu_access_from(cpu, env->eip, env->regs[R_ESP]);
  bool permitted = (env->cr[4] & CR4_PCE_MASK) != 0 || (env->hflags & HF_CPL_MASK) == 0;
  if (!permitted || !pmu_read_counter(cpu, (uint32_t)env->regs[R_ECX], &value))
    raise_exception_err_ra(env, EXCP0D_GPF, 0, 0);
  set_edx_eax(env, value);
  /* Its length: two bytes, and the prefixes that a compiler or an author may have put before them. */
  target_ulong at = env->eip;
  while (cpu_ldub_code(env, env->segs[R_CS].base + at) != 0x0F) at++;
  env->eip = at + 2;
  env_cpu(env)->exception_index = -1;
  cpu_loop_exit(env_cpu(env));
}

/* PAUSE leaves translated code, and the emulator then looks for another CPU and for work: with instructions
 * counted as time, kernels that wait by it for a microsecond wait for seconds. So most of them go on at once;
 * how many is the guest's own business, so that runs are alike. */
G_NORETURN void __real_helper_pause(CPUX86State* env, int length);
G_NORETURN void __wrap_helper_pause(CPUX86State* env, int length);
G_NORETURN void __wrap_helper_pause(CPUX86State* env, int length) {
  enum { PAUSES_IN_A_TURN = 64 };
  static unsigned pauses[MACHINE_CPUS_MAX];
  unsigned cpu = glue_cpu(env);
  if (cpu >= MACHINE_CPUS_MAX || (env->hflags & HF_GUEST_MASK) != 0 || ++pauses[cpu] % PAUSES_IN_A_TURN == 0)
    __real_helper_pause(env, length);
  env->eip += length;
  env_cpu(env)->exception_index = -1;
  cpu_loop_exit(env_cpu(env));
}

/* CPUs take turns. The emulator gives each the time until the next timer is due: the first takes it all,
 * unless it pauses or halts, and others, which wait for it or it for them, none. */
WRAPPED(void, icount_prepare_for_run, CPUState* cs) {
  enum { INSTRUCTIONS_IN_A_TURN = 20000 };
  __real_icount_prepare_for_run(cs);
  if (CPU_NEXT(first_cpu) == NULL) return;
  if (cs->icount_budget == 0) __real_icount_prepare_for_run(cs); /* the timer that was due has run */
  cs->icount_budget = MIN(cs->icount_budget, INSTRUCTIONS_IN_A_TURN);
  cpu_neg(cs)->icount_decr.u16.low = cs->icount_budget;
  cs->icount_extra = 0;
}

WRAPPED(void, cpu_x86_cpuid, CPUX86State* env, uint32_t index, uint32_t count, uint32_t* eax, uint32_t* ebx,
        uint32_t* ecx, uint32_t* edx) {
  uint32_t registers[4];
  unsigned cpu = glue_cpu(env);
  __real_cpu_x86_cpuid(env, index, count, &registers[0], &registers[1], &registers[2], &registers[3]);
  if (cpu < MACHINE_CPUS_MAX) { /* not yet a CPU of the machine while it is being made */
    glue_need_pmu(cpu);
    /* Beyond its own last leaf the emulator gives that leaf once more. */
    if ((index < 0x40000000 && index > env->cpuid_level) || index > MAX(env->cpuid_xlevel, 0x80000000))
      memset(registers, 0, sizeof registers);
    pmu_identify(cpu, index, count, registers);
  }
  *eax = registers[0], *ebx = registers[1], *ecx = registers[2], *edx = registers[3];
}

/* The local APIC's registers are read and written through a table that is copied where it is handed over. */
static const MemoryRegionOps* apic_operations;
static uint64_t apic_read(void* opaque, hwaddr address, unsigned size) {
  return apic_operations->read(opaque, address, size);
}
static void apic_write(void* opaque, hwaddr address, uint64_t value, unsigned size) {
  apic_operations->write(opaque, address, value, size);
  if (address != APIC_LVTPC || current_cpu == NULL) return;
  glue_need_pmu(current_cpu->cpu_index);
  glue_settle_for_write(current_cpu->env_ptr);
  pmu_write_lvt(current_cpu->cpu_index, value);
}

WRAPPED(void, memory_region_init_io, MemoryRegion* region, Object* owner, const MemoryRegionOps* operations,
        void* opaque, const char* name, uint64_t size) {
  if (name != NULL && strcmp(name, "apic-msi") == 0) {
    static MemoryRegionOps ours;
    apic_operations = operations;
    ours = *operations;
    ours.read = apic_read;
    ours.write = apic_write;
    operations = &ours;
  }
  __real_memory_region_init_io(region, owner, operations, opaque, name, size);
}

void cpu_deliver_pmi(unsigned cpu) {
  CPUState* cs = qemu_get_cpu(cpu);
  APICCommonState* apic = APIC_COMMON(X86_CPU(cs)->apic_state);
  uint32_t entry = apic->lvt[APIC_LVT_PERFORM];
  bool locked = qemu_mutex_iothread_locked();
  int can_do_io = cs->can_do_io;
  apic->lvt[APIC_LVT_PERFORM] |= APIC_LVT_MASKED;
  if (!locked) qemu_mutex_lock_iothread();
  cs->can_do_io = 1; /* instructions are counted, and we are at the border of one */
  if ((entry >> 8 & 7) == APIC_DM_NMI)
    cpu_interrupt(cs, CPU_INTERRUPT_NMI);
  else
    apic_deliver_irq(apic->id, 0, 0, entry & 0xFF, 0);
  cs->can_do_io = can_do_io;
  if (!locked) qemu_mutex_unlock_iothread();
  glue_leave_code(cpu);
}

/* ---- memory ---- */

uint8_t* cpu_linear_page(unsigned cpu, uint64_t linear) {
  MemTxAttrs attributes;
  hwaddr physical = cpu_get_phys_page_attrs_debug(qemu_get_cpu(cpu), linear & TARGET_PAGE_MASK, &attributes);
  if (physical == -1) return NULL;
  uint64_t address, bytes;
  for (unsigned n = 0;; n++) {
    uint8_t* piece = cpu_physical_memory_piece(n, &address, &bytes);
    if (piece == NULL) return NULL;
    if (physical >= address && physical - address < bytes) return piece + (physical - address);
  }
}

uint8_t* cpu_physical_memory_piece(unsigned n, uint64_t* address, uint64_t* bytes) {
  MachineState* machine = current_machine;
  uint64_t low = X86_MACHINE(machine)->below_4g_mem_size, high = X86_MACHINE(machine)->above_4g_mem_size;
  uint8_t* ram = memory_region_get_ram_ptr(machine->ram);
  if (n > 1 || (n == 1 && high == 0)) return NULL;
  *address = n == 0 ? 0 : 4ull << 30;
  *bytes = n == 0 ? low : high;
  return n == 0 ? ram : ram + low;
}

WRAPPED(void, tlb_flush, CPUState* cs) {
  if (cs->cpu_index >= 0 && cs->cpu_index < MACHINE_CPUS_MAX) pmu_translations_changed(cs->cpu_index);
  __real_tlb_flush(cs);
}
WRAPPED(void, tlb_flush_page, CPUState* cs, target_ulong address) {
  if (cs->cpu_index >= 0 && cs->cpu_index < MACHINE_CPUS_MAX) pmu_translations_changed(cs->cpu_index);
  __real_tlb_flush_page(cs, address);
}

/* ---- what the guest hands out ---- */

WRAPPED(void, helper_outl, CPUX86State* env, uint32_t port, uint32_t value) {
  unsigned cpu = glue_cpu(env);
  if (port == RING_PORT) {
    glue_need_pmu(cpu);
    pmu_follow_ring(cpu, env->regs[R_ESI], value);
    return;
  }
  if (port != CHANNEL_PORT && port != TASKS_PORT) {
    __real_helper_outl(env, port, value);
    return;
  }
  if (value > CHANNEL_OUT_BYTES) {
    error_report("the guest hands out %u bytes at once; expected %u at most", value, CHANNEL_OUT_BYTES);
    exit(2);
  }
  g_autofree char* bytes = g_malloc(value);
  if (cpu_memory_rw_debug(env_cpu(env), env->regs[R_ESI], bytes, value, false) != 0 ||
      (port == CHANNEL_PORT && qemu_write_full(CHANNEL_DESCRIPTOR, bytes, value) != value)) {
    error_report("what the guest hands out is lost: %s", strerror(errno));
    exit(1);
  }
  if (port != TASKS_PORT) return;
  glue_need_pmu(cpu);
  pmu_take_task(cpu, (const uint8_t*)bytes, value);
}
