// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERFDATA_FILE_FIXTURE_H
#define PMUSIM_TESTS_PERFDATA_FILE_FIXTURE_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "perf/records.h"
#include "perfdata/writer.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

/// A directory of its own for each test, gone afterwards.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("pmusim_") + test->test_suite_name() + "_" + test->name() + "_" +
                       std::to_string(::getpid());
    std::ranges::replace(name, '/', '_');
    directory_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path path() const { return directory_ / "perf.data"; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }
  const std::filesystem::path& directory() const { return directory_; }
  std::vector<std::byte> content() const {
    std::ifstream in(path(), std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(chars));
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::filesystem::path directory_;
};

/// An event that samples time and branches.
inline perf::Event sampled_event(u64 id = 7) {
  perf::Event event;
  event.id = id;
  event.attr.type = 4;
  event.attr.sample_period = 1000;
  event.attr.sample_id_all = 1;
  event.attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID |
                           perf::sample::TIME | perf::sample::BRANCH_STACK;
  event.attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  event.layout = perf::make_sample_layout(event.attr);
  return event;
}

inline std::vector<std::byte> sample_at(u64 time, const perf::Event& event = sampled_event()) {
  std::vector<perf::BranchEntry> branches(2);
  branches[0].from = time;
  branches[1].to = time;
  const perf::BranchStack stack{branches, 0, {}};
  perf::SampleData data;
  data.ip = time + 1;
  data.branches = &stack;
  const InterruptFrame frame;
  perf::SampleEnvironment environment;
  environment.moment = {100, 101, 0, time};
  const perf::Sample sample{event, data, frame, environment};
  const auto size = perf::sample_size(sample);
  std::vector<std::byte> bytes(size.bytes);
  perf::write_sample(bytes.data(), sample, size);
  return bytes;
}

/// Something of every feature that the writer knows.
inline Metadata everything() {
  Metadata m;
  m.host_name = "pmusim";
  m.os_release = "6.12";
  m.version = "0.1";
  m.cpu_description = "Sapphire Rapids";
  m.cpuid = "GenuineIntel,6,143,8";
  m.cpus = 4;
  m.total_memory_kib = 1 << 20;
  m.command_line = {"pmusim", "record", "a trace"};
  m.pmu_mappings = {{4, "cpu"}, {1, "software"}};
  m.cpu_pmu_caps = {{"branches", "32"}};
  m.pmus = {{"cpu_core", "0-1", {{"branches", "32"}, {"branch_counter_nr", "4"}}},
            {"cpu_atom", "2-3", {{"branches", "16"}}}};
  m.cpu_places = {{0, 0, 0}, {0, 0, 0}, {0, 1, 4}, {1, 0, 0}};
  m.numa_nodes = {{0, 1 << 19, 1 << 18, "0-2"}, {1, 1 << 19, 0, "3"}};
  m.caches = {{1, 64, 64, 12, "Data", "48K", "0-1"}, {3, 64, 4096, 12, "Unified", "3M", "0-3"}};
  m.sample_clock = SampleClock{4, 1, 1'700'000'000'000'000'000, 25};
  return m;
}

/// Two events, a COMM and `samples` samples that take turns between them.
inline void write_file(const std::filesystem::path& path, Options options, u64 samples) {
  auto writer = Writer::create(path, std::move(options));
  ASSERT_TRUE(writer.ok());
  const perf::Event events[2] = {sampled_event(7), sampled_event(8)};
  for (const auto& event : events)
    ASSERT_TRUE(writer->add_event(event.attr, "event" + std::to_string(event.id), {&event.id, 1}));
  writer->add_group("", 0, 2);
  const std::vector<std::byte> id(20, std::byte{0x5a});
  writer->add_build_id("/bin/program", id);
  ASSERT_TRUE(
      writer->write(perf::encode_record(perf::CommRecord{100, 101, "program"}, events[0], {100, 101, 0, 1})));
  for (u64 i = 0; i < samples; ++i) ASSERT_TRUE(writer->write(sample_at(10 + i, events[i % 2])));
  ASSERT_TRUE(writer->finish());
}

}  // namespace pmusim::perfdata

#endif
