// SPDX-License-Identifier: MIT
#include "perfdata/machine_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pmusim::perfdata {

namespace {

/// Increasing CPU numbers as a list: "0-3,8".
std::string cpu_list(const std::vector<u32>& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", cpus[first]);
    if (last != first) text += fmt::format("-{}", cpus[last]);
    first = last + 1;
  }
  return text;
}

/// The CPUs that share a package, a core or a die, one list for each.
template <class Key>
void put_siblings(Payload& payload, const std::vector<CpuPlace>& places, Key key) {
  std::map<decltype(key(CpuPlace{})), std::vector<u32>> cpus;
  for (u32 cpu = 0; cpu < places.size(); ++cpu) cpus[key(places[cpu])].push_back(cpu);
  payload.put(static_cast<u32>(cpus.size()));
  for (const auto& [shared, siblings] : cpus) payload.put_string(cpu_list(siblings));
}

Payload cpu_topology(const std::vector<CpuPlace>& places) {
  Payload payload;
  put_siblings(payload, places, [](const CpuPlace& p) { return p.package; });
  put_siblings(payload, places, [](const CpuPlace& p) { return std::pair(p.package, p.core); });
  for (const CpuPlace& place : places) {
    payload.put(place.core);
    payload.put(place.package);
  }
  put_siblings(payload, places, [](const CpuPlace& p) { return std::pair(p.package, p.die); });
  for (const CpuPlace& place : places) payload.put(place.die);
  return payload;
}

std::vector<CpuPlace> take_cores_and_packages(ByteReader& in, u32 cpus) {
  std::vector<CpuPlace> places;
  for (u32 cpu = 0; cpu < cpus && in.ok(); ++cpu) {
    const u32 core = in.take<u32>();
    places.push_back({.package = in.take<u32>(), .core = core});
  }
  if (!in.ok()) places.clear();
  return places;
}

/// The lists of siblings follow from the places. Nothing says how many places there are but NRCPUS. perf
/// before 3.19 wrote no places, and before 5.3, or where the kernel does not tell, no dies.
bool parse_cpu_topology(Metadata& m, ByteReader& in) {
  const auto skip_siblings = [&] { return take_list(in, [&] { in.take_string(); }); };
  if (!skip_siblings() || !skip_siblings()) return false;
  if (in.rest() == 0 || m.cpus == 0) return true;
  m.cpu_places = take_cores_and_packages(in, m.cpus);
  if (in.rest() == 0) return in.ok();
  if (!skip_siblings()) return false;
  for (CpuPlace& place : m.cpu_places) place.die = in.take<u32>();
  return in.ok();
}

Payload numa_topology(const std::vector<NumaNode>& nodes) {
  Payload payload;
  payload.put(static_cast<u32>(nodes.size()));
  for (const NumaNode& node : nodes) {
    payload.put(node.number);
    payload.put(node.total_kib);
    payload.put(node.free_kib);
    payload.put_string(node.cpus);
  }
  return payload;
}

NumaNode take_node(ByteReader& in) {
  NumaNode node;
  node.number = in.take<u32>();
  node.total_kib = in.take<u64>();
  node.free_kib = in.take<u64>();
  node.cpus = in.take_string();
  return node;
}

/// Whether the nodes are no larger together than memories are, 256 TiB.
bool fits_bitmaps(const std::vector<NumaNode>& nodes) {
  u64 left_kib = u64{1} << 38;
  return std::ranges::all_of(nodes, [&](const NumaNode& node) {
    const bool fits = node.total_kib <= left_kib;
    left_kib -= fits ? node.total_kib : 0;
    return fits;
  });
}

/// Which of memory's blocks are at which node, as bits. The nodes' memory follows one another from address 0
/// on, each in whole blocks.
Payload memory_topology(const std::vector<NumaNode>& nodes) {
  constexpr u64 version = 1, block_bytes = 128 << 20, block_kib = block_bytes / 1024, word_bits = 64;
  Payload payload;
  payload.put(version);
  payload.put(block_bytes);
  payload.put(u64{nodes.size()});
  u64 begin = 0;
  for (const NumaNode& node : nodes) {
    const u64 end = begin + (node.total_kib + block_kib - 1) / block_kib;
    payload.put(u64{node.number});
    payload.put(end);
    payload.put(end);  // the bitmap has its length, too
    for (u64 word = 0; word < end; word += word_bits) {
      u64 bits = 0;
      for (u64 block = std::max(word, begin); block < std::min(word + word_bits, end); ++block)
        bits |= u64{1} << (block - word);
      payload.put(bits);
    }
    begin = end;
  }
  return payload;
}

constexpr u32 cache_version = 1;

Payload caches(const std::vector<Cache>& all) {
  Payload payload;
  payload.put(cache_version);
  payload.put(static_cast<u32>(all.size()));
  for (const Cache& cache : all) {
    for (const u32 number : {cache.level, cache.line_bytes, cache.sets, cache.ways}) payload.put(number);
    for (const std::string* text : {&cache.type, &cache.size, &cache.cpus}) payload.put_string(*text);
  }
  return payload;
}

Cache take_cache(ByteReader& in) {
  Cache cache;
  for (u32* number : {&cache.level, &cache.line_bytes, &cache.sets, &cache.ways}) *number = in.take<u32>();
  for (std::string* text : {&cache.type, &cache.size, &cache.cpus}) *text = in.take_string();
  return cache;
}

constexpr u32 clock_data_version = 1;

Payload clock_data(const SampleClock& clock) {
  Payload payload;
  payload.put(clock_data_version);
  payload.put(clock.id);
  payload.put(clock.wall_ns);
  payload.put(clock.clock_ns);
  return payload;
}

bool parse_clock_data(SampleClock& clock, ByteReader& in) {
  if (in.take<u32>() != clock_data_version) return in.ok();
  clock.id = in.take<u32>();
  clock.wall_ns = in.take<u64>();
  clock.clock_ns = in.take<u64>();
  return in.ok();
}

bool is_of_hybrid(const PmuFeature& pmu) { return !pmu.cpus.empty(); }

Payload hybrid_topology(const std::vector<PmuFeature>& pmus) {
  Payload payload;
  payload.put(static_cast<u32>(std::ranges::count_if(pmus, is_of_hybrid)));
  for (const PmuFeature& pmu : pmus) {
    if (!is_of_hybrid(pmu)) continue;
    payload.put_string(pmu.name);
    payload.put_string(pmu.cpus);
  }
  return payload;
}

Payload pmu_capabilities(const std::vector<PmuFeature>& pmus) {
  Payload payload;
  payload.put(static_cast<u32>(pmus.size()));
  for (const PmuFeature& pmu : pmus) {
    put_capabilities(payload, pmu.capabilities);
    payload.put_string(pmu.name);
  }
  return payload;
}

/// Of the PMU that the other of the two features may have named already.
PmuFeature& pmu_of(Metadata& m, const std::string& name) {
  for (PmuFeature& pmu : m.pmus)
    if (pmu.name == name) return pmu;
  return m.pmus.emplace_back(PmuFeature{name, {}, {}});
}

/// Unless `in` ended within it.
template <class T>
void keep(std::vector<T>& all, T one, const ByteReader& in) {
  if (in.ok()) all.push_back(std::move(one));
}

SampleClock& sample_clock(Metadata& m) { return m.sample_clock ? *m.sample_clock : m.sample_clock.emplace(); }

}  // namespace

void put_capabilities(Payload& payload, const Capabilities& capabilities) {
  payload.put(static_cast<u32>(capabilities.size()));
  for (const auto& [name, value] : capabilities) {
    payload.put_string(name);
    payload.put_string(value);
  }
}

Capabilities take_capabilities(ByteReader& in) {
  Capabilities capabilities;
  take_list(in, [&] {
    std::string name = in.take_string();
    capabilities.emplace_back(std::move(name), in.take_string());
  });
  return capabilities;
}

void put_machine_features(Features& features, const Metadata& m) {
  if (!m.cpu_places.empty()) features.emplace(Feature::cpu_topology, cpu_topology(m.cpu_places));
  if (!m.numa_nodes.empty()) {
    features.emplace(Feature::numa_topology, numa_topology(m.numa_nodes));
    if (fits_bitmaps(m.numa_nodes)) features.emplace(Feature::memory_topology, memory_topology(m.numa_nodes));
  }
  if (!m.caches.empty()) features.emplace(Feature::cache, caches(m.caches));
  if (!m.cpu_pmu_caps.empty()) put_capabilities(features[Feature::cpu_pmu_caps], m.cpu_pmu_caps);
  if (m.sample_clock) {
    features[Feature::clock_id].put(m.sample_clock->resolution_ns);
    features.emplace(Feature::clock_data, clock_data(*m.sample_clock));
  }
  if (std::ranges::any_of(m.pmus, is_of_hybrid))
    features.emplace(Feature::hybrid_topology, hybrid_topology(m.pmus));
  if (!m.pmus.empty()) features.emplace(Feature::pmu_caps, pmu_capabilities(m.pmus));
}

bool parse_machine_feature(Metadata& m, Feature feature, ByteReader& in) {
  switch (feature) {
    case Feature::cpu_topology:
      return parse_cpu_topology(m, in);
    case Feature::numa_topology:
      return take_list(in, [&] { keep(m.numa_nodes, take_node(in), in); });
    case Feature::cache:
      if (in.take<u32>() != cache_version) return in.ok();
      return take_list(in, [&] { keep(m.caches, take_cache(in), in); });
    case Feature::cpu_pmu_caps:
      m.cpu_pmu_caps = take_capabilities(in);
      return in.ok();
    case Feature::clock_id:
      sample_clock(m).resolution_ns = in.take<u64>();
      return in.ok();
    case Feature::clock_data:
      return parse_clock_data(sample_clock(m), in);
    case Feature::hybrid_topology:
      return take_list(in, [&] {
        PmuFeature& pmu = pmu_of(m, in.take_string());
        pmu.cpus = in.take_string();
      });
    case Feature::pmu_caps:
      return take_list(in, [&] {
        Capabilities capabilities = take_capabilities(in);
        pmu_of(m, in.take_string()).capabilities = std::move(capabilities);
      });
    default:
      return true;
  }
}

}  // namespace pmusim::perfdata
