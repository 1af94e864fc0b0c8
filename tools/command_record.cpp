#include <fmt/format.h>

#include "model_option.h"
#include "pmusim/events/branch_filter.h"
#include "pmusim/events/registers.h"
#include "pmusim/session/record.h"
#include "progress_bar.h"

namespace pmusim::tools {

namespace {

struct RecordCommand {
  std::string events = "cycles";
  std::optional<u64> period, frequency;
  bool any_branch = false, call_graph = false;
  std::string branch_filter, call_graph_mode = "lbr", registers;
  std::string trace;
  ModelOption model;
  RecordOptions options;
};

RecordOptions options_of(const RecordCommand& command, const CpuModel& model) {
  RecordOptions options = command.options;
  if (command.period && command.frequency)
    throw CommandError("-c and -F exclude each other: give a period or a frequency");
  options.period = command.period;
  options.frequency = command.frequency;
  options.events = value_or_fail(events::parse_events(command.events, model));
  if (command.any_branch) options.branch_sample_type = perf::branch::ANY;
  if (!command.branch_filter.empty())
    options.branch_sample_type |= value_or_fail(events::parse_branch_filter(command.branch_filter));
  if (!command.registers.empty())
    options.interrupt_registers = value_or_fail(events::parse_registers(command.registers));
  if (command.call_graph && command.call_graph_mode != "lbr")
    throw CommandError(fmt::format("--call-graph {}: traces have no stack memory; only 'lbr' is possible",
                                   command.call_graph_mode));
  options.call_graph_lbr = command.call_graph;
  return options;
}

std::string human_bytes(u64 bytes) { return fmt::format("{:.3f} MB", static_cast<double>(bytes) / 1e6); }

void run(const RecordCommand& command) {
  const CpuModel model = command.model.model();
  const RecordOptions options = options_of(command, model);
  const auto session = value_or_fail(Session::open(command.trace, {.model = model}));
  std::optional<ProgressBar> bar(std::in_place, "replaying");
  session->on_progress([&](Progress progress) { bar->show(progress); });
  const RecordSummary summary = value_or_fail(record(*session, options));
  bar.reset();
  fmt::print(stderr, "[ pmusim record: wrote {} {} ({} samples) ]\n", human_bytes(summary.file_bytes),
             options.output, summary.samples);
  if (summary.lost_samples != 0)
    fmt::print(stderr, "[ {} samples lost to PEBS collisions, counted in LOST_SAMPLES records ]\n",
               summary.lost_samples);
  if (summary.lost_records != 0)
    fmt::print(stderr, "[ {} records lost for want of buffer room ]\n", summary.lost_records);
}

}  // namespace

void add_record(CLI::App& app, std::vector<std::string> command_line) {
  auto c = std::make_shared<RecordCommand>();
  c->options.command_line = std::move(command_line);
  CLI::App* const command =
      app.add_subcommand("record", "Sample over a replay and write perf.data, as perf record does");
  command
      ->add_option("-e,--event", c->events,
                   "Events in perf's syntax, for example cycles:upp or {a,b}:u; "
                   "'pmusim events' lists names")
      ->capture_default_str();
  command->add_option("-c,--count", c->period, "Sample every N occurrences")->check(CLI::PositiveNumber);
  command->add_option("-F,--freq", c->frequency, "Sample N times per second of emulated time (default 4000)")
      ->check(CLI::PositiveNumber);
  command->add_flag("-b,--branch-any", c->any_branch, "Sample the last branches (LBR) with each sample");
  command->add_option(
      "-j,--branch-filter", c->branch_filter,
      "Branch types and levels: any,any_call,any_ret,ind_call,ind_jmp,cond,call,stack,u,k,save_type,...");
  command->add_flag("-g", c->call_graph, "Record call chains (from the LBR)");
  command->add_option("--call-graph", c->call_graph_mode, "How: lbr")->each([c](const std::string&) {
    c->call_graph = true;
  });
  command->add_flag("-d,--data", c->options.addresses, "Sample data addresses and sources");
  command->add_flag("-W,--weight", c->options.weight, "Sample weights (latencies)");
  command->add_flag("--phys-data", c->options.physical_addresses, "Sample physical data addresses");
  command->add_option("--intr-regs,-I", c->registers,
                      "Sample registers at the sampled instruction: ax,bx,ip,...");
  command->add_option("-o,--output", c->options.output, "File to write")->capture_default_str();
  command->add_option("-m,--mmap-pages", c->options.ring_pages, "Pages of the ring buffer, a power of two")
      ->capture_default_str();
  c->model.add_to(*command);
  command->add_option("trace", c->trace, "Trace written by 'pmusim trace record'")->required();
  command->callback([c] { run(*c); });
}

}  // namespace pmusim::tools
