// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "command.h"
#include "output.h"
#include "pmusim/session/stat.h"
#include "sweep_results.h"

namespace pmusim::tools {

namespace {

struct SweepCommand {
  std::string file, folder, shard;
  unsigned threads = 1;
  bool merge = false, quiet = false;
};

/// Tells of each finished job how far the sweep is, on standard error.
class SweepProgress {
 public:
  SweepProgress(u64 jobs, bool quiet) : jobs_(jobs), quiet_(quiet), start_(Clock::now()) {}

  void finished(const SweepJob& job, u64 instructions) {
    const std::lock_guard lock(mutex_);
    ++done_;
    instructions_ += instructions;
    if (quiet_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left = seconds / static_cast<double>(done_) * static_cast<double>(jobs_ - done_);
    say(fmt::format("pmusim: {} of {} jobs, {:.1f} M instructions/s, {:.0f} s left: {}\n", done_, jobs_,
                    static_cast<double>(instructions_) / seconds / 1e6, left, job.name()));
  }
  void failed(const SweepJob& job, std::string_view sentence) {
    const std::lock_guard lock(mutex_);
    ++done_;
    ++failures_;
    complain(fmt::format("{}: {}", job.name(), sentence));
  }
  u64 failures() const { return failures_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  u64 jobs_, done_ = 0, instructions_ = 0, failures_ = 0;
  bool quiet_;
  Clock::time_point start_;
};

u64 replay(const SweepJob& job, const SweepResults& results) {
  Session session = value_or_fail(Session::open(job.trace_path, {.model = job.model, .core = job.core}));
  const StatReport report = value_or_fail(stat(session, {.events = job.groups}));
  results.put(job, report);
  return report.instructions * report.replays;
}

/// Takes the next job until there is none. A job that fails leaves the others alone.
void work(std::span<const SweepJob* const> jobs, std::atomic<std::size_t>& next, const SweepResults& results,
          SweepProgress& progress) {
  for (std::size_t n = next++; n < jobs.size(); n = next++) {
    try {
      progress.finished(*jobs[n], replay(*jobs[n], results));
    } catch (const std::exception& error) {
      progress.failed(*jobs[n], error.what());
    }
  }
}

std::vector<const SweepJob*> open_jobs(std::span<const SweepJob> all, Shard shard,
                                       const SweepResults& results) {
  std::vector<const SweepJob*> open;
  for (u64 n = 0; n < all.size(); ++n)
    if (shard.has(n) && !results.has(all[n])) open.push_back(&all[n]);
  return open;
}

void run_jobs(std::span<const SweepJob> all, const SweepCommand& command, const SweepResults& results) {
  const std::vector<const SweepJob*> jobs = open_jobs(all, parse_shard(command.shard), results);
  SweepProgress progress(jobs.size(), command.quiet);
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned n = 1; n < command.threads && n < jobs.size(); ++n)
      threads.emplace_back([&] { work(jobs, next, results, progress); });
    work(jobs, next, results, progress);
  }
  if (progress.failures() != 0)
    throw CommandError(fmt::format("{} of {} jobs failed; the results of the others are in {}",
                                   progress.failures(), jobs.size(), command.folder));
}

void run_sweep(const SweepCommand& command) {
  const std::vector<SweepJob> jobs = read_sweep(command.file);
  const SweepResults results(command.folder);
  if (command.merge) return print_to(stdout, results.merged(jobs));
  run_jobs(jobs, command, results);
}

}  // namespace

void add_sweep(CLI::App& app) {
  const auto options = std::make_shared<SweepCommand>();
  options->shard = "1/1";
  CLI::App* const command = app.add_subcommand("sweep", "Count events of many traces on many models");
  command->footer(
      "The file says which traces, models and sets of events; every combination is a job, and every "
      "finished\n"
      "job a file in the folder. A sweep that was ended goes on with the jobs that are not done.\n\n"
      "  {\"traces\": [\"gzip.pmutrace\"], \"models\": [\"icelake\", \"lioncove\"],\n"
      "   \"events\": {\"branches\": \"branches,branch-misses\"}, \"core\": \"simple\"}\n\n"
      "  pmusim sweep sweep.json -o results -j 4\n"
      "  pmusim sweep sweep.json -o results --shard 2/8\n"
      "  pmusim sweep sweep.json -o results --merge > results.csv");
  command->add_option("file", options->file, "JSON file: traces, models, events; core, as stat has it")
      ->required();
  command->add_option("-o,--output", options->folder, "Folder for the results")->required();
  command->add_option("-j,--jobs", options->threads, "Replays at a time (default 1)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--shard", options->shard,
                      "Only the I-th of N parts: for jobs of a cluster, which share the folder alone");
  command->add_flag("--merge", options->merge, "Print all results as one table, once they are there");
  command->add_flag("--quiet", options->quiet, "Do not say how far it is");
  command->callback([options] { run_sweep(*options); });
}

}  // namespace pmusim::tools
