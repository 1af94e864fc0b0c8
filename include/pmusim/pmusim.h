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
///     pmusim_run_instructions(cpu, 1000, PMUSIM_RING_3);
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

// --- the library
// ---------------------------------------------------------------------------------------------

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

/// Why the last call of this thread that failed did so, as a sentence; "" before the first. Valid until the
/// next call of the thread fails.
PMUSIM_API const char* pmusim_last_error(void);

/// Models by number, oldest first; NULL from the last on.
PMUSIM_API const char* pmusim_model_name(size_t number);
/// Policies by number; NULL from the last on. docs/policies.md says what they are.
PMUSIM_API const char* pmusim_policy_name(size_t number);

// --- a processor
// ---------------------------------------------------------------------------------------------

/// One logical processor as its performance monitoring unit shows it.
typedef struct pmusim_cpu pmusim_cpu;

/// A processor after RESET. `model` is one of pmusim_model_name(); `policies` is NULL or changes some of what
/// manuals leave open: "pmi_skid_cycles=0,pebs_arm_cycles=8".
PMUSIM_API pmusim_cpu* pmusim_create(const char* model, const char* policies);
/// NULL is nothing to do; from within a callback of the same processor it is an error, and nothing happens.
PMUSIM_API void pmusim_destroy(pmusim_cpu* cpu);
/// RESET: registers take their reset values. Memory, time, handlers and counts of the truth stay.
PMUSIM_API int pmusim_reset(pmusim_cpu* cpu);

/// Privilege of code. Zero is what most programs run at.
enum pmusim_ring { PMUSIM_RING_3 = 0, PMUSIM_RING_0 = 1 };

/// RDMSR and WRMSR at ring 0. #GP where silicon raises it.
PMUSIM_API int pmusim_rdmsr(pmusim_cpu* cpu, uint32_t address, uint64_t* value);
PMUSIM_API int pmusim_wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value);
/// RDPMC; at PMUSIM_RING_3 it is #GP unless CR4.PCE is set (pmusim_set_control).
PMUSIM_API int pmusim_rdpmc(pmusim_cpu* cpu, uint32_t ecx, int ring, uint64_t* value);
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
/// One of the XSAVE family, 64-bit form, on an area in the processor's memory; `features` is EDX:EAX.
PMUSIM_API int pmusim_xsave(pmusim_cpu* cpu, enum pmusim_xsave_instruction which, uint64_t address,
                            uint64_t features, int ring);

/// What the CPU pushes with a fault.
typedef struct pmusim_fault {
  uint32_t vector;          ///< 0: nothing has faulted yet
  uint32_t has_error_code;  ///< 1 for #GP and #PF
  uint32_t error_code;      ///< #GP: 0. #PF: 2 for a write, 4 at ring 3, added up
} pmusim_fault;
/// The last fault that a call on this processor returned.
PMUSIM_API int pmusim_last_fault(const pmusim_cpu* cpu, pmusim_fault* fault);

// --- memory that software shares with the processor
// ------------------------------------------------------------

/// Maps zeroed bytes at a linear address, for a DS area, a PEBS buffer, an XSAVE area. An error where the
/// range is taken, wraps, or is more than 1 GiB.
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

// --- interrupts
// ------------------------------------------------------------------------------------------------

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
  uint32_t ring;  ///< enum pmusim_ring
} pmusim_interrupt;

/// Software that a PMI enters. It may do on the processor what ring 0 may, and feed instructions, but neither
/// destroy nor restore it.
typedef void (*pmusim_pmi_handler)(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* context);
/// NULL: PMIs stay pending.
PMUSIM_API int pmusim_set_pmi_handler(pmusim_cpu* cpu, pmusim_pmi_handler handler, void* context);

// --- instructions that retire
// ----------------------------------------------------------------------------------

/// Retires `count` instructions of 4 bytes that do nothing, a cycle each, from where the last feed ended.
PMUSIM_API int pmusim_run_instructions(pmusim_cpu* cpu, uint64_t count, int ring);
/// Lets core cycles pass in which nothing retires, in code of a ring: clocks count, and a PMI that becomes
/// due is handled. At most 2^40.
PMUSIM_API int pmusim_wait(pmusim_cpu* cpu, uint64_t cycles, int ring);
/// Core cycle that the processor has reached.
PMUSIM_API int pmusim_now(const pmusim_cpu* cpu, uint64_t* cycle);

#ifdef __cplusplus
}
#endif

#endif
