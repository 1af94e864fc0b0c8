// SPDX-License-Identifier: MIT
#include "session/acr_experiment.h"

#include <fmt/format.h>

#include "core/core.h"
#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"
#include "symbols/module.h"

namespace pmusim {

namespace {

using symbols::AddressRange;
using Loops = std::array<AddressRange, 2>;

std::optional<std::size_t> loop_of(const Loops& loops, u64 ip) {
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i].contains(ip)) return i;
  return std::nullopt;
}

/// What the program did, without any PMU: where its loops are, how many branches they took and missed.
class Census {
 public:
  Census(const AcrExperimentOptions& options, AcrExperiment& experiment)
      : options_(options), experiment_(experiment) {}

  Result<Loops, Error> take(const std::string& path) {
    Result<trace::Reader, Error> trace = trace::Reader::open(path);
    if (!trace.ok()) return Failure(trace.error());
    Result<Core, Error> core = Core::create(options_.model);
    if (!core.ok()) return Failure(core.error());
    for (;;) {
      const Result<trace::NextItem, Error> item = trace->next();
      if (!item.ok()) return Failure(item.error());
      if (!item->has_value()) break;
      if (const auto* run = std::get_if<trace::BlockRun>(&**item))
        core->run(*run, [&](const Retirement& retirement) { count(retirement); });
      else if (const auto* map = std::get_if<trace::Map>(&std::get<trace::SideBandRecord>(**item)))
        look_for_loops(map->mapping);
    }
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (loops_[i].end == 0)
        return Failure(
            Error(fmt::format("{}: no module of the traced program has a function '{}'; "
                              "the experiment needs a recording of the mispredict workload",
                              path, options_.loops[i])));
    return loops_;
  }

 private:
  void look_for_loops(const trace::Mapping& mapping) {
    constexpr u32 executable = 4;
    if ((mapping.protection & executable) == 0) return;
    const symbols::Module module = symbols::Module::open({mapping.path, {}}, symbols::usual_debug_directory);
    const symbols::Mapping where{mapping.start, mapping.start + mapping.bytes, mapping.file_offset};
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (loops_[i].end == 0)
        loops_[i] = module.loaded_range(options_.loops[i], where).value_or(AddressRange{});
  }
  void count(const Retirement& retirement) {
    if (!retirement.signals.has(Signal::branch)) return;
    const std::optional<std::size_t> loop = loop_of(loops_, retirement.ip);
    if (!loop) return;
    ++experiment_.branches[*loop];
    if (retirement.mispredicted) ++experiment_.misses[*loop];
  }

  const AcrExperimentOptions& options_;
  AcrExperiment& experiment_;
  Loops loops_;
};

/// Sorts the samples of a file into loops and events; the first event of the group counts misses.
Result<Done, Error> sort_samples(AcrRun& run, const Loops& loops) {
  Result<perfdata::Reader, Error> reader = perfdata::Reader::open(run.file);
  if (!reader.ok()) return Failure(reader.error());
  for (;;) {
    const auto record = reader->next();
    if (!record.ok()) return Failure(record.error());
    if (!record->has_value()) return Done{};
    if (static_cast<perf::RecordType>((*record)->header.type) != perf::RecordType::sample) continue;
    const perfdata::EventDescription* event = reader->event_of(**record);
    if (event == nullptr) return Failure(Error(fmt::format("{}: a sample of no known event", run.file)));
    const auto sample = perfdata::parse_sample(**record, event->attr);
    if (!sample.ok()) return Failure(sample.error());
    const bool miss = event == &reader->events().front();
    const std::optional<std::size_t> loop = loop_of(loops, sample->ip);
    if (loop)
      ++(miss ? run.miss_samples : run.branch_samples)[*loop];
    else
      ++(miss ? run.misses_elsewhere : run.branches_elsewhere);
  }
}

Result<AcrRun, Error> run_variant(const std::string& trace, const AcrExperimentOptions& options,
                                  const std::string& name, const std::string& events, const Loops& loops) {
  AcrRun run{.events = events, .file = fmt::format("{}/{}.data", options.directory, name)};
  auto session = Session::open(trace, {.model = options.model});
  if (!session.ok()) return Failure(session.error());
  auto parsed = events::parse_events(events, options.model);
  if (!parsed.ok()) return Failure(parsed.error());
  RecordOptions record_options;
  record_options.events = std::move(parsed).value();
  record_options.output = run.file;
  record_options.command_line = {"pmusim", "record", "-e", events};
  const Result<RecordSummary, Error> summary = record(*session, record_options);
  if (!summary.ok()) return Failure(summary.error());
  run.samples = summary->samples;
  run.file_bytes = summary->file_bytes;
  if (auto sorted = sort_samples(run, loops); !sorted.ok()) return Failure(sorted.error());
  return run;
}

}  // namespace

Result<AcrExperiment, Error> run_acr_experiment(const std::string& trace,
                                                const AcrExperimentOptions& options) {
  if (options.model.acr.cause == 0)
    return Failure(Error(fmt::format(
        "model '{}' has no auto counter reload; 'skymont' and 'darkmont' have it", options.model.name)));
  AcrExperiment experiment;
  options.progress("looking at the program");
  const Result<Loops, Error> loops = Census(options, experiment).take(trace);
  if (!loops.ok()) return Failure(loops.error());

  options.progress("sampling with plain counters");
  const std::string plain =
      fmt::format("{{branch-misses/period={0}/ppu,branch-instructions/period={0}/u}}", options.period);
  Result<AcrRun, Error> traditional = run_variant(trace, options, "traditional", plain, *loops);
  if (!traditional.ok()) return Failure(traditional.error());

  options.progress("sampling with auto counter reload");
  const std::string reloading =
      fmt::format("{{branch-misses/period={},acr_mask=0x2/ppu,branch-instructions/period={},acr_mask=0x3/u}}",
                  options.period * options.ratio_percent / 100, options.period);
  Result<AcrRun, Error> acr = run_variant(trace, options, "acr", reloading, *loops);
  if (!acr.ok()) return Failure(acr.error());

  experiment.traditional = std::move(*traditional);
  experiment.acr = std::move(*acr);
  return experiment;
}

}  // namespace pmusim
