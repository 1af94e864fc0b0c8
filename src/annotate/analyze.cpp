// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/suggest.h"
#include "perf_data.h"
#include "perfdata/member_counts.h"
#include "perfdata/sample_parser.h"
#include "pmusim/annotate/report.h"
#include "resolver.h"
#include "sample_owners.h"

namespace pmusim::annotate {

namespace {

using perf::RecordType;
using perfdata::Reader;
using perfdata::RecordView;

struct Losses {
  u64 lost = 0, of_unknown_event = 0;
};

/// LOST: an id, then how many. LOST_SAMPLES: how many.
u64 lost_by(const RecordView& record) {
  const bool lost = record.header.type == static_cast<u32>(RecordType::lost);
  if (!lost && record.header.type != static_cast<u32>(RecordType::lost_samples)) return 0;
  const std::size_t offset = sizeof(perf::RecordHeader) + (lost ? sizeof(u64) : 0);
  u64 count = 0;
  if (record.bytes.size() >= offset + sizeof count)
    std::memcpy(&count, record.bytes.data() + offset, sizeof count);
  return count;
}

/// Adds the samples of a file's records to a profile.
class SampleAdder {
 public:
  SampleAdder(Profile& profile, SampleOwners& owners, const Reader& reader,
              const std::vector<SampledEvent>& events)
      : profile_(profile), owners_(owners), reader_(reader), events_(events) {}

  Result<Done, Error> add(const RecordView& record, const perfdata::EventDescription& event, u64 order) {
    const auto number = number_of(event);
    if (!number) return Done{};
    const auto form = events_[*number].counters.counters == 0 ? perfdata::BranchCounters::none
                                                              : perfdata::BranchCounters::one_word_each;
    const auto parsed = perfdata::parse_sample(record, event.attr, {.counters = form});
    if (!parsed) return Failure(parsed.error());
    const bool has_time = (event.attr.sample_type & perf::sample::TIME) != 0;
    Sample sample{.event = *number,
                  .pid = parsed->who.pid,
                  .time = has_time ? parsed->who.time : order,
                  .ip = parsed->ip,
                  .mode = perf::cpu_mode(record.header.misc),
                  .period = parsed->period,
                  .callchain = parsed->callchain,
                  .branches = parsed->branches,
                  .branch_counters = parsed->branch_counters};
    if (!owners_.is_chosen(parsed->who, sample.time)) return Done{};
    if (perfdata::has_member_counts(event.attr))
      add_members(sample, *parsed);
    else
      add(sample, parsed->who);
    return Done{};
  }

  /// Counts whose id no event of the file has.
  u64 of_unknown_event() const { return of_unknown_event_; }

 private:
  std::optional<u32> number_of(const perfdata::EventDescription& event) const {
    const auto number = static_cast<u32>(&event - reader_.events().data());
    return number < events_.size() ? std::optional(number) : std::nullopt;
  }

  void add(const Sample& sample, const perfdata::SampleId& who) {
    if (profile_.add(sample)) owners_.add(who, sample.time, sample.event, sample.period);
  }

  /// The branches are those of one stack, and counted once.
  void add_members(const Sample& leaders, const perfdata::SampleRecord& parsed) {
    for (const perfdata::MemberCount& member : counts_.take(reader_, parsed)) {
      const auto number = member.event != nullptr ? number_of(*member.event) : std::nullopt;
      if (!number) {
        ++of_unknown_event_;
        continue;
      }
      Sample sample = leaders;
      sample.event = *number;
      sample.period = member.counted;
      if (sample.event != leaders.event) sample.branches = {};
      add(sample, parsed.who);
    }
  }

  Profile& profile_;
  SampleOwners& owners_;
  const Reader& reader_;
  const std::vector<SampledEvent>& events_;
  perfdata::MemberCounts counts_;
  u64 of_unknown_event_ = 0;
};

Result<Losses, Error> add_samples(Profile& profile, SampleOwners& owners, Reader& reader,
                                  const std::vector<SampledEvent>& events) {
  Losses losses;
  SampleAdder adder(profile, owners, reader, events);
  auto done = for_each_record(reader, [&](const RecordView& record, u64 order) -> Result<Done, Error> {
    losses.lost += lost_by(record);
    if (record.header.type != static_cast<u32>(RecordType::sample)) return Done{};
    const perfdata::EventDescription* const event = reader.event_of(record);
    if (event == nullptr) {
      ++losses.of_unknown_event;
      return Done{};
    }
    return adder.add(record, *event, order);
  });
  if (!done) return Failure(done.error());
  losses.of_unknown_event += adder.of_unknown_event();
  return losses;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

void add_notes(Report& report, const Losses& losses) {
  if (report.totals.samples == 0) report.notes.emplace_back("there are no samples");
  if (losses.lost != 0) report.notes.push_back(fmt::format("{} samples or records were lost", losses.lost));
  if (losses.of_unknown_event != 0)
    report.notes.push_back(
        fmt::format("{} samples belong to no event of the file and are left out", losses.of_unknown_event));
}

bool is_everything(const SampleChoice& choice) {
  return choice.commands.empty() && choice.pids.empty() && choice.tids.empty() && choice.cpus.empty();
}

/// Nothing is left of a file that has samples: what was asked for is misspelt.
Error none_chosen(const SampleChoice& choice, const SampleOwners& owners) {
  const std::vector<std::string> seen = owners.seen();
  if (choice.commands.empty() || seen.empty())
    return Error("no sample is of the processes, threads and CPUs asked for");
  return Error(fmt::format(
      "no sample is of the commands, processes, threads and CPUs asked for; commands: {}{}",
      fmt::join(seen, ", "),
      did_you_mean(choice.commands.front(), std::vector<std::string_view>(seen.begin(), seen.end()))));
}

Result<Report, Error> read_profile(const Reader& file, const Options& options) {
  Reader first = file.from_start(), second = file.from_start();
  Profile profile(options);
  SampleOwners owners(options.samples);
  if (auto done = learn_processes(profile.address_spaces(), first, options, &owners.commands()); !done)
    return Failure(done.error());
  const std::vector<SampledEvent> events = sampled_events(first);
  for (const SampledEvent& event : events) profile.add_event(event);
  for (std::string& note : notes_on_events(first)) profile.add_note(std::move(note));
  profile.set_branch_counters(logged_events(first));
  const auto losses = add_samples(profile, owners, second, events);
  if (!losses) return Failure(losses.error());
  Report report = profile.report();
  owners.tell(report, first.metadata());
  if (report.totals.samples == 0 && options.symbols.empty() && !is_everything(options.samples))
    return Failure(none_chosen(options.samples, owners));
  report.command_line = joined(first.metadata().command_line);
  report.cpu = first.metadata().cpu_description;
  add_notes(report, *losses);
  std::ranges::move(first.warnings(), std::back_inserter(report.notes));
  return report;
}

/// All the functions asked for have to have samples.
Result<Report, Error> checked(Report report, const Reader& file, const Options& options) {
  for (const std::string& wanted : options.symbols) {
    if (find_function(report, wanted) != nullptr) continue;
    Options everything = options;
    everything.symbols.clear();
    const auto all = read_profile(file, everything);
    std::vector<std::string> names;
    if (all)
      for (const Symbol& symbol : all->symbols) names.push_back(without_parameters(symbol.name));
    const std::vector<std::string_view> known(names.begin(), names.end());
    return Failure(Error(fmt::format("{}: no samples in a function '{}'{}", report.input, wanted,
                                     did_you_mean(wanted, known))));
  }
  return report;
}

}  // namespace

std::filesystem::path usual_debug_directory() { return symbols::usual_debug_directory; }

Result<Report, Error> analyze(const std::filesystem::path& perf_data, const Options& asked) {
  Options options = asked;
  const std::filesystem::path beside = perf_data.string() + ".kallsyms";
  if (std::error_code error; options.kallsyms.empty() && std::filesystem::exists(beside, error))
    options.kallsyms = beside;
  const auto file = Reader::open(perf_data);
  if (!file) return Failure(file.error());
  auto report = read_profile(*file, options);
  if (!report) return Failure(named(report.error(), perf_data.string()));
  report->input = perf_data.string();
  return checked(*std::move(report), *file, options);
}

Result<Report, Error> analyze_bytes(const std::string& name, const std::vector<std::byte>& perf_data,
                                    const Options& options) {
  const auto file = Reader::from_memory(name, perf_data);
  if (!file) return Failure(file.error());
  auto report = read_profile(*file, options);
  if (report) report->input = name;
  return report;
}

}  // namespace pmusim::annotate
