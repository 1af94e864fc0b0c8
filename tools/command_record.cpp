#include <fmt/format.h>

#include <charconv>

#include "kernel_option.h"
#include "model_option.h"
#include "pmusim/events/branch_filter.h"
#include "pmusim/events/registers.h"
#include "pmusim/session/record.h"
#include "progress_bar.h"
#include "register_options.h"
#include "truncation.h"

namespace pmusim::tools {

namespace {

struct RecordCommand {
  std::string events = "cycles";
  std::optional<u64> period;
  std::optional<std::string> frequency;
  bool any_branch = false, call_graph = false, no_build_ids = false, throttling = false, quiet = false;
  std::string branch_filter, call_graph_mode = "lbr", interrupt_registers, user_registers;
  int compression_level = 0;  ///< 0: none
  u32 max_sample_rate = perf::Limits{}.max_sample_rate;
  std::string trace;
  ModelOption model;
  KernelOption kernel;
  RegisterOptions registers;
  RecordOptions options;
};

std::optional<u64> frequency_of(const RecordCommand& command) {
  if (!command.frequency) return std::nullopt;
  if (*command.frequency == "max") return command.max_sample_rate;
  u64 hertz = 0;
  const std::string& text = *command.frequency;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hertz);
  if (error != std::errc() || end != text.data() + text.size() || hertz == 0)
    throw CommandError(fmt::format("-F {}: give a positive number or 'max'", text));
  return hertz;
}

RecordOptions options_of(const RecordCommand& command, const CpuModel& model) {
  RecordOptions options = command.options;
  if (command.period && command.frequency)
    throw CommandError("-c and -F exclude each other: give a period or a frequency");
  options.period = command.period;
  options.frequency = frequency_of(command);
  options.events = value_or_fail(events::parse_events(command.events, model));
  if (command.any_branch) options.branch_sample_type = perf::branch::ANY;
  if (!command.branch_filter.empty())
    options.branch_sample_type |= value_or_fail(events::parse_branch_filter(command.branch_filter));
  if (!command.interrupt_registers.empty())
    options.interrupt_registers = value_or_fail(events::parse_registers(command.interrupt_registers));
  if (!command.user_registers.empty())
    options.user_registers = value_or_fail(events::parse_registers(command.user_registers));
  if (command.call_graph && command.call_graph_mode != "lbr")
    throw CommandError(fmt::format("--call-graph {}: traces have no stack memory; only 'lbr' is possible",
                                   command.call_graph_mode));
  options.call_graph_lbr = command.call_graph;
  command.registers.apply_to(options);
  options.build_ids = !command.no_build_ids;
  if (command.compression_level != 0) options.compression_level = command.compression_level;
  return options;
}

std::string human_bytes(u64 bytes) { return fmt::format("{:.3f} MB", static_cast<double>(bytes) / 1e6); }

SessionOptions session_options(const RecordCommand& command, const CpuModel& model) {
  SessionOptions options{.model = model, .kernel = command.registers.kernel(command.kernel)};
  options.limits.max_sample_rate = command.max_sample_rate;
  if (command.throttling) options.throttling = perf::Throttling::on;
  return options;
}

void print_summary(const RecordSummary& summary, const RecordOptions& options) {
  fmt::print(stderr, "[ pmusim record: wrote {} {} ({} samples) ]\n", human_bytes(summary.file_bytes),
             options.output, summary.samples);
  if (summary.lost_samples != 0)
    fmt::print(stderr, "[ {} samples lost to PEBS collisions, counted in LOST_SAMPLES records ]\n",
               summary.lost_samples);
  if (summary.lost_records != 0)
    fmt::print(stderr, "[ {} records lost for want of buffer room ]\n", summary.lost_records);
}

void run(const RecordCommand& command) {
  const CpuModel model = command.model.model();
  const RecordOptions options = options_of(command, model);
  const auto session = value_or_fail(Session::open(command.trace, session_options(command, model)));
  warn_if_truncated(session->trace());
  std::optional<ProgressBar> bar;
  if (!command.quiet) {
    bar.emplace("replaying");
    session->on_progress([&](Progress progress) { bar->show(progress); });
  }
  const RecordSummary summary = value_or_fail(record(*session, options));
  bar.reset();
  if (!command.quiet) print_summary(summary, options);
}

/// What is sampled, and how often.
void add_event_options(CLI::App& command, const std::shared_ptr<RecordCommand>& c) {
  command.option_defaults()->group("What is sampled");
  command
      .add_option("-e,--event", c->events,
                  "Events in perf's syntax, for example cycles:upp or {a,b}:u; "
                  "'pmusim events' lists names")
      ->capture_default_str();
  command.add_option("-c,--count", c->period, "Sample every N occurrences")->check(CLI::PositiveNumber);
  command.add_option("-F,--freq", c->frequency,
                     "Sample N times per second of emulated time, or 'max' (default 4000)");
  command
      .add_option("--max-sample-rate", c->max_sample_rate,
                  "The emulated kernel.perf_event_max_sample_rate: limit of -F and of --throttle")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_flag("--throttle", c->throttling,
                   "Stop events that sample faster than the limit until the next tick, as a kernel does");
}

/// What each sample holds.
void add_sample_options(CLI::App& command, const std::shared_ptr<RecordCommand>& c) {
  command.option_defaults()->group("What each sample holds");
  RecordOptions& options = c->options;
  command.add_flag("-b,--branch-any", c->any_branch, "Sample the last branches (LBR) with each sample");
  command.add_option(
      "-j,--branch-filter", c->branch_filter,
      "Branch types and levels: any,any_call,any_ret,ind_call,ind_jmp,cond,call,stack,u,k,save_type,...");
  command.add_flag("-g", c->call_graph, "Record call chains (from the LBR)");
  command.add_option("--call-graph", c->call_graph_mode, "How: lbr")->each([c](const std::string&) {
    c->call_graph = true;
  });
  command.add_flag("-d,--data", options.addresses, "Sample data addresses and sources");
  command.add_flag("-W,--weight", options.weight, "Sample weights (latencies)");
  command.add_flag("--phys-data", options.physical_addresses, "Sample physical data addresses");
  command.add_flag("--data-page-size", options.data_page_sizes, "Sample the page size of data addresses");
  command.add_flag("--code-page-size", options.code_page_sizes, "Sample the page size of code addresses");
  command.add_flag("--transaction", options.transactions, "Sample transaction flags");
  command.add_option("--intr-regs,-I", c->interrupt_registers,
                     "Sample registers at the sampled instruction: ax,bx,ip,...");
  command.add_option("--user-regs", c->user_registers, "Sample registers of the interrupted program");
  const std::map<std::string, u32> clocks{{"realtime", 0}, {"monotonic", 1}, {"monotonic_raw", 4},
                                          {"boottime", 7}, {"tai", 11},      {"real", 0},
                                          {"mono", 1},     {"raw", 4},       {"boot", 7}};
  command
      .add_option("-k,--clockid", options.clock,
                  "Clock of sample times: realtime, monotonic, monotonic_raw, boottime, tai; all show the "
                  "emulated time")
      ->transform(CLI::CheckedTransformer(clocks, CLI::ignore_case).description(""))
      ->option_text("CLOCK");
}

/// What the file holds beside samples, and how.
void add_file_options(CLI::App& command, const std::shared_ptr<RecordCommand>& c) {
  command.option_defaults()->group("The file");
  RecordOptions& options = c->options;
  command.add_option("-o,--output", options.output, "File to write; - is standard output, as a stream")
      ->capture_default_str();
  command.add_option("-m,--mmap-pages", options.ring_pages, "Pages of the ring buffer, a power of two")
      ->capture_default_str();
  command
      .add_flag("-z{1},--compression-level{1}", c->compression_level,
                "Compress records (zstd), with =N up to 22 harder")
      ->check(CLI::Range(0, 22).description(""))
      ->option_text("[=N]");
  command.add_flag("--switch-events", options.switches, "Record context switches");
  command.add_flag("-B,--no-buildid", c->no_build_ids, "Leave the build-id table out");
  command.add_flag("--buildid-mmap", options.mapping_build_ids, "Put build ids into mapping records");
  command
      .add_option(
          "--attr-size", options.attr_bytes,
          "Bytes of perf_event_attr in the file, 64 (VER0) to 176 (VER10); readers refuse larger ones "
          "than their own")
      ->capture_default_str();
  command.add_flag("-q,--quiet", c->quiet, "Print nothing");
}

}  // namespace

void add_record(CLI::App& app, std::vector<std::string> command_line) {
  auto c = std::make_shared<RecordCommand>();
  c->options.command_line = std::move(command_line);
  CLI::App* const command =
      app.add_subcommand("record", "Sample over a replay and write perf.data, as perf record does");
  command->footer(
      "Precise events (:p, :pp, :ppp) are sampled by PEBS, the others by interrupts. An event that does not\n"
      "say :u is recorded as if it did, since a trace holds user mode only. perf, BOLT and AutoFDO read the\n"
      "file; the same trace and options give the same bytes.\n\n"
      "  pmusim record -e cycles:upp -c 10007 -b T                      branch stacks: a profile for BOLT\n"
      "  pmusim record -e cpu/mem-loads,ldlat=30/upp -d -W T            where loads go, how long they take\n"
      "  pmusim record -e br_misp_retired.all_branches:upp -I ax,ip T   registers at mispredicted branches\n"
      "  pmusim record -j any_call,u -g --model lioncove T              calls, and the LBR's call chains");
  add_event_options(*command, c);
  add_sample_options(*command, c);
  add_file_options(*command, c);
  c->model.add_to(*command);
  c->kernel.add_to(*command);
  c->registers.add_to(*command, c->model, c->kernel);
  command->add_option("trace", c->trace, "Trace written by 'pmusim trace record'")->required();
  command->callback([c] { run(*c); });
}

}  // namespace pmusim::tools
