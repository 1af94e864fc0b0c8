// SPDX-License-Identifier: MIT
#include "group_samples.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "command.h"
#include "perf_data_file.h"

namespace pmusim::test {
namespace {

GroupSample read_sample(const PerfDataFile& file, std::size_t record, const perf::Attr& attr) {
  using namespace perf::read_format;
  if ((attr.sample_type & perf::sample::READ) == 0 || (attr.read_format & GROUP) == 0)
    throw std::runtime_error("samples have no group counts");
  constexpr std::size_t header = 8;
  const bool identified = (attr.sample_type & perf::sample::IDENTIFIER) != 0;
  GroupSample sample{.ip = file.get<u64>(record + header + (identified ? 8 : 0)), .values = {}};
  std::size_t at = record + header + bytes_of_single_words(attr.sample_type);
  const u64 members = file.get<u64>(at);
  at += 8 + 8 * static_cast<std::size_t>(
                    std::popcount(attr.read_format & (TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING)));
  const std::size_t entry = 8 + 8 * static_cast<std::size_t>(std::popcount(attr.read_format & (ID | LOST)));
  for (u64 i = 0; i < members; ++i) sample.values.push_back(file.get<u64>(at + i * entry));
  return sample;
}

}  // namespace

std::vector<GroupSample> group_samples(const std::string& path) {
  const PerfDataFile file(path);
  std::vector<GroupSample> samples;
  file.for_each_sample([&](std::size_t record, const perf::Attr& attr) {
    samples.push_back(read_sample(file, record, attr));
  });
  return samples;
}

}  // namespace pmusim::test
