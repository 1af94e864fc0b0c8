// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ANNOTATE_PERF_DATA_FIXTURE_H
#define PMUSIM_TESTS_ANNOTATE_PERF_DATA_FIXTURE_H

#include <gtest/gtest.h>

#include <cstring>

#include "pmusim/annotate/report.h"
#include "tests/annotate/counted_program.h"
#include "tests/perfdata/file_fixture.h"

namespace pmusim::annotate {

using perfdata::Writer;

inline constexpr u64 sampled = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID |
                               perf::sample::TIME | perf::sample::PERIOD | perf::sample::BRANCH_STACK;
inline constexpr u64 every_branch = perf::branch::ANY | perf::branch::USER;
inline constexpr u32 read_and_execute = 5;

inline perf::Attr attribute(u64 branches = every_branch) {
  perf::Attr attr;
  attr.type = 4;
  attr.sample_period = 1000;
  attr.sample_type = sampled;
  attr.branch_sample_type = branches;
  attr.sample_id_all = 1;
  return attr;
}

inline std::vector<std::byte> record(u32 type, u16 misc, const std::vector<u64>& words) {
  const perf::RecordHeader header{type, misc, static_cast<u16>(8 + 8 * words.size())};
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!words.empty()) std::memcpy(bytes.data() + sizeof header, words.data(), 8 * words.size());
  return bytes;
}

struct Sampled {
  u64 id = 1;
  u32 pid = 1;
  u64 ip = 0, time = 100, period = 1;
  std::vector<perf::BranchEntry> branches = {};
  std::vector<u64> counters = {};
  u16 misc = perf::misc::USER;
};

/// PERF_RECORD_SAMPLE with the fields of `sampled`, in the order of the manual.
inline std::vector<std::byte> sample(const Sampled& s) {
  std::vector<u64> words{s.id, s.ip, u64{s.pid} << 32 | s.pid, s.time, s.period, s.branches.size()};
  for (const perf::BranchEntry& entry : s.branches) {
    u64 three[3];
    std::memcpy(three, &entry, sizeof entry);
    words.insert(words.end(), std::begin(three), std::end(three));
  }
  words.insert(words.end(), s.counters.begin(), s.counters.end());
  return record(9, s.misc, words);
}

class PerfDataTest : public perfdata::FileTest {
 protected:
  void open(perfdata::Metadata metadata = {}) {
    perfdata::Options form;
    form.metadata = std::move(metadata);
    writer.emplace(*Writer::create(path(), form));
  }
  void add_event(const std::string& name, const perf::Attr& attr, u64 id = 1) {
    event.attr = attr;
    event.id = id;
    ASSERT_TRUE(writer->add_event(attr, name, {&id, 1}));
  }
  void write(const std::vector<std::byte>& bytes) { ASSERT_TRUE(writer->write(bytes)); }
  template <class Record>
  void tell(const Record& what, u64 time = 1) {
    write(perf::encode_record(what, event, {1, 1, 0, time}));
  }
  /// Process `pid` maps the program 0x100000 above its own addresses.
  perf::Mmap2Record program(u32 pid = 1) const {
    return {.pid = pid,
            .tid = pid,
            .address = counted::start + counted::moved,
            .length = counted::text_bytes,
            .page_offset = counted::text_offset,
            .protection = read_and_execute,
            .name = counted::path};
  }
  Report report(const Options& options = {}) {
    EXPECT_TRUE(writer->finish());
    auto result = analyze(path(), options);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? *std::move(result) : Report{};
  }
  static std::vector<std::string> names(const Report& report) {
    std::vector<std::string> all;
    for (const Symbol& symbol : report.symbols) all.push_back(symbol.name);
    return all;
  }
  std::optional<Writer> writer;
  perf::Event event;
};

inline const u64 in_round = counted::round + counted::moved;

}  // namespace pmusim::annotate

#endif
