// SPDX-License-Identifier: MIT
// What kvm-unit-tests' pmu_pebs asserts of a PMU, for every start value, every DATA_CFG,
// adaptive or not, single counters and many at once. Numbers in comments are those of that list.
#include <gtest/gtest.h>

#include <cstring>

#include "pmusim/arch/debug_store.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::pebs_kut_test {
namespace {

constexpr u64 area = 0x100000, buffer = 0x200000, page_bytes = 4096;
constexpr u64 start_values[] = {0, 0xFFFF'FFFF'FFF0, 0xFFFF'FFFF'FFFE, 0xFFFF'FFFF'FFFF};      // 6
constexpr u64 gp_events[] = {0x00C4, 0x00C5, 0x0300, 0x003C, 0x00C0, 0x013C, 0x4F2E, 0x412E};  // 4

enum class Records : u8 { adaptive, plain };

struct Configuration {
  u64 counters = 0;
  u64 start_value = 0;
  u64 data_cfg = 0;
  Records records = Records::plain;
  u32 record_bytes() const {
    return records == Records::adaptive ? pebs::adaptive_layout(data_cfg).size : 32;
  }
};

class Guest : public PmiHandler {
 public:
  explicit Guest(const CpuModel& model) : pmu_(model) {
    pmu_.set_pmi_handler(this);
    EXPECT_TRUE(pmu_.map_memory(area, page_bytes));
    EXPECT_TRUE(pmu_.map_memory(buffer, page_bytes));
  }

  void run(const Configuration& c) {
    enable(c);
    work();
    disable(c);
    check(c);
    reset();
  }

  void handle_pmi(const InterruptFrame&) override {  // 16
    EXPECT_NE(read(msr::X2APIC_LVTPC) & msr::lvtpc::MASKED, 0u);
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }

  u64 records = 0;

 private:
  void enable(const Configuration& c) {  // 3: this order
    write(msr::PEBS_DATA_CFG, c.data_cfg);
    store(area + offsetof(DsArea64, pebs_base), buffer);  // 2
    store(area + offsetof(DsArea64, pebs_index), buffer);
    store(area + offsetof(DsArea64, pebs_maximum), buffer + page_bytes);
    store(area + offsetof(DsArea64, pebs_threshold), buffer + c.record_bytes());
    const u64 adaptive = c.records == Records::adaptive;
    u64 fixed_ctrl = 0;
    for (const unsigned m : set_bits(c.counters >> 32)) {
      write(msr::FIXED_CTR0 + m, c.start_value);
      fixed_ctrl |= (u64{0xB} | adaptive << 32) << (4 * m);
    }
    write(msr::FIXED_CTR_CTRL, fixed_ctrl);
    for (const unsigned n : set_bits(c.counters & 0xFF)) {
      using namespace msr::evtsel;
      write(msr::PERFEVTSEL0 + n, gp_events[n] | EN | OS | USR | adaptive << 34);
      write(msr::A_PMC0 + n, c.start_value);
    }
    write(msr::DS_AREA, area);
    write(msr::PEBS_ENABLE, c.counters);
    write(msr::PERF_GLOBAL_CTRL, c.counters);
  }

  /// A loop in which every event of the list occurs, and many more than 16 times.
  void work() {
    for (int i = 0; i < 60; ++i) {
      Retirement r{.ip = 0x1000 + 4 * cycle_, .next_ip = 0x1004 + 4 * cycle_, .cycle = cycle_, .length = 4};
      r.signals = {Signal::instruction, Signal::branch, Signal::mispredicted, Signal::conditional};
      r.quantities[static_cast<unsigned>(Quantity::llc_references)] = 1;
      r.quantities[static_cast<unsigned>(Quantity::llc_misses)] = 1;
      r.quantities[static_cast<unsigned>(Quantity::cycles)] = 3;
      cycle_ += 3;
      pmu_.retire(r);
    }
  }

  void disable(const Configuration& c) {  // 9
    if ((c.data_cfg & 1) != 0) write(msr::PEBS_ENABLE, 0);
    write(msr::PERF_GLOBAL_CTRL, 0);
  }

  void check(const Configuration& c) {
    const u64 index = load(area + offsetof(DsArea64, pebs_index));
    const bool signalled = (read(msr::PERF_GLOBAL_STATUS) & msr::status::OVF_BUF) != 0;
    if (!signalled) {  // 10
      EXPECT_EQ(index, buffer);
      EXPECT_EQ(load(buffer), 0u);
      return;
    }
    EXPECT_GT(index, buffer);  // 11
    for (u64 at = buffer; at < index; at += c.record_bytes()) {
      ++records;
      const u64 format_and_size = load(at);
      EXPECT_NE(load(at + 0x10) & c.counters, 0u);  // 12
      ASSERT_EQ(format_and_size >> 48, c.record_bytes());
      EXPECT_EQ(format_and_size & low_bits(32), c.records == Records::adaptive ? c.data_cfg : 0);
      check_lbr_is_empty(at, c);
    }
  }

  void check_lbr_is_empty(u64 record, const Configuration& c) {  // 13
    if (c.records == Records::plain || (c.data_cfg & pebs::data_cfg::LBR) == 0) return;
    const u32 lbr = pebs::adaptive_layout(c.data_cfg).lbr;
    for (u32 entry = 0; entry < 32; ++entry) {
      EXPECT_EQ(load(record + lbr + 24 * entry), 0u);
      EXPECT_EQ(load(record + lbr + 24 * entry + 8), 0u);
    }
  }

  void reset() {  // 15
    for (const u32 address : {msr::PEBS_ENABLE, msr::DS_AREA, msr::PEBS_DATA_CFG, msr::PERF_GLOBAL_CTRL})
      write(address, 0);
    write(msr::PERF_GLOBAL_STATUS_RESET, read(msr::PERF_GLOBAL_STATUS));
    write(msr::FIXED_CTR_CTRL, 0);
    for (unsigned n = 0; n < 8; ++n) write(msr::PERFEVTSEL0 + n, 0);
    for (const u64 page : {area, buffer}) std::memset(pmu_.memory(page, page_bytes).data(), 0, page_bytes);
  }

  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu_.wrmsr(address, value), Fault::none) << std::hex << address << " <- " << value;
  }
  u64 read(u32 address) { return pmu_.rdmsr(address).value(); }
  u64 load(u64 address) {
    le64 word;
    EXPECT_EQ(pmu_.read_memory(address, std::as_writable_bytes(std::span(&word, 1))), Fault::none);
    return word;
  }
  void store(u64 address, u64 value) {
    const le64 word = value;
    EXPECT_EQ(pmu_.write_memory(address, std::as_bytes(std::span(&word, 1))), Fault::none);
  }

  Pmu pmu_;
  u64 cycle_ = 1;
};

std::vector<u64> counter_sets(const CpuModel& model) {  // 8
  std::vector<u64> sets;
  for (const unsigned counter : set_bits(model.pebs.counters & (0xFF | u64{0xFFFF} << 32)))
    sets.push_back(bit(counter));
  sets.push_back(model.pebs.counters & (0x55 | u64{0xFFFF} << 32));
  return sets;
}

std::vector<std::pair<u64, Records>> data_configurations() {  // 7
  std::vector<std::pair<u64, Records>> all{{0, Records::plain}};
  for (u64 nibble = 0; nibble < 16; ++nibble) {
    const u64 data_cfg = nibble | ((nibble & pebs::data_cfg::LBR) != 0 ? u64{31} << 24 : 0);
    all.push_back({data_cfg, Records::adaptive});
    all.push_back({data_cfg, Records::plain});
  }
  return all;
}

class KvmUnitTest : public testing::TestWithParam<const char*> {};

TEST_P(KvmUnitTest, HoldsForEveryStartValueConfigAndCounterSet) {
  const CpuModel model = find_cpu_model(GetParam()).value();
  ASSERT_TRUE(model.pebs.baseline);
  Guest guest(model);
  for (const u64 start_value : start_values)
    for (const auto& [data_cfg, records] : data_configurations())
      for (const u64 counters : counter_sets(model)) {
        SCOPED_TRACE(testing::Message() << std::hex << "start " << start_value << " DATA_CFG " << data_cfg
                                        << " counters " << counters);
        guest.run({counters, start_value, data_cfg, records});
        if (testing::Test::HasFailure()) return;
      }
  EXPECT_GT(guest.records, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Models, KvmUnitTest,
                         testing::Values("icelake", "sapphirerapids", "graniterapids", "lioncove"));

}  // namespace
}  // namespace pmusim::pebs_kut_test
