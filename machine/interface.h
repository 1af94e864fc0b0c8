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

/* ---- what the PMUs do for the CPUs ---- */

/* The PMU of a CPU that is made. Ends the program, with a sentence, where MODEL is none. */
void pmu_create(unsigned cpu, const char* model);
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
/* The time-stamp counter is VALUE now. */
void pmu_set_time(unsigned cpu, uint64_t value);

/* Whether any instruction makes a difference to the PMU as it is programmed, and whether registers do. */
bool pmu_listens(unsigned cpu);
bool pmu_wants_registers(unsigned cpu);

/* An instruction that is being translated; its memory belongs to the translations, which end all at once. */
MachineInstruction* pmu_new_instruction(uint64_t ip);
void pmu_decode(MachineInstruction* instruction, const uint8_t* bytes, unsigned length, uint64_t ip,
                bool long_mode);
void pmu_forget_translations(void);

/* An instruction is about to execute, with these registers. */
void pmu_before(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, const uint64_t* gpr,
                uint64_t fs_base, uint64_t gs_base);
/* It has executed. REGISTERS are those after it; null if nobody wants them. */
void pmu_retire(unsigned cpu, const MachineInstruction* instruction, uint64_t ip, uint64_t next_ip,
                unsigned cpl, unsigned cpl_after, const MachineRegisters* registers);
/* An interrupt or an exception: no instruction, but a branch. */
void pmu_enter_handler(unsigned cpu, uint64_t ip, uint64_t next_ip, unsigned cpl, unsigned cpl_after);

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
