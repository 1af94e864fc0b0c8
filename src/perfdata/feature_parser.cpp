// SPDX-License-Identifier: MIT
#include "perfdata/feature_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "perfdata/machine_features.h"

namespace pmusim::perfdata {

namespace {

/// The names, by position, as perf matches them. The attribute section has the attributes and ids.
bool parse_event_description(Description& d, ByteReader& in) {
  const u32 events = in.take<u32>();
  const u32 attr_size = in.take<u32>();
  for (u32 i = 0; i < events && in.ok(); ++i) {
    in.take_bytes(attr_size);
    const u32 ids = in.take<u32>();
    std::string name = in.take_string();
    if (in.ok() && i < d.events.size()) d.events[i].name = std::move(name);
    in.take_bytes(u64{ids} * sizeof(u64));
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
  return true;
}

/// By number, as perf report --header and perf.data-file-format.txt have them.
constexpr std::array<std::string_view, 36> feature_names = {"",
                                                            "TRACING_DATA",
                                                            "BUILD_ID",
                                                            "HOSTNAME",
                                                            "OSRELEASE",
                                                            "VERSION",
                                                            "ARCH",
                                                            "NRCPUS",
                                                            "CPUDESC",
                                                            "CPUID",
                                                            "TOTAL_MEM",
                                                            "CMDLINE",
                                                            "EVENT_DESC",
                                                            "CPU_TOPOLOGY",
                                                            "NUMA_TOPOLOGY",
                                                            "BRANCH_STACK",
                                                            "PMU_MAPPINGS",
                                                            "GROUP_DESC",
                                                            "AUXTRACE",
                                                            "STAT",
                                                            "CACHE",
                                                            "SAMPLE_TIME",
                                                            "MEM_TOPOLOGY",
                                                            "CLOCKID",
                                                            "DIR_FORMAT",
                                                            "BPF_PROG_INFO",
                                                            "BPF_BTF",
                                                            "COMPRESSED",
                                                            "CPU_PMU_CAPS",
                                                            "CLOCK_DATA",
                                                            "HYBRID_TOPOLOGY",
                                                            "PMU_CAPS",
                                                            "CPU_DOMAIN_INFO",
                                                            "E_MACHINE",
                                                            "CLN_SIZE",
                                                            "MEMORY_RANGES"};

}  // namespace

std::string feature_name(unsigned number) {
  if (number == 0 || number >= feature_names.size()) return fmt::format("{}", number);
  return std::string(feature_names[number]);
}

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
  if (payload.empty()) return true;
  Metadata& m = d.metadata;
  ByteReader in(payload);
  switch (feature) {
    case Feature::tracing_data:
      d.tracepoints = tracepoint_names(payload);
      break;
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
    case Feature::directory_format:
      if (const u64 version = in.take<u64>(); in.ok()) d.directory_version = version;
      break;
    case Feature::sample_time: {
      const u64 first = in.take<u64>(), last = in.take<u64>();
      if (in.ok()) d.sample_times.emplace(first, last);
      break;
    }
    default:
      return parse_machine_feature(m, feature, in);
  }
  return in.ok();
}

}  // namespace pmusim::perfdata
