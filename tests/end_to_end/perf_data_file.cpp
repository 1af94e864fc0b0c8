// SPDX-License-Identifier: MIT
#include "perf_data_file.h"

#include <bit>

#include "command.h"

namespace pmusim::test {

PerfDataFile::PerfDataFile(const std::string& path) : bytes_(read_file(path)) {
  constexpr std::size_t attrs_section = 24;
  if (!bytes_.starts_with("PERFILE2")) throw std::runtime_error(path + " is no perf.data");
  const std::size_t offset = get<u64>(attrs_section);
  std::memcpy(&first_, bytes_.data() + offset, get<u32>(offset + 4));
}

void PerfDataFile::for_each_sample(const std::function<void(std::size_t, const perf::Attr&)>& visit) const {
  constexpr std::size_t data_section = 40;
  const std::size_t begin = get<u64>(data_section), end = begin + get<u64>(data_section + 8);
  for (std::size_t at = begin; at < end;) {
    const auto header = get<perf::RecordHeader>(at);
    if (header.size < sizeof header) throw std::runtime_error("record without size");
    if (header.type == static_cast<u32>(perf::RecordType::sample)) visit(at, first_);
    at += header.size;
  }
}

std::size_t bytes_of_single_words(u64 sample_type) {
  using namespace perf::sample;
  constexpr u64 single = IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD;
  return 8 * static_cast<std::size_t>(std::popcount(sample_type & single));
}

}  // namespace pmusim::test
