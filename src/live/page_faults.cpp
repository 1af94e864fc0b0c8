// SPDX-License-Identifier: MIT
#include "live/page_faults.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

namespace pmusim::live {
namespace {

constexpr u64 fetched_page_bytes = PageMap::page_bytes;

FileDescriptor open_counter(u32 tid, u64 config, const FileDescriptor& leader) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.read_format = PERF_FORMAT_GROUP;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return FileDescriptor(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, tid, -1, leader.number(), PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

bool counts_page_faults(const perf::Attr& attr) {
  if (attr.type != static_cast<u32>(perf::EventType::software)) return false;
  const auto id = static_cast<perf::SoftwareId>(attr.config);
  return id == perf::SoftwareId::page_faults || id == perf::SoftwareId::page_faults_min ||
         id == perf::SoftwareId::page_faults_maj;
}

std::optional<PageFaults> PageFaults::of(u32 tid) {
  std::array<FileDescriptor, 3> group;
  constexpr std::array configs{PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN,
                               PERF_COUNT_SW_PAGE_FAULTS_MAJ};
  for (std::size_t n = 0; n < group.size(); ++n) {
    group[n] = open_counter(tid, configs[n], group[0]);
    if (!group[n]) return std::nullopt;
  }
  auto pages = PageMap::of(tid);
  if (!pages) return std::nullopt;
  return PageFaults(std::move(group), *std::move(pages));
}

void PageFaults::code_is_read(u64 ip) {
  constexpr u64 longest_instruction = 15;
  for (const u64 page : {ip / fetched_page_bytes, (ip + longest_instruction - 1) / fetched_page_bytes})
    if (!pages_.is_present(page)) brought_in_.insert(page);
}

void PageFaults::executes(u64 ip, u64 end) {
  for (const u64 page : {ip / fetched_page_bytes, (end - 1) / fetched_page_bytes})
    fetches_ += brought_in_.erase(page);
}

PageFaults::Count PageFaults::take() {
  std::array<u64, 4> words{};  // how many members, and their counts
  if (::read(group_[0].number(), words.data(), sizeof words) != sizeof words) return {};
  const Count now{.all = words[1] + fetches_, .minor = words[2] + fetches_, .major = words[3]};
  const Count before = std::exchange(taken_, now);
  return {.all = now.all - before.all, .minor = now.minor - before.minor, .major = now.major - before.major};
}

}  // namespace pmusim::live
