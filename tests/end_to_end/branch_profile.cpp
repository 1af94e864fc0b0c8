// SPDX-License-Identifier: MIT
#include "branch_profile.h"

#include <stdexcept>

#include "command.h"
#include "core/core.h"
#include "perf_data_file.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test {
namespace {

/// The tests ask for branch stacks without READ and the like, whose size varies.
void check_sample_type(u64 sample_type) {
  using namespace perf::sample;
  constexpr u64 known = IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD | BRANCH_STACK |
                        WEIGHT | DATA_SRC | TRANSACTION | WEIGHT_STRUCT | PHYS_ADDR;
  if ((sample_type & ~known) != 0) throw std::runtime_error("sample type has fields of other sizes");
}

BranchSample read_sample(const PerfDataFile& file, std::size_t record, const perf::Attr& attr) {
  check_sample_type(attr.sample_type);
  constexpr std::size_t header = 8;
  const bool identified = (attr.sample_type & perf::sample::IDENTIFIER) != 0;
  BranchSample sample;
  sample.ip = file.get<u64>(record + header + (identified ? 8 : 0));
  std::size_t at = record + header + bytes_of_single_words(attr.sample_type);
  const u64 count = file.get<u64>(at);
  at += (attr.branch_sample_type & perf::branch::HW_INDEX) != 0 ? 16 : 8;
  for (u64 i = 0; i < count; ++i, at += sizeof(perf::BranchEntry))
    sample.branches.push_back(file.get<perf::BranchEntry>(at));
  if ((attr.branch_sample_type & perf::branch::COUNTERS) != 0)
    for (u64 i = 0; i < count; ++i, at += sizeof(u64)) sample.counters.push_back(file.get<u64>(at));
  return sample;
}

}  // namespace

std::vector<ExecutedBranch> executed_branches(const std::string& trace_path, const std::string& model) {
  trace::Reader reader = std::move(trace::Reader::open(trace_path)).value();
  Core core = std::move(Core::create(*find_cpu_model(model))).value();
  std::vector<ExecutedBranch> branches;
  while (true) {
    const Result<trace::NextItem, Error> item = reader.next();
    if (!item.ok()) throw std::runtime_error(item.error().message);
    if (!item->has_value()) return branches;
    const auto* const run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) continue;
    core.run(*run, [&](const Retirement& r) {
      if (r.branch != BranchKind::none)
        branches.push_back({r.ip, r.next_ip, r.branch, r.taken, r.mispredicted, r.cpl_after});
    });
  }
}

std::vector<BranchSample> branch_samples(const std::string& path) {
  const PerfDataFile file(path);
  std::vector<BranchSample> samples;
  file.for_each_sample([&](std::size_t record, const perf::Attr& attr) {
    samples.push_back(read_sample(file, record, attr));
  });
  return samples;
}

std::vector<BranchSample> record_branches(const std::string& trace, const std::vector<std::string>& options) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  std::vector<std::string> command{pmusim(), "record", "-o", file, "-m", "512"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(trace);
  const Output output = run(command);
  if (output.status != 0) throw std::runtime_error("recording failed: " + output.err);
  return branch_samples(file);
}

}  // namespace pmusim::test
