// SPDX-License-Identifier: MIT
#include "perfdata/features.h"

#include <algorithm>

#include "perf/byte_writer.h"
#include "perf/simd_abi.h"
#include "perfdata/machine_features.h"

namespace pmusim::perfdata {

namespace {

Payload text(const std::string& value) {
  Payload payload;
  payload.put_string(value);
  return payload;
}

Payload cpu_count(u32 cpus) {
  Payload payload;
  payload.put(cpus);  // available
  payload.put(cpus);  // online
  return payload;
}

Payload command_line(const std::vector<std::string>& arguments) {
  Payload payload;
  payload.put(static_cast<u32>(arguments.size()));
  for (const auto& argument : arguments) payload.put_string(argument);
  return payload;
}

Payload event_description(const Description& description) {
  Payload payload;
  payload.put(static_cast<u32>(description.events.size()));
  payload.put(description.attr_bytes);
  for (const auto& event : description.events) {
    payload.put_bytes(attr_image(event.attr, description).bytes());
    payload.put(static_cast<u32>(event.ids.size()));
    payload.put_string(event.name);
    payload.put_bytes(std::as_bytes(std::span(event.ids)));
  }
  return payload;
}

Payload pmu_mappings(const std::vector<std::pair<u32, std::string>>& mappings) {
  Payload payload;
  payload.put(static_cast<u32>(mappings.size()));
  for (const auto& [type, name] : mappings) {
    payload.put(type);
    payload.put_string(name);
  }
  return payload;
}

Payload groups(const std::vector<Group>& all) {
  Payload payload;
  payload.put(static_cast<u32>(all.size()));
  for (const auto& group : all) {
    payload.put_string(group.name.empty() ? "{anon_group}" : group.name);
    payload.put(group.leader);
    payload.put(group.members);
  }
  return payload;
}

Payload build_ids(const std::vector<BuildId>& all) {
  Payload payload;
  for (const auto& build_id : all) payload.put_bytes(build_id_entry(build_id, 0).bytes());
  return payload;
}

/// Stacks that only serve as call chains are no branch profile: perf report shows them as chains.
bool samples_branches(const Description& description) {
  return std::ranges::any_of(description.events, [](const EventDescription& event) {
    const bool call_chains = (event.attr.sample_type & perf::sample::CALLCHAIN) != 0 &&
                             (event.attr.branch_sample_type & perf::branch::CALL_STACK) != 0;
    return (event.attr.sample_type & perf::sample::BRANCH_STACK) != 0 && !call_chains;
  });
}

}  // namespace

Payload attr_image(const perf::Attr& attr, const Description& description) {
  perf::Attr sized = description.simd == perf::SimdAbi::series_v7 ? perf::to_series_v7(attr) : attr;
  sized.size = description.attr_bytes;
  Payload payload;
  payload.put_bytes(std::as_bytes(std::span(&sized, 1)).first(description.attr_bytes));
  return payload;
}

Payload build_id_entry(const BuildId& build_id, u32 type) {
  const std::size_t name_bytes = (build_id.path.size() + 64) / 64 * 64;
  BuildIdEntry entry;
  const std::size_t id_bytes = std::min(build_id.id.size(), entry.id.size());
  entry.type = type;
  entry.misc =
      build_id_size_valid | (build_id.space == Space::kernel ? perf::misc::KERNEL : perf::misc::USER);
  entry.size = static_cast<u16>(perf::padded(sizeof entry + name_bytes));
  std::copy_n(build_id.id.begin(), id_bytes, entry.id.begin());
  entry.id_size = static_cast<u8>(id_bytes);
  Payload payload;
  payload.put(entry);
  payload.put_padded(build_id.path, entry.size - sizeof entry);
  return payload;
}

Features make_features(const Description& d) {
  Features features;
  const Metadata& m = d.metadata;
  const auto put_text = [&](Feature feature, const std::string& value) {
    if (!value.empty()) features.emplace(feature, text(value));
  };
  put_text(Feature::host_name, m.host_name);
  put_text(Feature::os_release, m.os_release);
  put_text(Feature::version, m.version);
  put_text(Feature::arch, m.arch);
  put_text(Feature::cpu_description, m.cpu_description);
  put_text(Feature::cpuid, m.cpuid);
  if (m.cpus != 0) features.emplace(Feature::cpu_count, cpu_count(m.cpus));
  if (m.total_memory_kib != 0) features[Feature::total_memory].put(m.total_memory_kib);
  if (!m.command_line.empty()) features.emplace(Feature::command_line, command_line(m.command_line));
  if (!d.events.empty()) features.emplace(Feature::event_description, event_description(d));
  if (samples_branches(d)) features.emplace(Feature::branch_stack, Payload{});
  if (!m.pmu_mappings.empty()) features.emplace(Feature::pmu_mappings, pmu_mappings(m.pmu_mappings));
  if (!d.groups.empty()) features.emplace(Feature::group_description, groups(d.groups));
  if (d.counts) features.emplace(Feature::stat, Payload{});
  put_machine_features(features, m);
  if (!d.build_ids.empty()) features.emplace(Feature::build_id, build_ids(d.build_ids));
  if (d.compression) features.emplace(Feature::compressed, *d.compression);
  if (d.sample_times) {
    features[Feature::sample_time].put(d.sample_times->first);
    features[Feature::sample_time].put(d.sample_times->second);
  }
  return features;
}

}  // namespace pmusim::perfdata
