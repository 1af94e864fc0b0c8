// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_PEBS_SAMPLE_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_PEBS_SAMPLE_H

#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/samples/data_source.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// RFLAGS of a record without the bit in which the format marks exact IPs.
constexpr u64 architectural_flags(u64 rflags) { return rflags & ~bit(3); }

/// The layout of the newest record, which nearly always is that of the next one too.
template <class Layout>
class NewestLayout {
 public:
  /// `make(word)` is what the layout follows from.
  template <class Make>
  const Layout& of(u64 word, Make make) {
    if (word != word_) {
      layout_ = make(word);
      word_ = word;
    }
    return layout_;
  }

 private:
  u64 word_ = 0;  // of which Layout{} is the layout
  Layout layout_;
};

/// Turns PEBS records into what the perf core needs of a sample (setup_pebs_adaptive_sample_data).
///
/// The sample it returns borrows from it and from the record, until the next call.
class PebsSampleBuilder {
 public:
  PebsSampleBuilder(const Enumeration& enumeration, PebsHost& host);

  /// Counts that the next samples carry, borrowed until then.
  void set_counts(std::span<const perf::CountAtSample> counts) { data_.counts = counts; }
  /// `record` is whole and of the PMU's format.
  /// `frame` has what the record does not: it is empty where no interrupt happened.
  const perf::SampleData& build(const perf::Event& event, std::span<const std::byte> record,
                                const InterruptFrame& frame);

 private:
  /// What records say of memory and transactions, whatever their format.
  struct Access {
    u64 address = 0, data_source = 0, tsx = 0;
    u64 weight = 0;         ///< WEIGHT, cycles
    u64 weight_struct = 0;  ///< WEIGHT_STRUCT: three numbers of cycles
  };
  void start(const perf::Event& event);
  void from_fixed(const perf::Event& event, std::span<const std::byte> record, const InterruptFrame& frame);
  void from_adaptive(const perf::Event& event, std::span<const std::byte> record);
  void from_arch(const perf::Event& event, std::span<const std::byte> record);
  /// `next_ip`, where the record has it, is read only if it is needed: it lies in another cache line.
  void set_ip(const perf::Event& event, u64 eventing_ip, const le64* next_ip);
  void fix_up_ip(const perf::Event& event, u64 next_ip);
  void set_time(const perf::Event& event, u64 tsc);
  void set_access(const perf::Event& event, const Access& access, u64 rax);
  Access access_of(const perf::Event& event, const pebs::FixedRecord& fixed) const;
  void set_fixed_registers(const perf::Event& event, const pebs::FixedRegisters& fixed,
                           const InterruptFrame& frame);
  void set_registers(const Registers& registers);
  void take_vectors(std::span<const std::byte> fragment, u64 word, u32 offset);
  void set_extended(const perf::Event& event);
  void set_branches(const perf::Event& event, std::span<const std::byte> entries);
  void set_interrupt_branches(const perf::Event& event);

  unsigned format_;
  bool traps_;           // PEBS_TRAP: fixed records show the instruction after the sampled one
  bool latency_split_;   // memory group has instruction and access latency
  bool retire_latency_;  // basic group has a retire latency
  u32 lbr_depth_;
  NewestLayout<pebs::AdaptiveLayout> adaptive_layout_;
  NewestLayout<pebs::ArchLayout> arch_layout_;
  DataSourceReader data_source_;
  PebsHost& host_;
  perf::SampleData data_;
  perf::ExtendedRegisters extended_;  // of the newest record that was asked for any
  Registers registers_;
};

/// PERF_SAMPLE_TRANSACTION of a TSX tuning word and the RAX of its instruction (abort code).
u64 transaction_word(u64 tsx, u64 rax);

}  // namespace pmusim::driver

#endif
