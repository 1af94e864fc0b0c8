// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_OPTIONS_H
#define PMUSIM_DRIVER_OPTIONS_H

// Where the Intel driver puts the memory that it shares with the PMU, and whose habits it has.

#include "pmusim/driver/shared_registers.h"
#include "pmusim/perf/kernel.h"

namespace pmusim::driver {

/// Where the driver puts the memory that PEBS hardware writes.
struct PebsOptions {
  u64 buffer_address = 0xFFFF'FE00'0010'0000;           ///< PEBS buffer
  u64 physical_buffer_address = 0x0000'0001'0000'0000;  ///< arch-PEBS: the same as a physical address
  u64 buffer_bytes = 65536;  ///< format 0 takes 4096 of it; arch-PEBS a power of two
};

/// Where the driver has the LBR saved.
struct LbrOptions {
  u64 xsave_address = 0xFFFF'8880'0000'2000;  ///< one page for XSAVES of component 15
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
};

}  // namespace pmusim::driver

#endif
