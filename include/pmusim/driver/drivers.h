// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_DRIVERS_H
#define PMUSIM_DRIVER_DRIVERS_H

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// Linux's drivers: of the core PMU of either vendor, and of AMD's instruction-based sampling; where the
/// Intel driver puts the memory that it shares with the PMU, whose habits it has, and what it met.
/// @code
/// Pmu pmu(*find_cpu_model("genoa"));
/// const auto driver = driver::create_driver(pmu);
/// driver::IbsDriver ops(pmu, driver::IbsSide::op);
/// const auto perf = perf::PerfCore::create(*driver);
/// driver->attach(perf->cpu(0));
/// perf->register_pmu(11, ops);
/// ops.attach(perf->cpu(0));
/// pmu.set_pmi_handler(driver.get());
/// @endcode
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

/// What a driver does through `Bus` that can fault.
enum class BusAccess : u8 { rdmsr, wrmsr, rdpmc, read_memory, write_memory, xsaves, xrstors };

/// An access that faulted although enumeration promised that it would not.
struct BusFault {
  BusAccess access = BusAccess::rdmsr;
  u64 address = 0;  ///< of the register or the memory; RDPMC: ECX
  u64 value = 0;    ///< written; the first eight bytes where it was memory; features of XSAVES. 0 for reads
};

/// Accesses that faulted, and the first of them.
struct BusFaults {
  u64 count = 0;
  BusFault first;  ///< meaningless while there is none
};

/// "2 of the driver's accesses to the PMU faulted, ...": a sentence with the first of them; empty for none.
std::string describe(const BusFaults& faults);

/// What happened that no perf event can tell.
struct DriverStatistics {
  u64 interrupts = 0;  ///< PMIs taken
  /// With nothing to handle, and no interrupt before them that handled two: "unknown NMI".
  u64 unhandled_interrupts = 0;
  u64 stuck_interrupts = 0;  ///< status would not clear: the PMU was reset
  /// Overflows that had no sample of their own: the counter went through whole periods between an overflow
  /// and the handling of its interrupt.
  u64 merged_overflows = 0;
  BusFaults faults;  ///< of the driver's own accesses to registers and memory

  /// With those of another driver.
  DriverStatistics& operator+=(const DriverStatistics& other);
};

/// What makes counts and samples doubtful, a sentence each; empty where all went well.
std::vector<std::string> warnings(const DriverStatistics& statistics);

/// Counter slots that records can name: GP n is n, fixed m is 32 + m.
inline constexpr unsigned pebs_counters = 48;

/// What became of the records of one buffer, or of many. Every record is in exactly one of `attributed`,
/// `collided`, `unowned`, `odd_size` and `headless`.
struct DemuxTotals {
  u64 records = 0;         ///< whole records found
  u64 attributed = 0;      ///< led to at least one sample
  u64 collided = 0;        ///< formats 1-2: several counters claim it; each of them lost one sample
  u64 unowned = 0;         ///< no enabled counter claims it
  u64 odd_size = 0;        ///< formats 4-6: has another configuration's size
  u64 headless = 0;        ///< arch-PEBS: fragments of which the head is missing
  u64 shared = 0;          ///< format 3 on, among `attributed`: serve several counters
  u64 rescued = 0;         ///< formats 1-2, among `attributed`: status was 0, one event is enabled
  u64 trailing_bytes = 0;  ///< after the last whole record
  std::array<u64, pebs_counters> samples{};  ///< per counter; a shared record counts for each of its owners
  std::array<u64, pebs_counters> lost{};     ///< per counter, collisions it was part of

  u64 accounted() const { return attributed + collided + unowned + odd_size + headless; }
  DemuxTotals& operator+=(const DemuxTotals& other);
  friend bool operator==(const DemuxTotals&, const DemuxTotals&) = default;
};

/// An MSR that a hypervisor loads when its guest begins to run, and again when that ends (Linux:
/// perf_guest_get_msrs).
struct GuestRegister {
  u32 address = 0;
  u64 host = 0, guest = 0;
  friend bool operator==(const GuestRegister&, const GuestRegister&) = default;
};

/// A driver of the core PMU of one logical processor. Calls that change what is counted come between
/// `disable()` and `enable()`, as the perf core does it.
class CoreDriver : public perf::PmuDriver, public PmiHandler {
 public:
  /// Where samples go. Before any event is started.
  virtual void attach(perf::SampleSink& sink) = 0;
  virtual DriverStatistics statistics() const = 0;
  /// The cause of the NMI that it was called for last lay with another driver, too.
  virtual void explain_interrupt() {}
  /// Whether the driver has tables for the core.
  virtual bool knows_core() const = 0;
  /// What became of every PEBS record so far; of all zeros where there is no PEBS.
  virtual const DemuxTotals& pebs_totals() const;
  /// True when hardware's records wait to become samples, or when nobody can tell.
  virtual bool holds_records() const { return false; }
  /// What differs for a guest that enters now, by exclude_host and exclude_guest of the events that are on.
  /// AMD's counters do so by themselves.
  virtual std::vector<GuestRegister> guest_registers() const { return {}; }
  /// Mappings changed: what the driver remembers of the program's code is void.
  virtual void forget_code() = 0;
};

/// The driver of the CPU behind `bus`, by the vendor that its CPUID names. It asks the CPU what it has,
/// resets its PMU and, on Intel, sets up the PEBS memory. `bus` and `options.core` must outlive it.
std::unique_ptr<CoreDriver> create_driver(Bus& bus, const DriverOptions& options = {});

/// Which of the two units of IBS a driver drives: each is a PMU (`ibs_fetch`, `ibs_op`) beside that of the
/// core.
enum class IbsSide : u8 { fetch, op };

/// The driver of one unit of IBS: one event at a time, which always samples. It does what Linux does
/// (arch/x86/events/amd/ibs.c) by what CPUID says of the part, and knows the hardware only through `Bus`.
///
/// Attributes: `config` has the control register's bits (fetch: 15:0 the period in 16, 57 random low bits, 59
/// L3 misses only; op: 15:0 and 26:20 the period, 16 L3 misses only, 19 counts ops), as far as the part has
/// them; `config1` bits 11:0 of ibs_op the least latency of a load, 128 to 2048 cycles; `config2` bit 0
/// filters by privilege in software, without which exclude_user and exclude_kernel are EINVAL.
class IbsDriver final : public perf::PmuDriver, public PmiHandler {
 public:
  /// Has the local APIC deliver the unit's interrupt as an NMI. `bus` must outlive the driver.
  IbsDriver(Bus& bus, IbsSide side, DriverOptions options = {});
  ~IbsDriver() override;
  IbsDriver(const IbsDriver&) = delete;
  IbsDriver& operator=(const IbsDriver&) = delete;

  /// Where samples go. Before any event is started.
  void attach(perf::SampleSink& sink);
  /// The release that has `swfilt`.
  static perf::Change level_filter();
  /// Whether the part has the unit. Without it every event is ENODEV.
  bool is_there() const;
  DriverStatistics statistics() const;

  /// The part of an NMI that is this unit's. True: it was its, or the late one of an event that has been
  /// stopped.
  bool handle_nmi(const InterruptFrame& frame);
  void handle_pmi(const InterruptFrame& frame) override { static_cast<void>(handle_nmi(frame)); }

  perf::PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(perf::Event& event) override;
  void destroy(perf::Event&) override {}
  void disable() override {}
  void enable() override {}
  void begin() override;
  bool commit() override;
  void cancel() override;
  bool add(perf::Event& event) override;
  void remove(perf::Event& event) override;
  void start(perf::Event& event, StartMode mode) override;
  void stop(perf::Event& event, StopMode mode) override;
  Result<Done, KernelError> check_period(const perf::Event& event, u64 period) const override;
  void read(perf::Event&) override {}  // counts move at interrupts and when the event stops
  void context_switch(SwitchDirection, perf::TaskId) override {}

 private:
  class Unit;
  std::unique_ptr<Unit> unit_;
};

}  // namespace pmusim::driver

#endif
