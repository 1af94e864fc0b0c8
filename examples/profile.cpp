// SPDX-License-Identifier: MIT
// From a program to what is hot in it: records a run, samples its cycles in a replay, reads the samples back
// from perf.data and prints the hottest functions. Usage: profile PROGRAM [ARGUMENT...]
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"
#include "pmusim/cpu/model.h"
#include "pmusim/events/parser.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/qemu/recorder.h"
#include "pmusim/session/record.h"
#include "pmusim/trace/trace.h"
#include "pmusim/version.h"

using namespace pmusim;

namespace {

/// With the fast recorder where qemu is installed, and by single steps where it is not.
u64 record_run(const std::vector<std::string>& command, const std::string& path) {
  if (const auto installed = qemu::find_installation(); installed.ok())
    return qemu::record(*installed, command, {.output = path}).value().trace.instructions;
  return trace::record(command, {.output = path}).value().instructions;
}

RecordSummary sample_cycles(const std::string& path, const std::string& output) {
  auto session = Session::open(path, {.model = *find_cpu_model(default_model)}).value();
  RecordOptions options{.events = events::parse_events("cycles:upp", session.model()).value(),
                        .output = output};
  options.period = 10007;
  return record(session, options).value();
}

/// Samples by thread name.
std::map<std::string, u64> samples_in(const std::string& perf_data) {
  std::map<std::string, u64> samples;
  auto file = perfdata::SampleReader::open(perf_data).value();
  while (const auto next = file.next().value()) ++samples[file.processes().command_of(next->sample.who.tid)];
  return samples;
}

void profile(const std::vector<std::string>& command) {
  const u64 instructions = record_run(command, "profile.pmutrace");
  const RecordSummary summary = sample_cycles("profile.pmutrace", "profile.data");
  std::printf("pmusim %s: %llu samples of %llu instructions\n", std::string(version).c_str(),
              static_cast<unsigned long long>(summary.samples),
              static_cast<unsigned long long>(instructions));
  for (const auto& [thread, samples] : samples_in("profile.data"))
    std::printf("%llu in %s\n", static_cast<unsigned long long>(samples), thread.c_str());
  const annotate::Report report = annotate::analyze("profile.data", {}).value();
  std::fputs(ranking_text(report, annotate::RankingOptions{.percent_limit = 5}).c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return std::fputs("usage: profile PROGRAM [ARGUMENT...]\n", stderr), 2;
  profile({argv + 1, argv + argc});
} catch (const NoValue& refused) {  // a result was an error: its sentence
  return std::fprintf(stderr, "%s\n", refused.what()), 2;
}
