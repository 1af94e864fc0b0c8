// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_OPTIONS_H
#define PMUSIM_DRIVER_OPTIONS_H

#include <array>
#include <memory>
#include <vector>

#include "pmusim/base/bits.h"
#include "pmusim/perf/kernel.h"

// Where the Intel driver puts the memory that it shares with the PMU, whose habits it has, and what it shares
// with the drivers of other CPUs.

namespace pmusim::driver {

namespace change {
/// Releases of Linux that drive auto counter reload.
inline constexpr perf::Change auto_counter_reload{perf::Kernel::v6_16};
}  // namespace change

/// Registers that several events use at once as long as they want the same value: OFFCORE_RSP, FRONTEND,
/// LD_LAT, the branch filter.
class SharedRegisters {
 public:
  /// False if the register is in use with another value.
  [[nodiscard]] bool acquire(u32 address, u64 value);
  /// Ends one successful `acquire`.
  void release(u32 address);

 private:
  struct Claim {
    u32 address;
    u64 value;
    unsigned users;
  };
  std::vector<Claim> claims_;
};

/// How one thread of a core uses a general counter, for the erratum that makes certain events corrupt the
/// sibling thread's counter of the same number (Sandy Bridge to Haswell).
enum class CounterUse : u8 { unused, shared, exclusive };

/// What the two hyper-threads of a core have in common. Give both drivers the same one.
struct CoreResources {
  SharedRegisters registers;
  std::array<std::array<CounterUse, 32>, 2> counter_use{};  ///< [thread][counter]
  unsigned exclusive_events = 0;                            ///< scheduled on either thread
};

/// Where the driver puts the memory that PEBS hardware writes.
struct PebsOptions {
  u64 buffer_address = 0xFFFF'FE00'0010'0000;           ///< PEBS buffer, a linear address
  u64 physical_buffer_address = 0x0000'0001'0000'0000;  ///< the same bytes for IA32_PEBS_BASE (arch-PEBS)
  u64 buffer_bytes = 65536;  ///< format 0 takes 4096 of it; arch-PEBS a power of two
};

struct SavedStacks;

/// Call stacks that the LBR held of tasks that are off the CPU. They go with a task wherever it runs next:
/// give the drivers of all CPUs of one kind the same.
class TaskStacks {
 public:
  TaskStacks();
  ~TaskStacks();
  TaskStacks(const TaskStacks&) = delete;
  TaskStacks& operator=(const TaskStacks&) = delete;

 private:
  friend class LbrDriver;
  std::unique_ptr<SavedStacks> saved_;
};

/// Where the driver has the LBR saved.
struct LbrOptions {
  u64 xsave_address = 0xFFFF'8880'0000'2000;  ///< one page for XSAVES of component 15
  TaskStacks* task_stacks = nullptr;          ///< outlives the driver; null: of its own
};

/// Where the driver puts the branch trace buffer.
struct BtsOptions {
  u64 buffer_address = 0xFFFF'FE00'0020'0000;
  u64 buffer_bytes = 65536;
};

/// Skylake with TSX microcode: GP 3 works only while every transaction aborts.
enum class TransactionAborts : u8 { allowed, forbidden };

/// sysfs `rdpmc`: whose counters user code may read, where hardware can hide them one by one.
enum class RdpmcSetting : u8 { never, own_task, always };

/// Everything that can be said to a driver before it starts.
struct DriverOptions {
  /// Whose behaviour the driver has.
  perf::Kernel kernel = perf::default_kernel;
  PebsOptions pebs;
  LbrOptions lbr;
  BtsOptions bts;
  u64 debug_store_address = 0xFFFF'FE00'0000'1000;      ///< DS management area, one page
  u64 register_buffer_address = 0xFFFF'8880'0001'0000;  ///< 64-byte aligned; for XSAVES of sampled registers
  /// Shared with the sibling hyper-thread's driver; null where hyper-threading is off.
  CoreResources* core = nullptr;
  unsigned thread = 0;  ///< 0 or 1: which of the two this is
  TransactionAborts transaction_aborts = TransactionAborts::allowed;
  RdpmcSetting rdpmc = RdpmcSetting::own_task;
  /// attr.type of ibs_op where an `IbsDriver` is registered beside AMD's core PMU: precise events go there.
  /// 0: precise events are refused.
  u32 ibs_op_type = 0;

  /// For CPU `number` of several at one memory: what the driver puts there is elsewhere for each.
  DriverOptions for_cpu(unsigned number) const {
    constexpr u64 stride = 0x40'0000;
    DriverOptions moved = *this;
    for (u64* const address :
         {&moved.pebs.buffer_address, &moved.pebs.physical_buffer_address, &moved.lbr.xsave_address,
          &moved.bts.buffer_address, &moved.debug_store_address, &moved.register_buffer_address})
      *address += number * stride;
    return moved;
  }
};

}  // namespace pmusim::driver

#endif
