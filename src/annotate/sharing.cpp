// SPDX-License-Identifier: MIT
#include "annotate/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "annotate/perf_data.h"
#include "annotate/resolver.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::annotate {

namespace {

/// Parts of union perf_mem_data_src.
constexpr u64 is_load = bit(1), is_store = bit(2), remote_caches = bit(15) | bit(16), remote = bit(37),
              snoop_modified = bit(23);
constexpr u64 needed = perf::sample::ADDR | perf::sample::DATA_SRC;

bool samples_accesses(const perf::Attr& attr) { return (attr.sample_type & needed) == needed; }

/// PERF_SAMPLE_WEIGHT_STRUCT keeps the latency in the low half.
u64 latency_of(const perfdata::EventSample& sample) {
  const bool has_parts = (sample.event.attr.sample_type & perf::sample::WEIGHT_STRUCT) != 0;
  return has_parts ? field(sample.sample.weight, 31, 0) : sample.sample.weight;
}

AccessSamples counts_of(const perfdata::EventSample& sample) {
  const u64 source = sample.sample.data_source;
  AccessSamples counts;
  counts.stores = (source & is_store) != 0;
  counts.loads = (source & is_load) != 0;
  if (counts.loads == 0 || (source & snoop_modified) == 0) return counts;
  const bool from_afar = (source & (remote_caches | remote)) != 0;
  (from_afar ? counts.remote_hitm : counts.local_hitm) = 1;
  counts.hitm_cycles = latency_of(sample);
  return counts;
}

void add_known(std::set<u32>& all, u32 number) {
  if (number != perfdata::absent_32) all.insert(number);
}

class SharingAnalysis {
 public:
  explicit SharingAnalysis(const Options& options) : options_(options), resolver_(spaces_, options) {}

  Result<SharingReport, Error> analyze(const perfdata::Reader& file) {
    perfdata::Reader first = file.from_start();
    if (auto done = learn_processes(spaces_, first, options_); !done) return Failure(done.error());
    if (std::ranges::none_of(first.events(), [](const auto& e) { return samples_accesses(e.attr); }))
      return Failure(
          Error("no event samples memory accesses with address and data source, as 'pmusim record -e "
                "cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P -d' and 'perf c2c record' do"));
    perfdata::SampleReader samples(file.from_start());
    while (true) {
      const auto next = samples.next();
      if (!next) return Failure(next.error());
      if (!*next) break;
      add(**next);
    }
    return report(samples.warnings());
  }

 private:
  using LineKey = std::pair<u32, u64>;                                            // process, address
  using AccessKey = std::tuple<u32, std::string, std::string, std::string, u32>;  // as SharedAccess
  struct Line {
    AccessSamples samples;
    std::map<AccessKey, SharedAccess> accesses;
  };

  void add(const perfdata::EventSample& sample) {
    if (!samples_accesses(sample.event.attr)) return;
    const perfdata::SampleRecord& record = sample.sample;
    const AccessSamples counts = counts_of(sample);
    total_ += counts;
    if (record.address == 0 || counts.loads + counts.stores == 0) return;
    Line& line = lines_[{record.who.pid, record.address / ContendedLine::bytes * ContendedLine::bytes}];
    line.samples += counts;
    SharedAccess access = place_of(record);
    AccessKey key{access.offset, access.module, access.symbol, access.file, access.line};
    SharedAccess& sum = line.accesses.try_emplace(std::move(key), std::move(access)).first->second;
    sum.samples += counts;
    add_known(sum.cpus, record.who.cpu);
    add_known(sum.threads, record.who.tid);
  }

  SharedAccess place_of(const perfdata::SampleRecord& record) {
    const u64 time = record.who.time == perfdata::absent ? ~u64{0} : record.who.time;
    const CodeSpace space{spaces_.find(record.who.pid, time).value_or(no_space), perf::cpu_mode(record.misc)};
    const Location at = resolver_.locate(space, record.ip);
    SharedAccess access{.offset = static_cast<u32>(record.address % ContendedLine::bytes),
                        .symbol = resolver_.symbols()[resolver_.symbol_at(at)].name,
                        .module = resolver_.modules()[at.module].path};
    if (const auto position = resolver_.modules()[at.module].content.position(at.address)) {
      access.file = position->file;
      access.line = position->line;
    }
    return access;
  }

  SharingReport report(std::vector<std::string> notes) {
    SharingReport all{.total = total_, .notes = std::move(notes)};
    for (auto& [key, line] : lines_) {
      if (line.samples.hitm() == 0) continue;
      ContendedLine& out = all.lines.emplace_back(
          ContendedLine{.pid = key.first, .address = key.second, .samples = line.samples});
      for (auto& [unused, access] : line.accesses) out.accesses.push_back(std::move(access));
      std::ranges::stable_sort(out.accesses, [](const SharedAccess& a, const SharedAccess& b) {
        return std::tuple(a.offset, b.samples.hitm()) < std::tuple(b.offset, a.samples.hitm());
      });
    }
    std::ranges::stable_sort(all.lines, std::greater(),
                             [](const ContendedLine& line) { return line.samples.hitm(); });
    if (all.total.loads + all.total.stores == 0) all.notes.emplace_back("there are no samples of accesses");
    return all;
  }

  const Options& options_;
  symbols::AddressSpaces spaces_;
  Resolver resolver_;
  AccessSamples total_;
  std::map<LineKey, Line> lines_;
};

}  // namespace

AccessSamples& AccessSamples::operator+=(const AccessSamples& other) {
  loads += other.loads;
  stores += other.stores;
  local_hitm += other.local_hitm;
  remote_hitm += other.remote_hitm;
  hitm_cycles += other.hitm_cycles;
  return *this;
}

Result<SharingReport, Error> analyze_sharing(const std::filesystem::path& perf_data, const Options& options) {
  const auto file = perfdata::Reader::open(perf_data);
  if (!file) return Failure(file.error());
  auto report = SharingAnalysis(options).analyze(*file);
  if (!report) return Failure(named(report.error(), perf_data.string()));
  report->input = perf_data.string();
  return report;
}

}  // namespace pmusim::annotate
