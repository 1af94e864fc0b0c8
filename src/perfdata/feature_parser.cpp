// SPDX-License-Identifier: MIT
#include "perfdata/feature_parser.h"

#include <algorithm>

#include "perf/simd_abi.h"
#include "perfdata/machine_features.h"

namespace pmusim::perfdata {

std::optional<perf::Attr> parse_attr(std::span<const std::byte> bytes) {
  constexpr u32 smallest = 64;
  if (bytes.size() < smallest) return std::nullopt;
  perf::Attr attr;
  u32 size;
  std::memcpy(&size, bytes.data() + offsetof(perf::Attr, size), sizeof size);
  if (size == 0) size = smallest;
  if (size < smallest || size > bytes.size()) return std::nullopt;
  std::array<std::byte, sizeof attr> image{};
  std::copy_n(bytes.begin(), std::min<std::size_t>(size, sizeof attr), image.begin());
  std::memcpy(&attr, image.data(), sizeof attr);
  attr.size = size;
  return perf::simd_abi_of(attr) == perf::SimdAbi::series_v7 ? perf::from_series_v7(attr) : attr;
}

namespace {

/// The names, by position, as perf matches them. The attribute section has the same ids.
bool parse_event_description(Description& d, ByteReader& in) {
  const u32 events = in.take<u32>();
  const u32 attr_size = in.take<u32>();
  for (u32 i = 0; i < events && in.ok(); ++i) {
    const auto attr = parse_attr(in.take_bytes(attr_size));
    const u32 ids = in.take<u32>();
    std::string name = in.take_string();
    in.take_bytes(u64{ids} * sizeof(u64));
    if (!attr || !in.ok()) return false;
    if (i < d.events.size()) d.events[i].name = std::move(name);
  }
  return in.ok();
}

bool parse_groups(Description& d, ByteReader& in) {
  const u32 groups = in.take<u32>();
  for (u32 i = 0; i < groups && in.ok(); ++i) {
    std::string name = in.take_string();
    const u32 leader = in.take<u32>();
    const u32 members = in.take<u32>();
    if (in.ok()) d.groups.push_back({std::move(name), leader, members});
  }
  return in.ok();
}

bool parse_build_ids(Description& d, std::span<const std::byte> payload) {
  while (payload.size() >= sizeof(BuildIdEntry)) {
    u16 size;
    std::memcpy(&size, payload.data() + offsetof(BuildIdEntry, size), sizeof size);
    if (size > payload.size() || !parse_build_id(d, payload.first(size))) return false;
    payload = payload.subspan(size);
  }
  return payload.empty();
}

}  // namespace

bool parse_build_id(Description& d, std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto entry = in.take<BuildIdEntry>();
  if (!in.ok()) return false;
  const bool sized = (entry.misc & build_id_size_valid) != 0;
  const std::size_t id_bytes =
      sized ? std::min<std::size_t>(entry.id_size, entry.id.size()) : entry.id.size();
  const bool kernel = (entry.misc & perf::misc::CPUMODE_MASK) == perf::misc::KERNEL;
  d.build_ids.push_back({in.take_rest_as_text(),
                         {entry.id.begin(), entry.id.begin() + static_cast<std::ptrdiff_t>(id_bytes)},
                         kernel ? Space::kernel : Space::user});
  return true;
}

bool parse_feature(Description& d, Feature feature, std::span<const std::byte> payload) {
  Metadata& m = d.metadata;
  ByteReader in(payload);
  switch (feature) {
    case Feature::build_id:
      return parse_build_ids(d, payload);
    case Feature::host_name:
      m.host_name = in.take_string();
      break;
    case Feature::os_release:
      m.os_release = in.take_string();
      break;
    case Feature::version:
      m.version = in.take_string();
      break;
    case Feature::arch:
      m.arch = in.take_string();
      break;
    case Feature::cpu_count:
      m.cpus = in.take<u32>();
      break;
    case Feature::cpu_description:
      m.cpu_description = in.take_string();
      break;
    case Feature::cpuid:
      m.cpuid = in.take_string();
      break;
    case Feature::total_memory:
      m.total_memory_kib = in.take<u64>();
      break;
    case Feature::command_line:
      return take_list(in, [&] { m.command_line.push_back(in.take_string()); });
    case Feature::event_description:
      return parse_event_description(d, in);
    case Feature::pmu_mappings:
      return take_list(in, [&] {
        const u32 type = in.take<u32>();
        m.pmu_mappings.emplace_back(type, in.take_string());
      });
    case Feature::group_description:
      return parse_groups(d, in);
    case Feature::sample_time: {
      const u64 first = in.take<u64>();
      d.sample_times.emplace(first, in.take<u64>());
      break;
    }
    default:
      return parse_machine_feature(m, feature, in);
  }
  return in.ok();
}

}  // namespace pmusim::perfdata
