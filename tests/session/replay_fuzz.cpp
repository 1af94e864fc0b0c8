// SPDX-License-Identifier: MIT
// Any well-formed trace, whatever it tells: it is replayed and recorded, and what was recorded can be read.
#include <algorithm>

#include "pmusim/events/parser.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"
#include "tests/support/fuzzed_trace.h"

namespace pmusim {
namespace {

/// The model with caches and predictors that take no time to make.
CpuModel small(CpuModel model) {
  model.core.l2.bytes = 16 * model.core.l2.ways * model.core.l2.line_bytes;
  model.core.l3.bytes = 16 * model.core.l3.ways * model.core.l3.line_bytes;
  model.core.predictor = "bimodal";
  return model;
}

RecordOptions record_options(FuzzInput& input, const CpuModel& model) {
  constexpr std::string_view events[] = {
      "cycles",    "cycles:ppp",       "branches:pp",    "{instructions,branch-misses}:S",
      "cpu-clock", "context-switches", "{cycles,r00c0}", "mem-loads:p",
      "ibs_op//",  "ibs_fetch//"};
  RecordOptions options;
  const std::string_view event = input.pick(events);
  if (auto parsed = events::parse_events(event, model); parsed.ok()) options.events = *std::move(parsed);
  options.period = 1 + input.take<u8>();
  if (input.flag()) options.frequency = 1 + input.number() % 100'000, options.period.reset();
  options.branch_sample_type = input.flag() ? perf::branch::ANY | perf::branch::USER : 0;
  options.call_graph_lbr = input.below(4) == 0;
  options.call_graph_trace = !options.call_graph_lbr && input.flag();
  options.addresses = input.flag();
  options.interrupt_registers = input.flag() ? 0xFF0FFF & input.number() : 0;
  options.switches = options.running_times = options.mapping_build_ids = input.flag();
  options.data_page_sizes = options.code_page_sizes = options.transactions = input.flag();
  options.build_ids = input.flag();
  options.weight = input.flag();
  options.raw = event.starts_with("ibs") && input.flag();
  options.ring_pages = 4;
  if (input.below(4) == 0) options.compression_level = 1;
  return options;
}

void must_be_readable(const std::string& path) {
  auto file = perfdata::Reader::open(path);
  must(file.ok());
  for (auto record = file->next(); *record; record = file->next()) must(record.ok());
}

void replay(FuzzInput& input, const std::string& trace, const std::string& output) {
  const CpuModel model = small(input.pick(cpu_models()));
  RecordOptions options = record_options(input, model);
  options.output = output;
  auto session = Session::open(trace, {.model = model, .call_stacks = options.call_graph_trace});
  must(session.ok());
  if (options.events.empty()) return;
  if (record(*session, options).ok()) must_be_readable(output);
}

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const std::string trace = fuzz_directory() / "trace", output = fuzz_directory() / "perf.data";
  // The trace takes what is left of the input.
  FuzzInput settings(data, std::min<std::size_t>(size, 32));
  FuzzInput rest(data + std::min<std::size_t>(size, 32), size - std::min<std::size_t>(size, 32));
  if (TraceMaker(rest, trace).make()) replay(settings, trace, output);
  return 0;
}
