/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef PMUSIM_MACHINE_INTERFACE_H
#define PMUSIM_MACHINE_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

/* All that the emulator's CPUs (glue/, C) and their PMUs (pmu/, C++) see of each other. CPUs are numbered
 * from 0. */
#ifdef __cplusplus
extern "C" {
#endif

enum { MACHINE_CPUS_MAX = 64 };

/* General registers in the order of their encoding. */
typedef struct {
  uint64_t gpr[16], rip, rflags;
} MachineRegisters;

/* An instruction as it was translated. The first members are all that the emulator's side reads. */
typedef struct {
  uint16_t page_offset; /* of its address */
  uint8_t length;       /* 0 until it has been decoded */
  bool is_branch;
} MachineInstruction;

/* How an execution of a block has ended: its last instruction has retired and execution went on behind it, or
 * elsewhere, or it has not retired. */
enum { MACHINE_FELL_THROUGH, MACHINE_BRANCHED, MACHINE_ALL_BUT_LAST, MACHINE_ENDINGS };

/* A block of instructions as it was translated, for the emulator's side. */
typedef struct {
  uint16_t page_offset;  /* of its address */
  uint16_t instructions; /* 0: stands for the entry into a handler */
  uint16_t last, end;    /* how far from its address its last instruction is, and what follows that */
  bool ends_in_branch, ends_in_conditional;
  uint64_t executions[MACHINE_ENDINGS]; /* that no PMU has taken in */
} MachineBlock;

/* A branch that was taken at the end of a block. */
typedef struct {
  const MachineBlock* block;
  uint64_t from, to;
  uint32_t cycle; /* as many instructions later than what has been taken in, its own included */
  uint8_t cpl_after;
} MachineBranch;

/* ---- what the PMUs do for the CPUs ---- */

/* The PMU of a CPU that is made. Ends the program, with a sentence, where MODEL is none. */
void pmu_create(unsigned cpu, const char* model);
/* The next access to registers is made by an instruction at IP, with the stack at STACK. */
void pmu_access_from(unsigned cpu, uint64_t ip, uint64_t stack);
bool pmu_has_register(unsigned cpu, uint32_t address);
/* False: #GP. */
bool pmu_read_register(unsigned cpu, uint32_t address, uint64_t* value);
bool pmu_write_register(unsigned cpu, uint32_t address, uint64_t value);
bool pmu_read_counter(unsigned cpu, uint32_t ecx, uint64_t* value);
/* Puts what the model says into what the emulator's CPU says: EAX, EBX, ECX, EDX. */
void pmu_identify(unsigned cpu, uint32_t leaf, uint32_t subleaf, uint32_t* registers);
/* The local APIC's LVT entry for PMIs has been written. */
void pmu_write_lvt(unsigned cpu, uint32_t value);
/* Linear addresses may lead elsewhere from now on. */
void pmu_translations_changed(unsigned cpu);
void pmu_debug_exception(unsigned cpu);
/* The time-stamp counter is VALUE now, or goes on by so many TICKS in which nothing has retired. */
void pmu_set_time(unsigned cpu, uint64_t value);
void pmu_pass_time(unsigned cpu, unsigned ticks);

/* Whether any instruction makes a difference to the PMU as it is programmed, and whether registers do. */
bool pmu_listens(unsigned cpu);
bool pmu_wants_registers(unsigned cpu);

/* An instruction that is being translated; its memory belongs to the translations, which end all at once. */
MachineInstruction* pmu_new_instruction(uint64_t ip);
void pmu_decode(MachineInstruction* instruction, const uint8_t* bytes, unsigned length, uint64_t ip,
                bool long_mode);
void pmu_forget_translations(void);

/* A block that is being translated: the new instructions are its own until it ends, with so many of them and
 * so many bytes. */
MachineBlock* pmu_begin_block(uint64_t ip, unsigned cpl);
void pmu_end_block(MachineBlock* block, unsigned instructions, unsigned bytes);
/* An instruction of it, and its distance from the block's address. */
const MachineInstruction* pmu_instruction_of(const MachineBlock* block, unsigned n, unsigned* distance);
/* What stands for an interrupt or exception that leaves this privilege level. */
MachineBlock* pmu_handler_entry(unsigned cpl);

/* How many instructions may execute before anything can happen but that they count and that their branches
 * are recorded: that many need not be passed as they retire. */
uint64_t pmu_quiet_instructions(unsigned cpu);
/* A block has an execution with this ending that is to be taken in, the first since they were last. */
void pmu_note_block(unsigned cpu, MachineBlock* block, unsigned ending);
/* Whether there is a use for taken branches, and those of executions that are yet to be taken in, in their
 * order. */
bool pmu_records_branches(unsigned cpu);
void pmu_log_branches(unsigned cpu, const MachineBranch* branches, unsigned number);
/* All executions that were noted count now, this one as the last of them. */
void pmu_take_in(unsigned cpu, MachineBlock* last, unsigned ending);
/* Instructions FROM to TO - 1 of a block at IP have retired, of which no more is known. */
void pmu_retire_part(unsigned cpu, const MachineBlock* block, uint64_t ip, unsigned from, unsigned to);

/* An instruction is about to execute, with these registers. */
void pmu_before(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, const uint64_t* gpr,
                uint64_t fs_base, uint64_t gs_base);
/* It has executed. REGISTERS are those after it; null if nobody wants them. */
void pmu_retire(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, uint64_t next_ip,
                unsigned cpl, unsigned cpl_after, const MachineRegisters* registers);
/* An interrupt or an exception: no instruction, but a branch. */
void pmu_enter_handler(unsigned cpu, unsigned vector, uint64_t ip, uint64_t next_ip, unsigned cpl,
                       unsigned cpl_after);

/* What a recording knows of the guest's tasks: a record of perf for each that there is, and a ring at a
 * linear address to which the kernel writes what becomes of them. */
void pmu_take_task(unsigned cpu, const uint8_t* record, uint32_t bytes);
void pmu_follow_ring(unsigned cpu, uint64_t linear, uint32_t bytes);

/* ---- what the CPUs do for the PMUs ---- */

/* Where a page of the guest's linear memory is now; null where it is none of its RAM. */
uint8_t* cpu_linear_page(unsigned cpu, uint64_t linear);
/* The guest's physical memory in pieces: the N-th begins at *ADDRESS and has *BYTES; null behind the last. */
uint8_t* cpu_physical_memory_piece(unsigned n, uint64_t* address, uint64_t* bytes);
/* A PMI arrives, before the next instruction. */
void cpu_deliver_pmi(unsigned cpu);

#ifdef __cplusplus
}
#endif

#endif
