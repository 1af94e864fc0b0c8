// SPDX-License-Identifier: MIT
// What of a record's vector groups becomes registers of a sample (docs/sampled-registers.md).
#include <gtest/gtest.h>

#include <cstring>

#include "driver/intel/samples/pebs_sample.h"
#include "driver_fixture.h"

namespace pmusim::driver::pebs_registers_test {
namespace {

namespace sample = perf::sample;
using Bytes = std::vector<std::byte>;

/// Has registers of its own, as they are while an interrupt is handled.
class LiveHost : public PebsHost {
 public:
  perf::SampleSink& sink() override { return sink_; }
  Interval update_and_restart(perf::Event&) override { return Interval::over; }
  void restart(perf::Event&) override {}
  void stop(perf::Event&) override {}
  const perf::BranchStack* interrupt_branches(const perf::Event&) override { return nullptr; }
  const perf::BranchStack& decode_branches(const perf::Event&, std::span<const pebs::LbrRecord>) override {
    return stack_;
  }
  const perf::ExtendedRegisters* live_registers(const perf::Event&) override { return &live; }
  perf::ExtendedRegisters live{.shadow_stack_pointer = 0x11fe};

 private:
  RecordingSink sink_;
  perf::BranchStack stack_;
};

Enumeration cpu_with_format(unsigned format) {
  Enumeration e;
  e.pebs_format = format;
  e.pebs_baseline = format < Enumeration::arch_pebs_format;
  return e;
}

template <class T>
void put(Bytes& record, std::size_t offset, const T& value) {
  ASSERT_LE(offset + sizeof value, record.size());
  std::memcpy(record.data() + offset, &value, sizeof value);
}

/// A record with these groups at `ip`. Every byte of the vector groups is the number of its state component.
Bytes arch_record(u64 groups, u64 xstate, u64 ip = 0x401000) {
  const u64 word = groups | pebs::header::BASIC | pebs::header::MODE_64;
  const pebs::ArchLayout layout = pebs::arch_layout(word, 0);
  Bytes record(layout.size);
  pebs::ArchHeader header{};
  header.word = word | layout.size;
  put(record, 0, header);
  pebs::ArchBasic basic{};
  basic.eventing_ip = ip;
  put(record, layout.basic, basic);
  if (layout.gprs != 0) {
    pebs::ArchGprs gprs{};
    gprs.ssp = 0x55b;
    put(record, layout.gprs, gprs);
  }
  pebs::ArchVectorHeader vectors{};
  vectors.xstate = xstate;
  if (layout.vectors == 0) return record;
  put(record, layout.vectors, vectors);
  std::size_t at = layout.vectors + sizeof vectors;
  for (const pebs::VectorGroup& group : pebs::vector_groups) {
    if ((groups & group.bit) == 0) continue;
    std::memset(record.data() + at, static_cast<int>(group.component), group.bytes);
    at += group.bytes;
  }
  return record;
}

perf::Event event_for_registers() {
  perf::Event event;
  event.attr.precise_ip = 2;
  event.attr.sample_type = sample::IP | sample::REGS_INTR | sample::REGS_USER;
  event.attr.sample_simd_regs_enabled = 1;
  event.attr.sample_simd_vec_reg_qwords = 8;
  event.attr.sample_simd_vec_reg_intr = 0xffffffff;
  data_of(event).flags = pebs_flag::PRECISE | register_flag(event.attr);
  return event;
}

/// A piece whose bytes all are `component`.
testing::AssertionResult is_filled(std::span<const std::byte> piece, std::size_t bytes, unsigned component) {
  if (piece.size() != bytes) return testing::AssertionFailure() << piece.size() << " bytes";
  for (const std::byte b : piece)
    if (b != std::byte(component)) return testing::AssertionFailure() << static_cast<unsigned>(b);
  return testing::AssertionSuccess();
}

constexpr u64 all_valid = bit(1) | bit(2) | bit(5) | bit(6) | bit(7) | bit(19);

TEST(PebsRegisters, EveryVectorGroupOfAnArchRecordIsAPiece) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(Enumeration::arch_pebs_format), host);
  const perf::Event event = event_for_registers();
  const Bytes record = arch_record(pebs::cfg_c::VECTORS | pebs::cfg_c::GPRS, all_valid);
  const perf::SampleData& data = builder.build(event, record, {});
  ASSERT_NE(data.extended, nullptr);
  EXPECT_EQ(data.user_extended, data.extended) << "the record is of user mode";
  EXPECT_TRUE(is_filled(data.extended->xmm, 256, 1));
  EXPECT_TRUE(is_filled(data.extended->ymm_high, 256, 2));
  EXPECT_TRUE(is_filled(data.extended->opmask, 64, 5));
  EXPECT_TRUE(is_filled(data.extended->zmm_high, 512, 6));
  EXPECT_TRUE(is_filled(data.extended->hi16_zmm, 1024, 7));
  EXPECT_TRUE(is_filled(data.extended->egpr, 128, 19));
  EXPECT_EQ(data.extended->shadow_stack_pointer, 0x55bu);
}

TEST(PebsRegisters, AnInvalidGroupIsEmptyAndTheOthersStayInPlace) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(Enumeration::arch_pebs_format), host);
  const perf::Event event = event_for_registers();
  for (const pebs::VectorGroup& absent : pebs::vector_groups) {
    const Bytes record = arch_record(pebs::cfg_c::VECTORS, all_valid & ~bit(absent.component));
    const perf::ExtendedRegisters& r = *builder.build(event, record, {}).extended;
    EXPECT_EQ(r.xmm.empty(), absent.component == 1);
    EXPECT_EQ(r.ymm_high.empty(), absent.component == 2);
    EXPECT_EQ(r.egpr.empty(), absent.component == 19);
    EXPECT_EQ(r.opmask.empty(), absent.component == 5);
    EXPECT_EQ(r.zmm_high.empty(), absent.component == 6);
    EXPECT_EQ(r.hi16_zmm.empty(), absent.component == 7);
    if (absent.component != 7) {
      EXPECT_TRUE(is_filled(r.hi16_zmm, 1024, 7));
    }
    EXPECT_EQ(r.shadow_stack_pointer, 0u) << "no general registers, no SSP";
  }
}

TEST(PebsRegisters, AGroupThatTheRecordDoesNotHaveIsEmpty) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(Enumeration::arch_pebs_format), host);
  const perf::Event event = event_for_registers();
  const Bytes record = arch_record(pebs::cfg_c::XMM | pebs::cfg_c::OPMASK, all_valid);
  const perf::ExtendedRegisters& r = *builder.build(event, record, {}).extended;
  EXPECT_TRUE(is_filled(r.xmm, 256, 1));
  EXPECT_TRUE(is_filled(r.opmask, 64, 5));
  EXPECT_TRUE(r.ymm_high.empty() && r.zmm_high.empty() && r.hi16_zmm.empty() && r.egpr.empty());
  const Bytes bare = arch_record(0, 0);
  const perf::SampleData& none = builder.build(event, bare, {});
  ASSERT_NE(none.extended, nullptr);
  EXPECT_TRUE(none.extended->xmm.empty()) << "nothing is left of the record before";
}

TEST(PebsRegisters, UserModesAreReadLiveWhereTheRecordIsTheKernels) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(Enumeration::arch_pebs_format), host);
  const perf::Event event = event_for_registers();
  const Bytes record = arch_record(pebs::cfg_c::XMM | pebs::cfg_c::GPRS, all_valid, 0xffff'ffff'8100'0000);
  const perf::SampleData& data = builder.build(event, record, {});
  EXPECT_TRUE(is_filled(data.extended->xmm, 256, 1));
  EXPECT_EQ(data.extended->shadow_stack_pointer, 0u) << "SSP of a record is user mode's";
  EXPECT_EQ(data.user_extended, &host.live);
}

/// PERF_SAMPLE_WEIGHT_STRUCT of an architectural record with these words of time.
u64 weight_of(u32 retire_latency, u64 latency, u64 tsx = 0) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(Enumeration::arch_pebs_format), host);
  perf::Event event;
  event.attr.precise_ip = 2;
  event.attr.sample_type = sample::IP | sample::WEIGHT_STRUCT;
  Bytes record = arch_record(pebs::cfg_c::AUX, 0);
  const pebs::ArchLayout layout = pebs::arch_layout(pebs::header::BASIC | pebs::cfg_c::AUX, 0);
  pebs::ArchBasic basic{};
  basic.retire_latency = retire_latency;
  put(record, layout.basic, basic);
  pebs::ArchAux aux{};
  aux.latency = latency;
  aux.tsx = tsx;
  put(record, layout.aux, aux);
  return builder.build(event, record, {}).weight;
}

// Bit 16 says that the retire latency is valid; the latency word has the instruction's in 15:0, the access's
// in 47:32.
TEST(ArchitecturalRecords, HaveAccessInstructionAndRetireLatencies) {
  EXPECT_EQ(weight_of(0x1'0003, u64{0x22} << 32 | 0x11), u64{3} << 48 | u64{0x11} << 32 | 0x22);
  EXPECT_EQ(weight_of(0x0'0003, u64{0x22} << 32 | 0x11), u64{0x11} << 32 | 0x22) << "not valid";
  EXPECT_EQ(weight_of(0x1'FFFF, 0), u64{0xFFFF} << 48);
  EXPECT_EQ(weight_of(0, 0x11, 0x64), u64{0x11} << 32 | 0x64)
      << "an abort's cycles, where nothing was accessed";
}

TEST(PebsRegisters, AnAdaptiveRecordHasTheXmmOfBothSides) {
  LiveHost host;
  PebsSampleBuilder builder(cpu_with_format(4), host);
  perf::Event event = event_for_registers();
  const u64 config = pebs::data_cfg::XMM;
  const pebs::AdaptiveLayout layout = pebs::adaptive_layout(config);
  Bytes record(layout.size);
  pebs::BasicGroup basic{};
  basic.format = static_cast<u32>(config);
  basic.size = static_cast<u16>(layout.size);
  basic.eventing_ip = 0x401000;
  put(record, 0, basic);
  std::memset(record.data() + layout.xmm, 1, sizeof(pebs::XmmGroup));
  const perf::SampleData& data = builder.build(event, record, {});
  EXPECT_TRUE(is_filled(data.extended->xmm, 256, 1));
  EXPECT_EQ(data.user_extended, data.extended);
  data_of(event).flags = pebs_flag::PRECISE;  // of an event that asks for none
  EXPECT_EQ(builder.build(event, record, {}).extended, nullptr);
}

}  // namespace
}  // namespace pmusim::driver::pebs_registers_test
