// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMUSIM_H
#define PMUSIM_PMUSIM_H

#include <stddef.h>
#include <stdint.h>

/// The library for programs in C, and for every language that can call C: an emulated processor whose
/// performance monitoring unit a driver programs as it would program silicon.
///
///     pmusim_cpu *cpu = pmusim_create("skylake", NULL);
///     pmusim_wrmsr(cpu, 0x186, 0x4100C0);            // IA32_PERFEVTSEL0: instructions, ring 3
///     pmusim_wrmsr(cpu, 0x38F, 1);                   // IA32_PERF_GLOBAL_CTRL
///     pmusim_run_instructions(cpu, 1000, PMUSIM_USER);
///     uint64_t instructions;
///     pmusim_rdmsr(cpu, 0xC1, &instructions);        // IA32_PMC0: 1000
///     pmusim_destroy(cpu);
///
/// Functions that return int return 0 (PMUSIM_OK), the vector of the fault that the instruction raises, which
/// is positive (PMUSIM_GP), or PMUSIM_ERROR for a call that cannot be: pmusim_last_error() says why. A call
/// that faults or fails changes nothing but what its description says. Functions that return a pointer return
/// NULL for the latter. Null handles, wrong sizes and unknown names are such errors and never crash.
///
/// Different processors may be used by different threads at the same time; one by one thread at a time.
/// docs/library.md is a guide.

#if defined(__GNUC__)
#define PMUSIM_API __attribute__((visibility("default")))
#else
#define PMUSIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// the library

/// Number of this interface, which is that of the shared library's name: it grows when programs have to be
/// compiled again.
#define PMUSIM_ABI_VERSION 0

/// PMUSIM_ABI_VERSION of the library that is linked.
PMUSIM_API uint32_t pmusim_abi_version(void);
/// "major.minor.patch" of the library that is linked.
PMUSIM_API const char* pmusim_version(void);

/// What a call has come to, if not a fault.
enum pmusim_status { PMUSIM_OK = 0, PMUSIM_ERROR = -1 };
/// Faults by their vectors, as calls return them.
enum pmusim_vector { PMUSIM_UD = 6, PMUSIM_NM = 7, PMUSIM_GP = 13, PMUSIM_PF = 14 };

/// Why the last call of this thread that failed or faulted did so, as a sentence; "" before the first. Of a
/// fault it names the register, the bits and the rule of the model: "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) =
/// 0x10: #GP: bit 4 is reserved on Skylake (enable PMCn (bit n): bits 3:0)". A callback that
/// receives a fault (pmusim_observer, pmusim_fault_handler) may ask, too. Valid until the next call of the
/// thread fails or faults.
PMUSIM_API const char* pmusim_last_error(void);

/// Models by number, oldest first; NULL from the last on.
PMUSIM_API const char* pmusim_model_name(size_t number);
/// Policies by number; NULL from the last on. docs/policies.md says what they are.
PMUSIM_API const char* pmusim_policy_name(size_t number);

// a processor

/// One logical processor as its performance monitoring unit shows it.
typedef struct pmusim_cpu pmusim_cpu;

/// A processor after RESET. `model` is one of pmusim_model_name(); `policies` is NULL or changes some of what
/// manuals leave open: "pmi_skid_cycles=0,pebs_arm_cycles=8".
PMUSIM_API pmusim_cpu* pmusim_create(const char* model, const char* policies);
/// NULL is nothing to do; from within a callback of the same processor it is an error, and nothing happens.
PMUSIM_API void pmusim_destroy(pmusim_cpu* cpu);
/// RESET: registers take their reset values. Memory, time, handlers and exact counts stay.
PMUSIM_API int pmusim_reset(pmusim_cpu* cpu);

/// Privilege of code, as perf names it: ring 3 and ring 0.
enum pmusim_privilege { PMUSIM_USER = 0, PMUSIM_KERNEL = 1 };

/// RDMSR and WRMSR at ring 0. #GP where silicon raises it.
PMUSIM_API int pmusim_rdmsr(pmusim_cpu* cpu, uint32_t address, uint64_t* value);
PMUSIM_API int pmusim_wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value);
/// RDPMC; at PMUSIM_USER it is #GP unless CR4.PCE is set (pmusim_set_control).
PMUSIM_API int pmusim_rdpmc(pmusim_cpu* cpu, uint32_t ecx, int privilege, uint64_t* value);
PMUSIM_API int pmusim_rdtsc(pmusim_cpu* cpu, uint64_t* value);

typedef struct pmusim_cpuid_result {
  uint32_t eax, ebx, ecx, edx;
} pmusim_cpuid_result;
PMUSIM_API int pmusim_cpuid(pmusim_cpu* cpu, uint32_t leaf, uint32_t subleaf, pmusim_cpuid_result* result);

/// Bits of control registers; CR4.OSXSAVE is set from the start.
enum pmusim_control { PMUSIM_CR4_PCE = 1, PMUSIM_CR4_OSXSAVE = 2, PMUSIM_CR0_TS = 4 };
/// Sets them all: the sum of those that are to be set.
PMUSIM_API int pmusim_set_control(pmusim_cpu* cpu, uint32_t control);

PMUSIM_API int pmusim_xgetbv(pmusim_cpu* cpu, uint32_t ecx, uint64_t* value);
PMUSIM_API int pmusim_xsetbv(pmusim_cpu* cpu, uint32_t ecx, uint64_t value);

enum pmusim_xsave_instruction {
  PMUSIM_XSAVE,
  PMUSIM_XSAVEOPT,
  PMUSIM_XSAVEC,
  PMUSIM_XSAVES,
  PMUSIM_XRSTOR,
  PMUSIM_XRSTORS,
};
/// One of the XSAVE family (enum pmusim_xsave_instruction), 64-bit form, on an area in the processor's
/// memory; `features` is EDX:EAX.
PMUSIM_API int pmusim_xsave(pmusim_cpu* cpu, int which, uint64_t address, uint64_t features, int privilege);

/// What the CPU pushes with a fault.
typedef struct pmusim_fault {
  uint32_t vector;          ///< 0: nothing has faulted yet
  uint32_t has_error_code;  ///< 1 for #GP and #PF
  uint32_t error_code;      ///< #GP: 0. #PF: 2 for a write, 4 at ring 3, added up
} pmusim_fault;
/// The last fault that a call on this processor returned.
PMUSIM_API int pmusim_last_fault(const pmusim_cpu* cpu, pmusim_fault* fault);

// memory that software shares with the processor

/// Maps zeroed bytes at a linear address, for a DS area, a PEBS buffer, an XSAVE area. The same number is
/// their physical address, which IA32_PEBS_BASE takes. An error where the range is taken, wraps, or is more
/// than 1 GiB.
PMUSIM_API int pmusim_map(pmusim_cpu* cpu, uint64_t address, size_t bytes);
/// Maps the caller's bytes, which must stay until they are unmapped. Snapshots share them: restoring one does
/// not bring their contents back.
PMUSIM_API int pmusim_map_shared(pmusim_cpu* cpu, uint64_t address, void* memory, size_t bytes);
/// Removes the region that starts at the address.
PMUSIM_API int pmusim_unmap(pmusim_cpu* cpu, uint64_t address);
/// #PF, and nothing copied, where the range is not mapped. Where a model has its local APIC in memory, its
/// LVTPC is four bytes at FEE00340.
PMUSIM_API int pmusim_read(pmusim_cpu* cpu, uint64_t address, void* out, size_t bytes);
PMUSIM_API int pmusim_write(pmusim_cpu* cpu, uint64_t address, const void* in, size_t bytes);
/// The mapped bytes themselves, until the region is unmapped or a snapshot is restored.
PMUSIM_API void* pmusim_memory(pmusim_cpu* cpu, uint64_t address, size_t bytes);

// interrupts

/// General registers in the order of their encoding: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8..R15.
typedef struct pmusim_registers {
  uint64_t gpr[16];
  uint64_t rip, rflags;
} pmusim_registers;

/// The interrupted code at a PMI.
typedef struct pmusim_interrupt {
  uint64_t cycle;
  pmusim_registers registers;  ///< rip is the next instruction; the others only where `registers_known`
  uint32_t registers_known;
  uint32_t privilege;  ///< enum pmusim_privilege
} pmusim_interrupt;

/// Software that a PMI enters. It may do on the processor what ring 0 may, and feed instructions, but neither
/// destroy nor restore it. Callbacks must not throw exceptions of C++ nor leave by longjmp.
typedef void (*pmusim_pmi_handler)(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* context);
/// NULL: PMIs stay pending.
PMUSIM_API int pmusim_set_pmi_handler(pmusim_cpu* cpu, pmusim_pmi_handler handler, void* context);

// instructions that retire

/// Kinds of control transfers.
enum pmusim_branch {
  PMUSIM_NO_BRANCH,
  PMUSIM_CONDITIONAL,
  PMUSIM_DIRECT_JUMP,
  PMUSIM_INDIRECT_JUMP,
  PMUSIM_DIRECT_CALL,
  PMUSIM_INDIRECT_CALL,
  PMUSIM_NEAR_RETURN,
  PMUSIM_FAR_JUMP,
  PMUSIM_FAR_CALL,
  PMUSIM_FAR_RETURN,
  PMUSIM_SYSCALL,
  PMUSIM_SYSRET,
  PMUSIM_SOFTWARE_INTERRUPT,
  PMUSIM_INTERRUPT_RETURN,
  PMUSIM_INTERRUPT,  ///< hardware interrupt or exception: no instruction of its own
  PMUSIM_TSX_ABORT,  ///< no instruction of its own
};

/// Where a data access finds its line. The default is L1 but where something else is said.
enum pmusim_level {
  PMUSIM_LEVEL_DEFAULT,
  PMUSIM_L1,
  PMUSIM_FILL_BUFFER,
  PMUSIM_L2,
  PMUSIM_L3,
  PMUSIM_MEMORY,
};
enum pmusim_tlb { PMUSIM_TLB_L1, PMUSIM_TLB_L2, PMUSIM_TLB_WALK };
enum pmusim_access_kind { PMUSIM_LOAD, PMUSIM_STORE };
enum pmusim_transaction { PMUSIM_NO_TRANSACTION, PMUSIM_IN_TRANSACTION, PMUSIM_ABORTING };

/// One data access of an instruction.
typedef struct pmusim_access {
  uint64_t address;
  uint32_t bytes;
  uint32_t latency_cycles;  ///< dispatch to data
  uint8_t kind;             ///< enum pmusim_access_kind
  uint8_t level;            ///< enum pmusim_level
  uint8_t tlb;              ///< enum pmusim_tlb
  uint8_t locked;           ///< 0 or 1
  uint8_t reserved[4];
} pmusim_access;

/// One instruction that retires. All zero: 4 bytes at ring 3 that do nothing and follow the one before, a
/// cycle later. What events see of branches and accesses follows from them; pmusim_add_signal says what else
/// is true.
typedef struct pmusim_instruction {
  uint64_t ip;       ///< 0: where the one before went on
  uint64_t next_ip;  ///< 0: behind it; the target of a branch that is taken
  uint64_t cycle;    ///< absolute core cycle in which it retires, which never decreases; 0: the next one
  const pmusim_access* accesses;
  const pmusim_registers* registers;   ///< after it; NULL: not known
  uint32_t access_count;               ///< at most 8
  uint32_t latency_cycles;             ///< dispatch to retirement; 0: 1, or that of its slowest access
  uint32_t uops;                       ///< 0: 1
  uint8_t length;                      ///< bytes; 0: 4
  uint8_t branch;                      ///< enum pmusim_branch
  uint8_t taken, mispredicted;         ///< 0 or 1; branches but conditional ones are always taken
  uint8_t privilege, privilege_after;  ///< enum pmusim_privilege; they differ for far transfers only
  uint8_t transaction;                 ///< enum pmusim_transaction
  uint8_t reserved[5];
  uint64_t signals[4];       ///< as pmusim_add_signal sets them
  uint32_t quantities[128];  ///< as pmusim_set_quantity sets them
} pmusim_instruction;

/// Makes something more be true of an instruction: "fp_scalar_double", "machine_clear" (docs/library.md).
PMUSIM_API int pmusim_add_signal(pmusim_instruction* instruction, const char* name);
/// Gives an instruction a quantity: "slots_frontend", "page_walk_cycles" (docs/library.md).
PMUSIM_API int pmusim_set_quantity(pmusim_instruction* instruction, const char* name, uint32_t value);

/// Retires instructions, one or many. All are looked at first: an error has retired none.
PMUSIM_API int pmusim_retire(pmusim_cpu* cpu, const pmusim_instruction* instructions, size_t count);
/// Retires `count` instructions of 4 bytes that do nothing, a cycle each, from where the last feed ended.
PMUSIM_API int pmusim_run_instructions(pmusim_cpu* cpu, uint64_t count, int privilege);
/// Lets core cycles pass in which nothing retires, in code of a ring: clocks count, and a PMI that becomes
/// due is handled. At most 2^40.
PMUSIM_API int pmusim_wait(pmusim_cpu* cpu, uint64_t cycles, int privilege);
/// Asked between instructions whether a feed is to go on: at least once in 65536 of them. It must not call
/// the processor. 0: it goes on; anything else ends it, and the call that feeds is an error.
typedef int (*pmusim_poll)(void* context);
/// Of pmusim_run_instructions, pmusim_run_program and pmusim_run_trace; of several processors the first
/// one's. NULL: nobody is asked.
PMUSIM_API int pmusim_set_poll(pmusim_cpu* cpu, pmusim_poll poll, void* context);
/// Core cycle that the processor has reached.
PMUSIM_API int pmusim_now(const pmusim_cpu* cpu, uint64_t* cycle);

/// A straight line of machine code, which the library decodes, and whose timing and caches it models.
typedef struct pmusim_code {
  uint64_t ip;
  const void* bytes;
  size_t size;       ///< at most 1 MiB
  uint64_t next_ip;  ///< where execution goes on; 0: behind the code. Branches before the end are not taken
  const uint64_t* addresses;  ///< one for each memory operand of each instruction; NULL: all of them hit
  size_t address_count;
  int privilege;
} pmusim_code;
/// `instructions`, if not NULL, becomes how many have retired. Errors: bytes that are no instruction, a jump
/// before the end; nothing has retired then. A PMI handler that it enters cannot call it.
PMUSIM_API int pmusim_run_code(pmusim_cpu* cpu, const pmusim_code* code, uint64_t* instructions);

/// Runs a recorded program (pmusim trace record) on one or several processors, with the timing of the first
/// one's model: to its end, or a little beyond `at_most` instructions. `instructions`, if not NULL, becomes
/// how many have retired. Errors: no such trace, or a damaged one; what stood before the damage has retired.
PMUSIM_API int pmusim_run_trace(pmusim_cpu* const* cpus, size_t count, const char* path, uint64_t at_most,
                                uint64_t* instructions);

// synthetic programs

/// A program without a recording, put together from pieces that execute one after the other.
/// docs/library.md has a table of what each piece counts.
typedef struct pmusim_program pmusim_program;

/// An empty program that begins at `ip`.
PMUSIM_API pmusim_program* pmusim_program_create(uint64_t ip);
PMUSIM_API void pmusim_program_destroy(pmusim_program* program);

/// So many instructions that do nothing.
PMUSIM_API int pmusim_program_instructions(pmusim_program* program, uint64_t count);
/// One instruction that reads or writes memory. The address moves on by `stride_bytes` each time it executes;
/// `level` is of enum pmusim_level, whose default is what the program's own cache says.
PMUSIM_API int pmusim_program_load(pmusim_program* program, uint64_t address, uint32_t bytes,
                                   int64_t stride_bytes, int level);
PMUSIM_API int pmusim_program_store(pmusim_program* program, uint64_t address, uint32_t bytes,
                                    int64_t stride_bytes, int level);
/// CLFLUSH.
PMUSIM_API int pmusim_program_flush(pmusim_program* program, uint64_t address);
/// A direct jump to the next piece.
PMUSIM_API int pmusim_program_jump(pmusim_program* program);

/// The pieces from here to the matching pmusim_program_end() are a body: of a loop, closed by a conditional
/// branch, which is mispredicted at the exit if `mispredicted_exit` is not 0.
PMUSIM_API int pmusim_program_begin_loop(pmusim_program* program, uint64_t iterations, int mispredicted_exit);
/// Of a conditional branch around them. `outcomes`, execution by execution: T taken, N not taken (the body
/// executes), t and n the same mispredicted.
PMUSIM_API int pmusim_program_begin_around(pmusim_program* program, const char* outcomes);
/// Of a function that is called here.
PMUSIM_API int pmusim_program_begin_call(pmusim_program* program);
/// Of what a system call executes at ring 0.
PMUSIM_API int pmusim_program_begin_system_call(pmusim_program* program);
PMUSIM_API int pmusim_program_end(pmusim_program* program);

/// Runs a program whose bodies have all ended. It may run again, and on several processors.
PMUSIM_API int pmusim_run_program(pmusim_cpu* cpu, const pmusim_program* program, int privilege);

// exact counts

/// Begins to count what an event really does, whatever becomes of the counters that a driver programs: never
/// stopped, frozen, reloaded or full. `event_select` is as in IA32_PERFEVTSEL, with USR, OS and the
/// modifiers; event 00 with umask n + 1 is fixed counter n. `extra_register`, if not 0, is the MSR that the
/// event needs besides (1A6, 3F6, 3F7), with `extra`. `number` becomes what pmusim_truth() is asked with,
/// from 0.
PMUSIM_API int pmusim_truth_begin(pmusim_cpu* cpu, uint64_t event_select, uint32_t extra_register,
                                  uint64_t extra, uint32_t* number);
/// How often it has occurred since.
PMUSIM_API int pmusim_truth(pmusim_cpu* cpu, uint32_t number, uint64_t* count);

/// What became of PEBS assists.
enum pmusim_assist_outcome {
  PMUSIM_ASSIST_WROTE,
  PMUSIM_ASSIST_FULL,               ///< no room in the buffer
  PMUSIM_ASSIST_INDEX_BEFORE_BASE,  ///< the index points before the buffer
  PMUSIM_ASSIST_UNMAPPED,
  PMUSIM_ASSIST_MISALIGNED,
  PMUSIM_ASSIST_NO_AREA,
  PMUSIM_ASSIST_PROCESSOR_TRACE,  ///< records go to Processor Trace, which is not modelled
};
/// `outcome` is of enum pmusim_assist_outcome.
PMUSIM_API int pmusim_assists(const pmusim_cpu* cpu, int outcome, uint64_t* count);
/// Auto counter reloads of a counter; counters are numbered as in GLOBAL_STATUS.
PMUSIM_API int pmusim_acr_reloads(const pmusim_cpu* cpu, uint32_t counter, uint64_t* count);

// watching the hardware

/// What an observer receives, and which members of pmusim_event say what.
enum pmusim_event_kind {
  PMUSIM_REGISTER_WRITE,  ///< address, value
  PMUSIM_ACCESS_FAULT,  ///< address (of the MSR, or ECX), value; detail: 0 RDMSR, 1 WRMSR, 2 RDPMC, 3 XGETBV,
                        ///< 4 XSETBV; vector; pmusim_last_error() says why
  PMUSIM_OVERFLOW,      ///< counter; flags: 1 sets its status bit, 2 asks for a PMI, 4 PEBS takes it
  PMUSIM_RELOAD,        ///< counter, value; detail: 0 by ACR, 1 by PEBS
  PMUSIM_FREEZE,        ///< detail: 0 counters, 1 LBR
  PMUSIM_PMI_REQUEST,   ///< detail: 0 overflow, 1 PEBS threshold, 2 BTS threshold; flags: 0 on its way, 1
                        ///< merged with one that is, 2 lost; value: the cycle from which on it is taken
  PMUSIM_PMI_DELIVERY,  ///< address: of the interrupted code; detail: enum pmusim_privilege
  PMUSIM_PMI_RETURN,
  PMUSIM_ASSIST_ARMED,  ///< counter
  PMUSIM_PEBS_RECORD,   ///< address: of the record, or what is not mapped; value: the sampled instruction;
                        ///< detail: its bytes; counters; flags: enum pmusim_assist_outcome
  PMUSIM_BTS_RECORD,    ///< address: from; value: to; flags: 1 written
  PMUSIM_LBR_RECORD,    ///< address: from; value: to; detail: enum pmusim_branch; flags: 1 mispredicted
  PMUSIM_RETIREMENT,    ///< address: of the instruction; value: of the next; detail: enum pmusim_branch
};

typedef struct pmusim_event {
  uint64_t cycle;
  uint64_t address, value;
  uint64_t counters;  ///< as a mask
  uint32_t kind;      ///< enum pmusim_event_kind
  uint32_t counter;   ///< GP n is n, fixed m is 32 + m, 48 the internal counters of PERF_METRICS
  uint32_t detail, flags;
  uint32_t vector;
  uint32_t reserved;
} pmusim_event;

/// Called in the order in which the hardware does things. It may read the processor (rdmsr and the
/// like), and must not change it: calls that would are errors.
typedef void (*pmusim_observer)(pmusim_cpu* cpu, const pmusim_event* event, void* context);
/// `kinds` is a sum of 1 << enum pmusim_event_kind. NULL: no observer.
PMUSIM_API int pmusim_set_observer(pmusim_cpu* cpu, pmusim_observer observer, uint64_t kinds, void* context);

// snapshots

/// Everything that a processor is at a moment: registers, memory, time, interrupts on their way, exact
/// counts.
typedef struct pmusim_snapshot pmusim_snapshot;

/// An error from within a callback.
PMUSIM_API pmusim_snapshot* pmusim_snapshot_take(const pmusim_cpu* cpu);
PMUSIM_API void pmusim_snapshot_destroy(pmusim_snapshot* snapshot);
/// Makes the processor what it was, or what another one of the same model was. Handlers stay, and so does
/// what pmusim_run_code() has taught caches and predictors. An error from within a callback.
PMUSIM_API int pmusim_restore(pmusim_cpu* cpu, const pmusim_snapshot* snapshot);
/// Compares all that decides what the processor will do: registers, memory, extended registers, time, what is
/// under way. `same` becomes 1 or 0, and `difference`, if not NULL, a sentence on the first difference, cut
/// to `bytes` with its end of string.
PMUSIM_API int pmusim_compare(const pmusim_cpu* cpu, const pmusim_snapshot* snapshot, int* same,
                              char* difference, size_t bytes);

// interrupts at every place of a driver

/// One run of a scenario.
typedef struct pmusim_run pmusim_run;
/// Software under test: sets its driver up on the processor, opens the window in which PMIs may come, runs
/// the driver, closes the window, and fails what it finds wrong. Called for each placement of PMIs, with the
/// processor as it was when pmusim_explore() was called, in its present state alone: what the driver keeps in
/// memory is the scenario's to set up. It can neither reset nor restore the processor.
typedef void (*pmusim_scenario)(pmusim_cpu* cpu, pmusim_run* run, void* context);

/// Boundaries before and after each access to the processor are places for a PMI, while the window is open,
/// and those before each instruction that is stepped (pmusim_trap_enable).
PMUSIM_API int pmusim_explore_open(pmusim_run* run);
PMUSIM_API int pmusim_explore_close(pmusim_run* run);
/// So is this: between two stores of the driver, say.
PMUSIM_API int pmusim_explore_boundary(pmusim_run* run);
/// An assertion does not hold. The first sentence of a run counts.
PMUSIM_API int pmusim_explore_fail(pmusim_run* run, const char* sentence);
/// Memory that is part of the driver's state, without padding and pointers that differ between runs. Once all
/// of the state is registered, runs that come to equal states are not branched off twice. At most 16 pieces.
PMUSIM_API int pmusim_explore_state(pmusim_run* run, const void* memory, size_t bytes);

/// Why PMIs come: the counters that are about to wrap do, or there is no reason.
enum pmusim_cause { PMUSIM_CAUSE_OVERFLOW = 1, PMUSIM_CAUSE_SPURIOUS = 2 };
/// All zero: one PMI in a run, by an overflow, at once.
typedef struct pmusim_explore_options {
  uint64_t most_runs;       ///< 0: 1000000
  uint32_t most_pmis;       ///< in a run; 0: 1
  uint32_t causes;          ///< a sum of enum pmusim_cause; 0: overflow
  uint32_t greatest_delay;  ///< boundaries by which a PMI may be late: all from 0 to this
  uint32_t reserved;
} pmusim_explore_options;
/// What a search came to.
typedef struct pmusim_explore_report {
  uint64_t runs;
  uint64_t boundaries;  ///< of the run without PMIs
  uint64_t merged;      ///< boundaries that were not tried again: an equal state had been there before
  uint32_t complete;    ///< 0: most_runs was not enough
  uint32_t found;       ///< 1: a run failed; the first, with the fewest PMIs:
  char seed[128];       ///< for pmusim_explore_replay
  char text[896];       ///< what failed, and where the PMIs came
} pmusim_explore_report;
/// Runs a scenario once for every placement of PMIs, and leaves the processor as it was. `options` may be
/// NULL. Errors: a scenario that does not repeat itself.
PMUSIM_API int pmusim_explore(pmusim_cpu* cpu, pmusim_scenario scenario, void* context,
                              const pmusim_explore_options* options, pmusim_explore_report* report);
/// Runs the one placement that a seed names.
PMUSIM_API int pmusim_explore_replay(pmusim_cpu* cpu, pmusim_scenario scenario, void* context,
                                     const char* seed, pmusim_explore_report* report);

// privileged instructions of this process

/// What becomes of code whose instruction the processor faults.
enum pmusim_after_fault {
  PMUSIM_FAULT_SKIP,     ///< goes on behind the instruction
  PMUSIM_FAULT_RESUME,   ///< goes on with the registers as the handler left them, at their rip
  PMUSIM_FAULT_DELIVER,  ///< the process's own handler of the signal decides, or kills it
};
/// Returns one of enum pmusim_after_fault. Runs in the handler of a signal.
typedef int (*pmusim_fault_handler)(pmusim_cpu* cpu, const pmusim_fault* fault, pmusim_registers* registers,
                                    void* context);
/// What CPUID answers: the machine, or the model where the machine lets CPUID fault.
enum pmusim_trap_cpuid { PMUSIM_CPUID_NATIVE, PMUSIM_CPUID_EMULATED };
/// When instructions that are stepped retire: one in each cycle, with accesses that hit, or as the core model
/// says, with its caches and predictors.
enum pmusim_trap_timing { PMUSIM_TIMING_FLAT, PMUSIM_TIMING_CORE };
/// All zero: faults are the process's, CPUID is the machine's, timing is flat.
typedef struct pmusim_trap_options {
  pmusim_fault_handler on_fault;
  void* context;
  uint32_t cpuid;   ///< enum pmusim_trap_cpuid
  uint32_t timing;  ///< enum pmusim_trap_timing
} pmusim_trap_options;
/// RDMSR, WRMSR, RDPMC, XSAVES, XRSTORS, XSETBV, CLI and STI that the calling thread executes go to the
/// processor from now on, at ring 0 (docs/trap.md). `options` may be NULL. Memory of the process that
/// hardware is to reach is mapped by pmusim_map_shared() at its own address. Errors: the thread has a
/// processor already.
PMUSIM_API int pmusim_trap_enable(pmusim_cpu* cpu, const pmusim_trap_options* options);
/// In the thread that enabled it; before pmusim_destroy().
PMUSIM_API int pmusim_trap_disable(pmusim_cpu* cpu);
/// Takes SIGSEGV, SIGTRAP, SIGILL, SIGFPE and SIGBUS back from a handler that was installed later.
PMUSIM_API int pmusim_trap_retake_signals(pmusim_cpu* cpu);
/// Instructions that have retired by stepping.
PMUSIM_API int pmusim_trap_retired(const pmusim_cpu* cpu, uint64_t* instructions);

/// A WRMSR of this register with EAX 1 or 2 begins to step: the instructions behind it retire in the
/// processor, at ring 0 or 3, and PMIs come between them. EAX 0 ends it. Neither retires
/// itself.
enum pmusim_stepping_register { PMUSIM_STEPPING_REGISTER = 0x400000F0 };
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((always_inline)) static inline void pmusim_begin_stepping(int privilege) {
  __asm__ volatile("wrmsr"
                   :
                   : "c"(PMUSIM_STEPPING_REGISTER), "a"(privilege == PMUSIM_KERNEL ? 1 : 2), "d"(0)
                   : "memory");
}
__attribute__((always_inline)) static inline void pmusim_end_stepping(void) {
  __asm__ volatile("wrmsr" : : "c"(PMUSIM_STEPPING_REGISTER), "a"(0), "d"(0) : "memory");
}
#endif

// the list of registers

/// One MSR of a processor.
typedef struct pmusim_register {
  uint64_t writable;  ///< bits that a write may set
  uint64_t reset;     ///< value after RESET
  uint32_t address;
  uint8_t read_only, write_only;  ///< 0 or 1
  uint8_t reserved[2];
  char name[64];  ///< the SDM's: "IA32_PMC3"
} pmusim_register;

/// By number, in ascending order of addresses; an error from pmusim_register_count() on.
PMUSIM_API int pmusim_get_register(const pmusim_cpu* cpu, size_t number, pmusim_register* info);
PMUSIM_API size_t pmusim_register_count(const pmusim_cpu* cpu);
/// By the SDM's name; the error sentence has names that are near.
PMUSIM_API int pmusim_find_register(const pmusim_cpu* cpu, const char* name, uint32_t* address);

#ifdef __cplusplus
}
#endif

#endif
