// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_IBS_UNIT_H
#define PMUSIM_SRC_DRIVER_AMD_IBS_UNIT_H

#include "driver/x86/register_access.h"
#include "pmusim/arch/msr.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

/// What the two units have of their own, as data.
struct IbsLayout {
  std::string_view name;
  u32 control = 0;
  std::span<const u32> registers;  ///< of a raw sample, the control register first
  u64 enable = 0, valid = 0;
  u64 period = 0, period_extension = 0;  ///< fields of the control register
  u64 count = 0;                         ///< where it shows what has been counted of the period
  u64 cleared_at_stop = 0;
  u64 longest_period = 0, shortest_period = 0;
  u64 config = 0;  ///< what an event may ask for, its period included
};

/// What CPUID says, and what follows from it.
struct IbsPart {
  u32 caps = 0;  ///< CPUID.8000001BH:EAX; what every part has where that says nothing. 0: no IBS
  u32 family = 0, model = 0;
  unsigned linear_bits = 48;

  static IbsPart of(Bus& bus);
  bool has(u32 capability) const { return (caps & capability) != 0; }
  bool is_zen3() const { return family == 0x19 && !has(ibs::caps::L3_MISS_FILTER); }
  /// Zen 3 of servers, of which errata 1197 and 1293 are.
  bool is_milan() const { return family == 0x19 && model < 0x10; }
};

IbsLayout layout_of(IbsSide side, const IbsPart& part);

/// PERF_SAMPLE_DATA_SRC of an op, from IbsOpData2 and IbsOpData3.
u64 ibs_data_source(const IbsPart& part, u64 data2, u64 data3);

class IbsDriver::Unit {
 public:
  Unit(Bus& bus, IbsSide side, const DriverOptions& options);

  void attach(perf::SampleSink& sink) { sink_ = &sink; }
  bool is_there() const;
  DriverStatistics statistics() const;
  bool handle(const InterruptFrame& frame);
  perf::PmuCapabilities capabilities() const;
  Result<Done, KernelError> init(perf::Event& event) const;
  void begin() { added_ = false; }
  void cancel();
  bool add(perf::Event& event);
  void remove(perf::Event& event);
  void start(perf::Event& event, StartMode mode);
  void stop(perf::Event& event);
  Result<Done, KernelError> check_period(const perf::Event& event, u64 period) const;

 private:
  using Registers = std::array<u64, 9>;
  Result<Done, KernelError> check_config(const perf::Event& event) const;
  Result<Done, KernelError> check_privilege(const perf::Attr& attr) const;
  Result<Done, KernelError> check_latency(const perf::Attr& attr) const;
  Result<Done, KernelError> set_first_period(perf::Event& event) const;
  u64 control_of(const perf::Event& event) const;
  bool has_new_rules() const;

  bool begin_period(perf::Event& event, u64& hardware_period) const;
  void program(const perf::Event& event, u64 hardware_period, u64 random_bits);
  void count(perf::Event& event, u64 occurrences) const;
  u64 period_of(u64 control) const;
  u64 counted(u64 control) const;
  void read_registers(u64 control);
  bool sample(perf::Event& event, const InterruptFrame& frame, u64 period);
  bool is_left_out(const perf::Attr& attr, u64 ip) const;
  bool is_fast(const perf::Attr& attr) const;
  u64 latency_of(const perf::Attr& attr) const;
  bool drop(perf::Event& event);
  void keep_to_least_period(perf::Event& event) const;
  void describe_access(const perf::Attr& attr, perf::SampleData& data) const;
  u64 value_of(u32 address) const;

  RegisterAccess access_;
  IbsSide side_;
  perf::Kernel kernel_;
  IbsPart part_;
  IbsLayout layout_;
  perf::SampleSink* sink_ = nullptr;
  perf::Event* event_ = nullptr;  // the one that has the unit
  bool added_ = false;            // in the open transaction
  bool late_interrupt_ = false;   // of an event that was stopped may still come
  Registers registers_{};         // of the sample at hand, in the order of layout_.registers
  u64 interrupts_ = 0;
};

}  // namespace pmusim::driver

#endif
