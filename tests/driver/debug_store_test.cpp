// SPDX-License-Identifier: MIT
// The DS management area (SDM vol. 3, "DS save area") and its two users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/intel/debug_store/area.h"
#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using testing::ElementsAre;
using Writer = DebugStoreArea::Writer;

constexpr u64 area_address = 0x1000;

struct AreaRig {
  FakeBus bus;
  RegisterAccess access{bus};
  DebugStoreArea area{access, area_address};

  AreaRig() { bus.msrs[msr::DS_AREA] = 0; }

  DsArea64 pointers() {
    DsArea64 words;
    EXPECT_EQ(bus.read_memory(area_address, std::as_writable_bytes(std::span(&words, 1))), Fault::none);
    return words;
  }
  void write_word(u64 offset, u64 value) {
    const le64 word = value;
    EXPECT_EQ(bus.write_memory(area_address + offset, std::as_bytes(std::span(&word, 1))), Fault::none);
  }
};

TEST(DebugStore, BothWritersHaveTheirBufferInOneArea) {
  AreaRig rig;
  ASSERT_EQ(rig.area.set_up(Writer::pebs, {0x10000, 4096, 144, 288}), Fault::none);
  ASSERT_EQ(rig.area.set_up(Writer::branch_trace, {0x20000, 4096, 24, 2400}), Fault::none);
  EXPECT_THAT(rig.bus.writes, ElementsAre(std::pair(msr::DS_AREA, area_address)));
  const DsArea64 area = rig.pointers();
  EXPECT_EQ(area.pebs_base, 0x10000u);
  EXPECT_EQ(area.pebs_index, 0x10000u);
  EXPECT_EQ(area.pebs_maximum, 0x10000u + 28 * 144);
  EXPECT_EQ(area.pebs_threshold, 0x10000u + 288);
  EXPECT_EQ(area.bts_base, 0x20000u);
  EXPECT_EQ(area.bts_index, 0x20000u);
  EXPECT_EQ(area.bts_maximum, 0x20000u + 170 * 24);
  EXPECT_EQ(area.bts_threshold, 0x20000u + 2400);
  rig.area.set_threshold(Writer::branch_trace, 24);
  EXPECT_EQ(rig.pointers().bts_threshold, 0x20000u + 24);
}

// Linux: alloc_bts_buffer reserves for what is stored until the interrupt is taken; of a buffer without that
// much room every record interrupts.
TEST(DebugStore, ASmallBranchTraceBufferInterruptsAtEveryRecord) {
  constexpr u64 record = sizeof(BtsRecord64), reserved = 170;
  for (const u64 records : {reserved + 2, reserved + 1, reserved, u64{10}}) {
    FakeBus cpu = skylake();
    cpu.leaves[{1, 0}].ecx |= cpuid_ds_cpl;
    Rig rig(cpu, {.bts = {.buffer_bytes = records * record}});
    perf::Attr every_branch = Rig::generic(perf::HardwareId::branch_instructions, 1);
    every_branch.exclude_kernel = 1;
    ASSERT_TRUE(rig.schedule(rig.opened(every_branch)));
    DsArea64 area;
    ASSERT_EQ(rig.bus.read_memory(rig.bus.msrs[msr::DS_AREA], std::as_writable_bytes(std::span(&area, 1))),
              Fault::none);
    EXPECT_EQ(area.bts_threshold - area.bts_base, (records == reserved + 2 ? 2 : 1) * record) << records;
  }
}

TEST(DebugStore, TakingRecordsEmptiesOneBufferAndKeepsTheOther) {
  AreaRig rig;
  ASSERT_EQ(rig.area.set_up(Writer::pebs, {0x10000, 4096, 144, 144}), Fault::none);
  ASSERT_EQ(rig.area.set_up(Writer::branch_trace, {0x20000, 4096, 24, 24}), Fault::none);
  EXPECT_TRUE(rig.area.take(Writer::pebs).empty());
  rig.write_word(offsetof(DsArea64, pebs_index), 0x10000 + 144);
  rig.write_word(offsetof(DsArea64, bts_index), 0x20000 + 48);
  EXPECT_TRUE(rig.area.holds_records(Writer::pebs));
  EXPECT_EQ(rig.area.take(Writer::pebs).size(), 144u);
  EXPECT_FALSE(rig.area.holds_records(Writer::pebs));
  EXPECT_TRUE(rig.area.holds_records(Writer::branch_trace));
  EXPECT_EQ(rig.area.take(Writer::branch_trace).size(), 48u);
  EXPECT_EQ(rig.access.faults().count, 0u);
}

TEST(DebugStore, AnIndexBeforeItsBufferIsAFaultAndReadsNothing) {
  for (const Writer writer : {Writer::pebs, Writer::branch_trace}) {
    AreaRig rig;
    ASSERT_EQ(rig.area.set_up(writer, {0x10000, 4096, 24, 24}), Fault::none);
    const u64 index = writer == Writer::pebs ? offsetof(DsArea64, pebs_index) : offsetof(DsArea64, bts_index);
    rig.write_word(index, 0x8000);
    EXPECT_TRUE(rig.area.take(writer).empty());
    EXPECT_EQ(rig.access.faults().count, 1u);
    EXPECT_EQ(rig.access.faults().first.address, area_address + index);
    EXPECT_EQ(rig.access.faults().first.value, 0x8000u);
    EXPECT_FALSE(rig.area.holds_records(writer)) << "the next record goes where it belongs";
  }
}

TEST(DebugStore, AnAreaThatIsGoneMayHoldRecordsButYieldsNone) {
  AreaRig rig;
  EXPECT_TRUE(rig.area.holds_records(Writer::pebs));
  EXPECT_TRUE(rig.area.take(Writer::pebs).empty());
}

TEST(DebugStore, BranchesAreTracedWherePebsFoundNoRoomForItsBuffer) {
  FakeBus cpu = skylake();
  cpu.leaves[{1, 0}].ecx |= cpuid_ds_cpl;
  const DriverOptions options;
  ASSERT_TRUE(cpu.map_memory(options.pebs.buffer_address, 4096));
  Rig rig(cpu, options);
  EXPECT_EQ(rig.driver.capabilities().max_precise, 0u);
  perf::Attr every_branch = Rig::generic(perf::HardwareId::branch_instructions, 1);
  every_branch.exclude_kernel = 1;
  ASSERT_EQ(rig.error_of(every_branch), 0) << rig.refusal;
  EXPECT_EQ(rig.bus.msrs[msr::DS_AREA], options.debug_store_address);
}

}  // namespace
}  // namespace pmusim::driver
