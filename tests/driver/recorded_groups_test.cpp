// SPDX-License-Identifier: MIT
// Groups whose counters architectural PEBS records have, as Linux 7.3 drives them.
#include <gtest/gtest.h>

#include <algorithm>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using perf::Event;
using perf::Kernel;
using perf::PmuDriver;

perf::Attr precise_with_read(u64 config) {
  perf::Attr attr = Rig::precise(config, 2, 1000);
  attr.sample_type = perf::sample::IP | perf::sample::READ;
  return attr;
}

/// Hardware has written a record that belongs to no counter.
void put_record(Rig& rig) {
  constexpr u64 word = pebs::header::BASIC;
  const u64 bytes = pebs::arch_layout(word, 32).size;
  const le64 head = word | bytes;
  ASSERT_EQ(rig.bus.write_memory(PebsOptions{}.buffer_address, std::as_bytes(std::span(&head, 1))),
            Fault::none);
  rig.bus.msrs[msr::PEBS_INDEX] |= bytes;
}
bool holds_record(const Rig& rig) {
  return (rig.bus.msrs[msr::PEBS_INDEX] & pebs::index_register::WRITE_OFFSET) != 0;
}

// Linux 7.3: intel_pmu_disable_event_ext; what is posted for 6.19 drained first.
TEST(RecordedGroups, SinceLinux7_3AMemberStopsWithoutADrain) {
  for (const Kernel kernel : {Kernel::v7_1, Kernel::v7_3}) {
    Rig rig(panther_cove(), {.kernel = kernel});
    Event& leader = rig.opened(precise_with_read(0xC4));
    Event& member = rig.opened(Rig::raw(0xC0), &leader);
    Event& single = rig.opened(Rig::precise(0xC5, 2));
    single.attr.sample_type |= perf::sample::CALLCHAIN;
    ASSERT_TRUE(rig.schedule(leader) && rig.schedule(single)) << rig.refusal;
    put_record(rig);
    rig.driver.stop(member, PmuDriver::StopMode::plain);
    EXPECT_EQ(holds_record(rig), kernel == Kernel::v7_3);
  }
}

// Linux 7.3: intel_pmu_read_event.
TEST(RecordedGroups, SinceLinux7_3AMemberIsReadFromRecordsAlone) {
  for (const Kernel kernel : {Kernel::v7_1, Kernel::v7_3}) {
    Rig rig(panther_cove(), {.kernel = kernel});
    Event& leader = rig.opened(precise_with_read(0xC4));
    Event& member = rig.opened(Rig::raw(0xC0), &leader);
    ASSERT_TRUE(rig.schedule(leader)) << rig.refusal;
    rig.count(member, 12);
    rig.driver.read(member);
    EXPECT_EQ(member.count, kernel == Kernel::v7_3 ? 0u : 12u);
  }
}

// Linux 7.3: handle_pmi_common() clears the bits of the number of PERF_METRICS' bit, 48, and not that bit.
TEST(RecordedGroups, Linux7_3ForgetsGp4And5BehindADrain) {
  for (const Kernel kernel : {Kernel::v7_1, Kernel::v7_3}) {
    Rig rig(panther_cove(), {.kernel = kernel});
    Event& slots = rig.opened(Rig::raw(0x0400));
    rig.opened(Rig::raw(0x8000), &slots);
    rig.opened(precise_with_read(0xC4), &slots);
    ASSERT_TRUE(rig.schedule(slots)) << rig.refusal;
    std::vector<Event*> sampling;
    for (int n = 0; n < 6; ++n) {
      sampling.push_back(&rig.opened(Rig::raw(0xC6, 1000)));
      ASSERT_TRUE(rig.schedule(*sampling.back()));
    }
    for (Event* event : sampling) rig.count(*event, 1000);
    rig.bus.msrs[msr::PERF_GLOBAL_STATUS] |= msr::status::ARCH_PEBS;
    rig.interrupt();
    for (const Event* event : sampling) {
      const bool sampled =
          std::ranges::any_of(rig.sink.samples, [&](const auto& s) { return s.event == event; });
      const int counter = data_of(*event).index;
      EXPECT_EQ(sampled, kernel == Kernel::v7_1 || (counter != 4 && counter != 5)) << counter;
    }
  }
}

// Linux 7.3: x86_pmu_enable() sets its period on the new counter (PERF_HES_ARCH), and does not start it.
TEST(RecordedGroups, SinceLinux7_3AStoppedEventPresetsANewCounter) {
  for (const Kernel kernel : {Kernel::v7_1, Kernel::v7_3}) {
    Rig rig(skymont(), {.kernel = kernel});
    Event& stopped = rig.opened(Rig::raw(0xC4, 1000));
    ASSERT_TRUE(rig.schedule(stopped));
    ASSERT_EQ(data_of(stopped).index, 0);
    rig.driver.stop(stopped, PmuDriver::StopMode::plain);
    // Loads' latency is on GP 0 and 1 alone.
    ASSERT_TRUE(rig.schedule(rig.opened(Rig::precise(0x05D0, 1))) &&
                rig.schedule(rig.opened(Rig::precise(0x05D0, 1))));
    ASSERT_GT(data_of(stopped).index, 1);
    EXPECT_TRUE(stopped.hw.stopped);
    const u64 preset = (0 - u64{1000}) & rig.driver.enumeration().counter_mask();
    EXPECT_EQ(rig.counter(stopped), kernel == Kernel::v7_3 ? preset : 0u);
  }
}

}  // namespace
}  // namespace pmusim::driver
