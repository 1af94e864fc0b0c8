/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions execute. There are three ways to translate code, which the bits of a block's flags that
 * name a cluster of CPUs, of which there is one only, keep apart:
 *   as ever, while the PMU does not listen;
 *   with a call before each block, while instructions only count and leave branch records: executions of
 *   blocks are summed up, and the PMU takes them in when its registers are accessed, or before anything can
 *   happen;
 *   with a call before each instruction: by that call the instruction before it has retired. */
/* The emulator's headers need each other in this order. */
/* clang-format off */
#include "glue.h"
#include "tcg/tcg-op.h"
#include "exec/helper-proto.h"
#include "exec/helper-gen.h"
#include "exec/translator.h"
/* clang-format on */

enum { FEED_NONE = 0xFF, FEED_INSTRUCTIONS = 0xFE, FEED_BLOCKS = 0xFD };
enum {
  QUIET_INSTRUCTIONS = 128, /* so many must be quiet for blocks to be worth it */
  PROBE_EVERY = 64          /* instructions are looked at for that */
};

static struct {
  /* The instruction that has begun last, and has not retired yet. */
  const MachineInstruction* begun;
  uint64_t ip;
  unsigned cpl;
  bool wants_registers, records_branches, leave;
  unsigned feed;  /* 0 until the first choice */
  unsigned probe; /* instructions until the next look at how many are quiet */
  /* The block that has begun last, if its end is not known yet; so many of its instructions have retired. */
  MachineBlock* block;
  uint64_t block_ip;
  unsigned block_cpl, done;
  int64_t budget; /* instructions that are quiet yet */
  /* Iterations of string instructions, which take guest time, and of which the PMU's clock has not heard. */
  unsigned iterations;
  /* What ended last. */
  MachineBlock* last;
  unsigned last_ending;
} streams[MACHINE_CPUS_MAX];

/* The CPU whose blocks are being summed up, as a block has one sum: how many instructions they are, and the
 * branches that they have taken, of which the PMU has not heard. */
static struct {
  unsigned cpu;
  uint32_t instructions;
  unsigned branches;
  MachineBranch branch[256];
} summed;

/* Which instruction of its block has begun is in a place of the CPU's that only other accelerators use. */
static unsigned begun_in_block(CPUX86State* env) { return (unsigned)env->msr_gp_counters[0]; }

static bool is_fed(unsigned cpu) {
  return cpu < MACHINE_CPUS_MAX &&
         (streams[cpu].feed == FEED_INSTRUCTIONS || streams[cpu].feed == FEED_BLOCKS);
}
static unsigned cpl_of(CPUX86State* env) { return env->hflags & HF_CPL_MASK; }

static void set_feed(CPUState* cs, unsigned feed) {
  streams[cs->cpu_index].feed = feed;
  streams[cs->cpu_index].probe = PROBE_EVERY;
  cs->tcg_cflags = (cs->tcg_cflags & ~CF_CLUSTER_MASK) | feed << CF_CLUSTER_SHIFT;
}

void glue_choose_feed(CPUState* cs) {
  unsigned cpu = cs->cpu_index;
  unsigned feed = FEED_NONE;
  streams[cpu].budget = pmu_quiet_instructions(cpu);
  if (pmu_listens(cpu)) feed = streams[cpu].budget < QUIET_INSTRUCTIONS ? FEED_INSTRUCTIONS : FEED_BLOCKS;
  streams[cpu].wants_registers = pmu_wants_registers(cpu);
  streams[cpu].records_branches = pmu_records_branches(cpu);
  if (feed == streams[cpu].feed) return;
  if (feed == FEED_NONE || !is_fed(cpu)) streams[cpu].begun = NULL;
  set_feed(cs, feed);
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

/* How far the PMU is behind what has executed. */
static uint32_t behind(unsigned cpu) { return streams[cpu].last != NULL ? summed.instructions : 0; }

void glue_set_time(CPUState* cs) {
  unsigned cpu = cs->cpu_index;
  int can_do_io = cs->can_do_io;
  cs->can_do_io = 1;
  pmu_set_time(cpu, cpu_get_tsc(cs->env_ptr) + ((CPUX86State*)cs->env_ptr)->tsc_offset - behind(cpu));
  cs->can_do_io = can_do_io;
  streams[cpu].iterations = 0;
}

static void pass_iterations(unsigned cpu) {
  if (streams[cpu].iterations != 0) pmu_pass_time(cpu, streams[cpu].iterations);
  streams[cpu].iterations = 0;
}

/* What has begun has retired, and execution goes on at IP. */
static void retire(CPUX86State* env, uint64_t ip, uintptr_t return_address) {
  unsigned cpu = glue_cpu(env);
  const MachineInstruction* begun = streams[cpu].begun;
  MachineRegisters registers;
  pass_iterations(cpu);
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

/* ---- blocks ---- */

static void log_branches(void) {
  pmu_log_branches(summed.cpu, summed.branch, summed.branches);
  summed.branches = 0;
}

static void take_in(unsigned cpu) {
  if (streams[cpu].last == NULL) return;
  log_branches();
  pmu_take_in(cpu, streams[cpu].last, streams[cpu].last_ending);
  streams[cpu].last = NULL;
  summed.instructions = 0;
}

/* A block has ended, and execution goes on at TO. */
static void count(CPUX86State* env, MachineBlock* block, unsigned ending, uint64_t from, uint64_t to) {
  unsigned cpu = glue_cpu(env);
  if (cpu != summed.cpu) {
    take_in(summed.cpu);
    summed.cpu = cpu;
  }
  if (block->executions[ending]++ == 0) pmu_note_block(cpu, block, ending);
  streams[cpu].last = block;
  streams[cpu].last_ending = ending;
  summed.instructions += MAX(block->instructions, 1) - (ending == MACHINE_ALL_BUT_LAST);
  if (ending != MACHINE_BRANCHED || !streams[cpu].records_branches) return;
  summed.branch[summed.branches++] = (MachineBranch){block, from, to, summed.instructions, cpl_of(env)};
  if (summed.branches == ARRAY_SIZE(summed.branch)) log_branches();
}

/* Instructions of the block before the one that has begun retire. */
static unsigned retire_before_begun(CPUX86State* env) {
  unsigned cpu = glue_cpu(env), begun = begun_in_block(env);
  take_in(cpu);
  pass_iterations(cpu);
  pmu_retire_part(cpu, streams[cpu].block, streams[cpu].block_ip, streams[cpu].done, begun);
  streams[cpu].done = begun;
  return begun;
}

void glue_settle(CPUX86State* env) {
  unsigned cpu = glue_cpu(env);
  if (cpu < MACHINE_CPUS_MAX && streams[cpu].block != NULL) retire_before_begun(env);
}

/* The block is left for its instruction that has begun, which is followed by itself from here on. */
static void leave_block(CPUX86State* env) {
  unsigned cpu = glue_cpu(env), distance;
  unsigned begun = retire_before_begun(env);
  streams[cpu].begun = pmu_instruction_of(streams[cpu].block, begun, &distance);
  streams[cpu].ip = streams[cpu].block_ip + distance;
  streams[cpu].cpl = streams[cpu].block_cpl;
  streams[cpu].block = NULL;
}

void glue_settle_for_write(CPUX86State* env) {
  unsigned cpu = glue_cpu(env);
  if (cpu >= MACHINE_CPUS_MAX) return;
  if (streams[cpu].block != NULL) leave_block(env);
  take_in(cpu);
  streams[cpu].budget = 0;
}

/* Execution goes on at IP, so that the block that has begun has ended; FAULTED: a branch that stands where it
 * was has not retired. What is not known of the block as a whole is left to the instruction that has begun.
 */
static void end_block(CPUX86State* env, uint64_t ip, bool faulted) {
  unsigned cpu = glue_cpu(env);
  MachineBlock* block = streams[cpu].block;
  uint64_t last = streams[cpu].block_ip + block->last;
  if (begun_in_block(env) + 1 != block->instructions || streams[cpu].done != 0) {
    leave_block(env);
    return;
  }
  streams[cpu].block = NULL;
  if (ip != last || (block->ends_in_branch && !faulted)) {
    bool branched =
        block->ends_in_branch && !(block->ends_in_conditional && ip == streams[cpu].block_ip + block->end);
    count(env, block, branched ? MACHINE_BRANCHED : MACHINE_FELL_THROUGH, last, ip);
  } else {
    if (block->instructions > 1) count(env, block, MACHINE_ALL_BUT_LAST, last, ip);
    if (!faulted) streams[cpu].iterations++;
  }
}

/* ---- what translated code calls ---- */

static G_NORETURN void go_on_with(CPUX86State* env, unsigned feed, uintptr_t return_address) {
  cpu_restore_state(env_cpu(env), return_address); /* the clock has run to the end of the block */
  set_feed(env_cpu(env), feed);
  cpu_loop_exit(env_cpu(env));
}

/* The instruction that has begun, by itself, retires if it is through. */
static void finish_begun(CPUX86State* env, uint64_t ip, uintptr_t return_address) {
  unsigned cpu = glue_cpu(env);
  if (has_retired(cpu, ip)) {
    retire(env, ip, return_address);
    if (streams[cpu].leave) {
      streams[cpu].leave = false;
      cpu_loop_exit_restore(env_cpu(env), return_address);
    }
  } else if (streams[cpu].begun != NULL) {
    streams[cpu].iterations++;
  }
  streams[cpu].begun = NULL;
}

void helper_pmusim_instruction(CPUX86State* env, void* info) {
  const MachineInstruction* instruction = info;
  unsigned cpu = glue_cpu(env);
  uint64_t ip = (env->eip & TARGET_PAGE_MASK) | instruction->page_offset;
  finish_begun(env, ip, GETPC());
  if (--streams[cpu].probe == 0) {
    streams[cpu].probe = PROBE_EVERY;
    streams[cpu].budget = pmu_quiet_instructions(cpu);
    if (streams[cpu].budget >= QUIET_INSTRUCTIONS) go_on_with(env, FEED_BLOCKS, GETPC());
  }
  streams[cpu].begun = instruction;
  streams[cpu].ip = ip;
  streams[cpu].cpl = cpl_of(env);
  pmu_before(cpu, instruction, ip, (const uint64_t*)env->regs, env->segs[R_FS].base, env->segs[R_GS].base);
}

void helper_pmusim_block(CPUX86State* env, void* info) {
  MachineBlock* block = info;
  unsigned cpu = glue_cpu(env);
  uint64_t ip = (env->eip & TARGET_PAGE_MASK) | block->page_offset;
  if (streams[cpu].block != NULL) end_block(env, ip, false);
  if (streams[cpu].begun != NULL) finish_begun(env, ip, GETPC());
  if (streams[cpu].budget < block->instructions) {
    take_in(cpu);
    streams[cpu].budget = pmu_quiet_instructions(cpu);
    if (streams[cpu].budget < MAX(QUIET_INSTRUCTIONS, block->instructions))
      go_on_with(env, FEED_INSTRUCTIONS, GETPC());
  }
  streams[cpu].budget -= block->instructions;
  streams[cpu].block = block;
  streams[cpu].block_ip = ip;
  streams[cpu].block_cpl = cpl_of(env);
  streams[cpu].done = 0;
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

static __thread MachineBlock* translated_block;

static void begin_instruction_of_block(DisasContextBase* context, CPUState* cs) {
  emulator_operations->insn_start(context, cs);
  if (context->num_insns == 1) {
    translated_block = pmu_begin_block(context->pc_next, context->tb->flags & HF_CPL_MASK);
    gen_helper_pmusim_block(cpu_env, tcg_constant_ptr(translated_block));
  }
  translated = pmu_new_instruction(context->pc_next);
  tcg_gen_st_i32(tcg_constant_i32(context->num_insns - 1), cpu_env,
                 offsetof(CPUX86State, msr_gp_counters[0]));
}

WRAPPED(void, translator_loop, CPUState* cs, TranslationBlock* block, int max_instructions, target_ulong pc,
        void* host_pc, const TranslatorOps* operations, DisasContextBase* context) {
  TranslatorOps ours = *operations;
  unsigned feed = (tb_cflags(block) & CF_CLUSTER_MASK) >> CF_CLUSTER_SHIFT;
  if (feed == FEED_INSTRUCTIONS || feed == FEED_BLOCKS) {
    emulator_operations = operations;
    ours.insn_start = feed == FEED_BLOCKS ? begin_instruction_of_block : begin_instruction;
    ours.translate_insn = translate_instruction;
    operations = &ours;
  }
  __real_translator_loop(cs, block, max_instructions, pc, host_pc, operations, context);
  if (feed == FEED_BLOCKS)
    pmu_end_block(translated_block, context->num_insns, context->pc_next - context->pc_first);
}

/* All translations end; no code runs. */
WRAPPED(void, tcg_region_reset_all, void) {
  take_in(summed.cpu);
  pmu_forget_translations();
  __real_tcg_region_reset_all();
}

/* ---- interrupts and exceptions ---- */

static void enter_handler(CPUX86State* env, unsigned vector, uint64_t from, unsigned cpl) {
  unsigned cpu = glue_cpu(env);
  glue_set_time(env_cpu(env));
  if (streams[cpu].feed == FEED_BLOCKS && streams[cpu].budget-- > 0) {
    count(env, pmu_handler_entry(cpl), MACHINE_BRANCHED, from, env->eip);
    return;
  }
  take_in(cpu);
  pmu_enter_handler(cpu, vector, from, env->eip, cpl, cpl_of(env));
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
  unsigned vector = cs->exception_index & 0xFF;
  uint64_t from = env->eip;
  unsigned cpl = cpl_of(env);
  if (!by_instruction && streams[cpu].block != NULL) end_block(env, from, true);
  if (!by_instruction && streams[cpu].begun != NULL) { /* a fault: it has not retired; a trap: it has */
    if (from != streams[cpu].ip) retire(env, from, 0);
    streams[cpu].begun = NULL;
  }
  if (by_instruction && streams[cpu].block != NULL) leave_block(env);
  if (cs->exception_index == EXCP01_DB) { /* what was before it is recorded */
    take_in(cpu);
    pmu_debug_exception(cpu);
  }
  __real_x86_cpu_do_interrupt(cs);
  if (by_instruction && streams[cpu].begun != NULL) {
    retire(env, env->eip, 0);
    streams[cpu].leave = false;
  } else {
    enter_handler(env, vector, from, cpl);
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
  if (streams[cpu].block != NULL) end_block(env, from, false);
  if (has_retired(cpu, from)) retire(env, from, 0);
  streams[cpu].begun = NULL;
  __real_do_interrupt_x86_hardirq(env, number, is_hardware);
  enter_handler(env, (unsigned)number, from, cpl);
}
