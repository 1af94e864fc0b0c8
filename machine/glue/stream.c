/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions execute. While the PMU listens, code is translated with a call before each instruction;
 * by that call the instruction before it has retired. While it does not, code is translated as ever: the bits
 * of a block's flags that name a cluster of CPUs, of which there is one only, keep the two translations
 * apart. */
/* The emulator's headers need each other in this order. */
/* clang-format off */
#include "glue.h"
#include "tcg/tcg-op.h"
#include "exec/helper-proto.h"
#include "exec/helper-gen.h"
#include "exec/translator.h"
/* clang-format on */

enum { FEED_NONE = 0xFF, FEED_INSTRUCTIONS = 0xFE };

/* The instruction that has begun last, and has not retired yet. */
static struct {
  const MachineInstruction* begun;
  uint64_t ip;
  unsigned cpl;
  bool wants_registers, leave;
  unsigned feed; /* 0 until the first choice */
} streams[MACHINE_CPUS_MAX];

static bool is_fed(unsigned cpu) { return cpu < MACHINE_CPUS_MAX && streams[cpu].feed == FEED_INSTRUCTIONS; }
static unsigned cpl_of(CPUX86State* env) { return env->hflags & HF_CPL_MASK; }

void glue_choose_feed(CPUState* cs) {
  unsigned cpu = cs->cpu_index;
  unsigned feed = pmu_listens(cpu) ? FEED_INSTRUCTIONS : FEED_NONE;
  streams[cpu].wants_registers = pmu_wants_registers(cpu);
  if (feed == streams[cpu].feed) return;
  streams[cpu].feed = feed;
  streams[cpu].begun = NULL;
  cs->tcg_cflags = (cs->tcg_cflags & ~CF_CLUSTER_MASK) | feed << CF_CLUSTER_SHIFT;
}

void glue_leave_code(unsigned cpu) { streams[cpu].leave = true; }

/* General registers are in memory before a call. The flags may be somewhere in the translated code that
 * called. */
static MachineRegisters registers_at(CPUX86State* env, uint64_t ip, uintptr_t return_address) {
  MachineRegisters registers = {.rip = ip};
  uint64_t restored[TARGET_INSN_START_WORDS];
  uint32_t cc_op = env->cc_op;
  if (return_address != 0 && cpu_unwind_state_data(env_cpu(env), return_address, restored) &&
      restored[1] != CC_OP_DYNAMIC)
    env->cc_op = restored[1];
  for (unsigned n = 0; n < 16; n++) registers.gpr[n] = env->regs[n];
  registers.rflags = cpu_compute_eflags(env);
  env->cc_op = cc_op;
  return registers;
}

/* What has begun has retired, and execution goes on at IP. */
static void retire(CPUX86State* env, uint64_t ip, uintptr_t return_address) {
  unsigned cpu = glue_cpu(env);
  const MachineInstruction* begun = streams[cpu].begun;
  MachineRegisters registers;
  if (streams[cpu].wants_registers) registers = registers_at(env, ip, return_address);
  streams[cpu].begun = NULL;
  pmu_retire(cpu, begun, streams[cpu].ip, ip, streams[cpu].cpl, cpl_of(env),
             streams[cpu].wants_registers ? &registers : NULL);
}

/* An instruction that stands where it has begun goes on: the next iteration of a string instruction, or it is
 * tried again. */
static bool has_retired(unsigned cpu, uint64_t ip) {
  return streams[cpu].begun != NULL && (ip != streams[cpu].ip || streams[cpu].begun->is_branch);
}

void helper_pmusim_instruction(CPUX86State* env, void* info) {
  const MachineInstruction* instruction = info;
  unsigned cpu = glue_cpu(env);
  uint64_t ip = (env->eip & TARGET_PAGE_MASK) | instruction->page_offset;
  if (has_retired(cpu, ip)) {
    retire(env, ip, GETPC());
    if (streams[cpu].leave) {
      streams[cpu].leave = false;
      cpu_loop_exit_restore(env_cpu(env), GETPC());
    }
  }
  streams[cpu].begun = instruction;
  streams[cpu].ip = ip;
  streams[cpu].cpl = cpl_of(env);
  pmu_before(cpu, instruction, ip, (const uint64_t*)env->regs, env->segs[R_FS].base, env->segs[R_GS].base);
}

/* ---- translation ---- */

static __thread const TranslatorOps* emulator_operations;
static __thread MachineInstruction* translated;

static void begin_instruction(DisasContextBase* context, CPUState* cs) {
  emulator_operations->insn_start(context, cs);
  translated = pmu_new_instruction(context->pc_next);
  gen_helper_pmusim_instruction(cpu_env, tcg_constant_ptr(translated));
}

static void translate_instruction(DisasContextBase* context, CPUState* cs) {
  CPUX86State* env = cs->env_ptr;
  target_ulong ip = context->pc_next;
  uint8_t bytes[15];
  emulator_operations->translate_insn(context, cs);
  target_ulong length = context->pc_next - ip;
  if (length == 0 || length > sizeof bytes) return; /* it comes again, in a block of its own */
  for (target_ulong n = 0; n < length; n++) bytes[n] = translator_ldub(env, context, ip + n);
  pmu_decode(translated, bytes, length, ip, (context->tb->flags & HF_CS64_MASK) != 0);
}

WRAPPED(void, translator_loop, CPUState* cs, TranslationBlock* block, int max_instructions, target_ulong pc,
        void* host_pc, const TranslatorOps* operations, DisasContextBase* context) {
  TranslatorOps ours = *operations;
  if ((tb_cflags(block) & CF_CLUSTER_MASK) >> CF_CLUSTER_SHIFT == FEED_INSTRUCTIONS) {
    emulator_operations = operations;
    ours.insn_start = begin_instruction;
    ours.translate_insn = translate_instruction;
    operations = &ours;
  }
  __real_translator_loop(cs, block, max_instructions, pc, host_pc, operations, context);
}

/* All translations end; no code runs. */
WRAPPED(void, tcg_region_reset_all, void) {
  pmu_forget_translations();
  __real_tcg_region_reset_all();
}

/* ---- interrupts and exceptions ---- */

static void enter_handler(CPUX86State* env, uint64_t from, unsigned cpl) {
  unsigned cpu = glue_cpu(env);
  glue_set_time(env_cpu(env));
  pmu_enter_handler(cpu, from, env->eip, cpl, cpl_of(env));
  streams[cpu].leave = false; /* we have left */
}

WRAPPED(void, x86_cpu_do_interrupt, CPUState* cs) {
  CPUX86State* env = cs->env_ptr;
  unsigned cpu = cs->cpu_index;
  if (!is_fed(cpu)) {
    __real_x86_cpu_do_interrupt(cs);
    return;
  }
  bool by_instruction = env->exception_is_int;
  uint64_t from = env->eip;
  unsigned cpl = cpl_of(env);
  if (cs->exception_index == EXCP01_DB) pmu_debug_exception(cpu);
  if (!by_instruction && streams[cpu].begun != NULL) { /* a fault: it has not retired; a trap: it has */
    if (from != streams[cpu].ip) retire(env, from, 0);
    streams[cpu].begun = NULL;
  }
  __real_x86_cpu_do_interrupt(cs);
  if (by_instruction && streams[cpu].begun != NULL) {
    retire(env, env->eip, 0);
    streams[cpu].leave = false;
  } else {
    enter_handler(env, from, cpl);
  }
}

WRAPPED(void, do_interrupt_x86_hardirq, CPUX86State* env, int number, int is_hardware) {
  unsigned cpu = glue_cpu(env);
  if (!is_fed(cpu)) {
    __real_do_interrupt_x86_hardirq(env, number, is_hardware);
    return;
  }
  uint64_t from = env->eip;
  unsigned cpl = cpl_of(env);
  if (has_retired(cpu, from)) retire(env, from, 0);
  streams[cpu].begun = NULL;
  __real_do_interrupt_x86_hardirq(env, number, is_hardware);
  enter_handler(env, from, cpl);
}
