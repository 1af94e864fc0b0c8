// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERF_CORE_FIXTURE_H
#define PMUSIM_TESTS_PERF_CORE_FIXTURE_H

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "perf/linux_core.h"
#include "pmusim/perf/core.h"
#include "tests/perf/fake_driver.h"

namespace pmusim::perf {

/// A record as a consumer cuts it out of a ring.
struct RawRecord {
  RecordHeader header;
  std::vector<std::byte> bytes;
  RecordType type() const { return static_cast<RecordType>(header.type); }
  template <class T = u64>
  T at(std::size_t offset) const {
    T value{};
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  std::string text(std::size_t offset) const {
    const auto* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
    return {begin, strnlen(begin, bytes.size() - offset)};
  }
};

inline std::vector<RawRecord> drain_records(RingBuffer& ring) {
  std::vector<std::byte> all;
  RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  std::vector<RawRecord> records;
  for (std::size_t at = 0; at < all.size();) {
    RawRecord record;
    std::memcpy(&record.header, all.data() + at, sizeof record.header);
    record.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(at),
                        all.begin() + static_cast<std::ptrdiff_t>(at + record.header.size));
    at += record.header.size;
    records.push_back(std::move(record));
  }
  return records;
}

/// A core with one task (pid 100) that runs, over a PMU of four counters.
class CoreTest : public testing::Test {
 protected:
  explicit CoreTest(CoreOptions options = {}, std::size_t counters = 4)
      : driver(counters), linux_core(driver, options), cpu(linux_core.cpu(options.cpu)) {
    core.task_started(100, 100, "first");
    cpu.switch_to(100);
  }

  static Attr counting() {
    Attr attr;
    attr.type = static_cast<u32>(EventType::raw);
    attr.config = 0xc0;
    return attr;
  }
  static Attr sampling(u64 period, u64 sample_type = sample::IP) {
    Attr attr = counting();
    attr.sample_period = period;
    attr.sample_type = sample_type;
    return attr;
  }
  static Attr software(SoftwareId id) {
    Attr attr;
    attr.type = static_cast<u32>(EventType::software);
    attr.config = static_cast<u64>(id);
    return attr;
  }

  Event& open(const Attr& attr, Event* leader = nullptr, i32 pid = 100, i32 on = -1) {
    auto event = core.open(attr, pid, on, leader);
    EXPECT_TRUE(event.ok()) << (event.ok() ? "" : event.error().message);
    return **event;
  }
  RingBuffer& map(Event& event, std::size_t pages = 16) { return *core.mmap(event, pages).value(); }
  void count(u64 n) { driver.count(n, cpu, frame); }
  u64 value(Event& event) { return core.read(event).value().at(0); }
  std::vector<RecordType> types(RingBuffer& ring) {
    std::vector<RecordType> all;
    for (const auto& record : drain_records(ring)) all.push_back(record.type());
    return all;
  }

  FakeDriver driver;
  LinuxCore linux_core;
  PerfCore& core = linux_core;
  PerfCpu& cpu;
  InterruptFrame frame;
};

}  // namespace pmusim::perf

#endif
