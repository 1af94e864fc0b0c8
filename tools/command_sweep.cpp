// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/output_file.h"
#include "base/printable.h"
#include "command.h"
#include "output.h"
#include "pmusim/session/stat.h"
#include "sweep_plan.h"
#include "sweep_results.h"
#include "sweep_tables.h"

namespace pmusim::tools {

namespace {

struct SweepCommand {
  std::string file, folder, shard, database;
  unsigned threads = 1;
  bool merge = false, wide = false, quiet = false;

  bool collects() const { return merge || !database.empty(); }
};

/// A replay with what is still to be done of it.
struct Work {
  SweepReplay replay;
  std::vector<const SweepJob*> open;
};

/// Says after each replay how far the sweep is, on standard error.
class SweepProgress {
 public:
  SweepProgress(std::span<const Work> all, bool quiet) : replays_(all.size()), quiet_(quiet) {
    for (const Work& work : all) cost_ += work.replay.cost;
  }

  void finished(const SweepReplay& replay, u64 instructions) {
    const std::lock_guard lock(mutex_);
    ++done_;
    instructions_ += instructions;
    cost_done_ += replay.cost;
    if (quiet_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left = seconds * (static_cast<double>(cost_) / static_cast<double>(cost_done_) - 1);
    say(fmt::format("pmusim: {} of {} replays, {:.1f} M instructions/s, {:.0f} s left: {}\n", done_, replays_,
                    static_cast<double>(instructions_) / seconds / 1e6, left, printable(replay.name())));
  }
  void failed(const SweepReplay& replay, std::string_view sentence) {
    const std::lock_guard lock(mutex_);
    ++done_;
    ++failures_;
    cost_done_ += replay.cost;
    complain(fmt::format("{}: {}", replay.name(), sentence));
  }
  u64 failures() const { return failures_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  u64 replays_, cost_ = 0, done_ = 0, cost_done_ = 0, instructions_ = 0, failures_ = 0;
  bool quiet_;
  Clock::time_point start_ = Clock::now();
};

/// All open jobs in one replay, on as many PMUs as their events take.
u64 replay(const Work& work, const SweepResults& results) {
  const SweepJob& first = work.replay.first();
  Session session = value_or_fail(Session::open(
      first.trace_path,
      {.model = first.model, .core = first.core.level, .windows = first.core.windows, .start = first.start}));
  StatOptions options{.events = {}, .uncountable = Uncountable::shown};
  for (const SweepJob* const job : work.open)
    options.events.insert(options.events.end(), job->list.groups.begin(), job->list.groups.end());
  const StatReport report = value_or_fail(stat(session, options));
  std::span<const EventTotal> totals = report.events;
  for (const SweepJob* const job : work.open) {
    const auto size = static_cast<std::size_t>(std::ranges::count_if(job->list.all, &SweptEvent::known));
    results.put(result_of(*job, report, totals.first(size)));
    totals = totals.subspan(size);
  }
  return report.instructions;
}

/// Takes the next replay until there is none. One that fails leaves the others alone.
void work(std::span<const Work> all, std::atomic<std::size_t>& next, const SweepResults& results,
          SweepProgress& progress) {
  for (std::size_t n = next++; n < all.size(); n = next++) {
    try {
      progress.finished(all[n].replay, replay(all[n], results));
    } catch (const std::exception& error) {
      progress.failed(all[n].replay, error.what());
    }
  }
}

std::vector<Work> open_work(const std::vector<SweepReplay>& replays, const SweepResults& results) {
  std::vector<Work> all;
  for (const SweepReplay& replay : replays) {
    Work work{replay, {}};
    for (const SweepJob& job : replay.jobs)
      if (!results.has(job)) work.open.push_back(&job);
    if (!work.open.empty()) all.push_back(std::move(work));
  }
  return all;
}

void run_replays(std::span<const SweepJob> jobs, const SweepCommand& command, const SweepResults& results) {
  const std::vector<Work> all = open_work(shard_of(replays_of(jobs), parse_shard(command.shard)), results);
  SweepProgress progress(all, command.quiet);
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned n = 1; n < command.threads && n < all.size(); ++n)
      threads.emplace_back([&] { work(all, next, results, progress); });
    work(all, next, results, progress);
  }
  if (progress.failures() != 0)
    throw CommandError(fmt::format("{} of {} replays failed; the results of the others are in {}",
                                   progress.failures(), all.size(), command.folder));
}

void write_database(const std::string& path, std::span<const SweepResult> results) {
  OutputFile file = value_or_fail(OutputFile::create(path));
  value_or_fail(file.write(database(results)));
  value_or_fail(file.commit());
}

void run_sweep(const SweepCommand& command) {
  if (command.wide && !command.merge) throw CommandError("--wide: is how --merge prints; give both");
  const std::vector<SweepJob> jobs = read_sweep(command.file);
  if (!command.database.empty()) check_output_name(command.database, std::span(&command.file, 1), "--sqlite");
  const SweepResults folder(command.folder);
  if (!command.collects()) return run_replays(jobs, command, folder);
  const std::vector<SweepResult> results = folder.all(jobs);
  if (!command.database.empty()) write_database(command.database, results);
  if (command.merge) print_to(stdout, command.wide ? wide_table(results) : long_table(results));
}

}  // namespace

void add_sweep(CLI::App& app) {
  const auto options = std::make_shared<SweepCommand>();
  options->shard = "1/1";
  CLI::App* const command = app.add_subcommand("sweep", "Count events of many traces on many models");
  command->footer(
      "The file says which traces, models, sets of events and metrics; every combination is a job, and "
      "every\n"
      "finished job a file in the folder. Each trace is replayed once on each model, for all sets together. "
      "A\n"
      "sweep that was interrupted goes on with the jobs that are left when it is started again.\n\n"
      "  {\"traces\": [\"gzip.pmutrace\"], \"models\": [\"icelake\", \"lioncove\"],\n"
      "   \"events\": {\"branches\": \"branches,branch-misses\"}, \"metrics\": [\"insn_per_cycle\"]}\n\n"
      "  pmusim sweep sweep.json -o results -j 4\n"
      "  pmusim sweep sweep.json -o results --shard 2/8\n"
      "  pmusim sweep sweep.json -o results --merge --wide > results.csv\n"
      "  pmusim sweep sweep.json -o results --sqlite results.db");
  command
      ->add_option("file", options->file, "JSON file: traces, models, events, metrics; core, as stat has it")
      ->required();
  command->add_option("-o,--output", options->folder, "Folder for the results")->required();
  command->add_option("-j,--jobs", options->threads, "Replays at a time (default 1)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--shard", options->shard,
                      "Only the I-th of N parts: for jobs of a cluster, which share the folder alone");
  command->add_flag("--merge", options->merge, "Print all results as one table, once they are there");
  command->add_flag("--wide", options->wide, "With --merge: a line per trace and model, a column per event");
  command->add_option("--sqlite", options->database,
                      "Put all results into an SQLite database, in place of what has its name");
  command->add_flag("--quiet", options->quiet, "Do not say how far it is");
  command->callback([options] { run_sweep(*options); });
}

}  // namespace pmusim::tools
