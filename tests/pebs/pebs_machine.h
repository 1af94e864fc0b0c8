// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PEBS_PEBS_MACHINE_H
#define PMUSIM_TESTS_PEBS_PEBS_MACHINE_H

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "msr/register_file.h"
#include "pebs/pebs_unit.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::testing {

/// A model whose only remarkable property is its PEBS format: adaptive from 4 on, status copies in 1 and 2.
inline CpuModel model_with_format(unsigned format) {
  CpuModel m = find_cpu_model("icelake").value();
  m.pebs.format = format;
  m.pebs.distribution = 0;
  m.perf_capabilities |= msr::perf_cap::PEBS_TRAP;
  m.policies.pebs_arm_cycles = 10;
  m.policies.pebs_merge_cycles = 0;
  if (format < 4) {
    m.perfmon_version = format == 3 ? 4 : 3;
    m.pebs.baseline = false;
    m.pebs.counters = 0xF;
  }
  if (format == PebsFeatures::architectural) {
    m.pebs.baseline = false;
    m.pebs.arch_capabilities = 0x60060378;
    m.arch_perfmon_ext = true;
    m.perfmon_version = 6;
  }
  return m;
}

/// Counters, PEBS unit and memory with a DS area and a buffer of four pages, without the rest of a PMU:
/// overflows happen when the test says so.
class PebsMachine {
 public:
  static constexpr u64 area = 0x10000, buffer = 0x20000, buffer_bytes = 0x4000;

  explicit PebsMachine(CpuModel model) : model_(std::move(model)) {
    EXPECT_TRUE(memory.map(area, 0x1000));
    EXPECT_TRUE(memory.map(buffer, buffer_bytes));
    set_pointer(offsetof(DsArea64, pebs_base), buffer);
    set_pointer(offsetof(DsArea64, pebs_index), buffer);
    set_pointer(offsetof(DsArea64, pebs_maximum), buffer + buffer_bytes);
    set_pointer(offsetof(DsArea64, pebs_threshold), buffer + buffer_bytes);
    if (model_.has_arch_pebs()) {
      write(msr::PEBS_BASE, buffer | 2);
      write(msr::PEBS_INDEX, pebs::index_register::ENABLE | to_field(buffer_bytes / 16, 58, 36));
    } else {
      write(msr::DS_AREA, area);
    }
  }
  explicit PebsMachine(unsigned format) : PebsMachine(model_with_format(format)) {}
  PebsMachine(const PebsMachine&) = delete;
  PebsMachine& operator=(const PebsMachine&) = delete;

  Fault try_write(u32 address, u64 value) {
    const Fault fault = registers_.write(address, value, counters.now(), counters, pebs).fault;
    pebs.follow_enables(counters);
    return fault;
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(try_write(address, value), Fault::none) << std::hex << address << " <- " << value;
  }
  u64 read(u32 address) { return registers_.read(address, counters.now(), counters, pebs).value_or(~u64{0}); }

  void set_pointer(u64 offset, u64 value) {
    const le64 word = value;
    EXPECT_EQ(memory.write(area + offset, std::as_bytes(std::span(&word, 1))), Fault::none);
  }
  u64 pointer(u64 offset) const { return word_at(area + offset); }
  u64 index() const { return pointer(offsetof(DsArea64, pebs_index)); }
  u64 word_at(u64 address) const {
    le64 word;
    EXPECT_EQ(memory.read(address, std::as_writable_bytes(std::span(&word, 1))), Fault::none);
    return word;
  }
  template <class T>
  T record_at(u64 offset) const {
    T record;
    EXPECT_EQ(memory.read(buffer + offset, std::as_writable_bytes(std::span(&record, 1))), Fault::none);
    return record;
  }

  /// A: these counters wrap.
  void overflow(u64 mask, u64 cycle) {
    counters.set_status(mask);
    pebs.arm(mask, counters, cycle);
  }
  /// An instruction with the events of counters `occurred` retires: C, if a counter is ready for it.
  std::optional<Assist> retire(u64 cycle, u64 occurred) { return retire(instruction(cycle), occurred); }
  std::optional<Assist> retire(const Retirement& r, u64 occurred) {
    if (!pebs.busy()) return std::nullopt;
    const u64 served = pebs.due(occurred, r, counters);
    if (served == 0) return std::nullopt;
    Assist assist = pebs.write(memory, {.retirement = r,
                                        .served = served,
                                        .tsc = 2 * r.cycle,
                                        .counters = counters,
                                        .lbr = lbr,
                                        .lbr_depth = 32,
                                        .extended = extended ? &*extended : nullptr});
    for (const Assist::Reload& reload : assist.reloads) counters.set_value(reload.counter, reload.value);
    counters.clear_status(assist.clear_status);
    counters.set_status(assist.raise_status);
    return assist;
  }
  static Retirement instruction(u64 cycle) {
    return {.ip = 0x1000 + 4 * cycle, .next_ip = 0x1004 + 4 * cycle, .cycle = cycle, .length = 4};
  }

 private:
  CpuModel model_;
  RegisterFile<CounterFile, PebsUnit> registers_{model_};

 public:
  CounterFile counters{model_};
  PebsUnit pebs{model_};
  Memory memory;
  std::vector<LbrEntry> lbr;
  std::optional<ExtendedState> extended;
};

}  // namespace pmusim::testing

#endif
