// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include "base/printable.h"
#include "command.h"
#include "count_line.h"
#include "fast_recording.h"
#include "interrupts.h"
#include "output.h"
#include "pmusim/trace/trace.h"
#include "quantity.h"
#include "trace_dump.h"
#include "trace_info.h"

namespace pmusim::tools {
namespace {

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

std::string counted(u64 amount, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", fmt::group_digits(amount), amount == 1 ? one : many);
}

std::string ending_text(const trace::RecordingSummary& summary, const trace::RecordingOptions& options) {
  if (summary.let_go && summary.status == 0) return "the program went on unrecorded\n";
  if (summary.let_go)
    return fmt::format("the program went on unrecorded, and {}\n", describe_status(summary.status));
  if (!summary.stopped_early) return fmt::format("the program {}\n", describe_status(summary.status));
  return fmt::format("the program was killed {}\n",
                     *options.stop ? "because the recorder was interrupted"
                                   : "after as many instructions as --max-instructions allows");
}

std::string summarize(const trace::RecordingSummary& summary, const trace::RecordingOptions& options) {
  const double per_instruction = summary.instructions == 0 ? 0.0
                                                           : static_cast<double>(summary.file_bytes) /
                                                                 static_cast<double>(summary.instructions);
  std::string text = fmt::format(
      "recorded {} of {} in {} to {} ({}, {:.3f} per instruction)\n",
      counted(summary.instructions, "instruction", "instructions"),
      counted(summary.threads, "thread", "threads"), counted(summary.processes, "process", "processes"),
      printable(options.output), counted(summary.file_bytes, "byte", "bytes"), per_instruction);
  text += ending_text(summary, options);
  if (summary.gaps != 0) {
    text += fmt::format("{} through code that cannot be read\n",
                        counted(summary.gaps, "step went", "steps went"));
  }
  for (const std::string& program : summary.without_rights)
    text += fmt::format("{} ran without the rights that its file gives it, because it was traced\n",
                        printable(program));
  return text;
}

/// What is recorded, and how.
struct Recorded {
  RecorderChoice choice = RecorderChoice::automatic;
  std::vector<std::string> command;
  std::optional<u32> process;
  qemu::RecordedAddresses addresses = qemu::RecordedAddresses::all;
  bool quiet = false;
};

/// The signal that ends the command, once its recording is kept; 0 if none. A program that Ctrl-C has ended
/// takes its recorder with it.
int ending_signal(const trace::RecordingSummary& summary) {
  if (Interrupts::caught() != 0) return Interrupts::caught();
  const bool by_interrupt = WIFSIGNALED(summary.status) && WTERMSIG(summary.status) == SIGINT;
  return by_interrupt && Interrupts::ctrl_c_came() ? SIGINT : 0;
}

void record_and_report(const Recorded& what, trace::RecordingOptions options) {
  check_output_name(options.output, what.command);
  const Interrupts interrupts(what.process ? CtrlC::command : CtrlC::program);
  options.stop = &Interrupts::end_requested();
  std::optional<CountLine> progress;
  if (!what.quiet) progress.emplace("recording");
  if (progress) options.progress = [&](u64 instructions) { progress->show(instructions); };
  const auto recorded = what.process ? record_running(*what.process, options)
                                     : record_program(what.choice, what.command, options, what.addresses);
  progress.reset();
  const ProgramRecording recording = value_or_fail(recorded);
  if (!what.quiet) say_lines(summarize(recording.summary, options) + recording.recorder + recording.missing);
  if (const int signal = ending_signal(recording.summary); signal != 0) throw EndedBySignal{signal};
}

void add_region(CLI::App& command, trace::Region& region, std::optional<std::string>& max_size) {
  command.option_defaults()->group("Part of the run (the program goes on unrecorded after it)");
  command.add_option("--delay", region.delay_ms, "Begin after N ms at native speed");
  command.add_option("--start-symbol", region.start_symbol,
                     "Begin where a thread reaches this function of the program or a library");
  command.add_flag("--marks", region.marks,
                   "Begin at an SSC start mark (mov $0x111,%ebx; .byte 0x64,0x67,0x90), end at a stop mark "
                   "(0x222)");
  command.add_option("--skip", region.skip, "Begin N instructions later");
  command.add_option("--count", region.count, "End after N instructions (and the rest of a block)");
  command.add_option("--stop-symbol", region.stop_symbol, "End where a thread reaches this function");
  command.add_option("--max-size", max_size, "End when the file has so many bytes: 512K, 64M or 1G");
  command.option_defaults()->group("Options");
}

void add_trace_record(CLI::App& trace) {
  auto* command = trace.add_subcommand("record", "Run a program and record every instruction it executes");
  command->footer(
      "The program runs under qemu's user-mode emulation where that is installed (package qemu-user) and no\n"
      "registers are asked for: tens of millions of instructions per second. Otherwise it runs under ptrace\n"
      "single steps, 40,000 to 160,000 per CPU second; --step asks for these. Threads and child processes "
      "are\n"
      "followed. SIGTERM, HUP, QUIT... end program and recording, which is kept. The exit status is 0 when\n"
      "the recording is complete, whatever the program's own; the summary tells that. It is 128 and the\n"
      "signal's number after a signal, 130 for Ctrl-C.\n\n"
      "  pmusim trace record -o ls.pmutrace ls -l\n"
      "  pmusim trace record --start-symbol main --count 1000000 ./program\n"
      "  pmusim trace record --delay 500 --max-size 10M -p 1234");
  struct Options {
    trace::RecordingOptions record;
    std::string registers = "none";
    bool fast = false, step = false, no_addresses = false;
    std::optional<std::string> max_size;
    Recorded what;
  };
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->record.output, "The trace to write")->capture_default_str();
  command
      ->add_option("--regs", options->registers,
                   "Registers to record: none, gpr (general ones after each instruction), simd (those, and "
                   "x87, vector and mask registers where they change)")
      ->check(CLI::IsMember({"none", "gpr", "simd"}))
      ->capture_default_str();
  command->add_option("--max-instructions", options->record.max_instructions,
                      "Kill the program after N instructions (or a few more) and keep what was recorded");
  auto* const fast = command->add_flag("--fast", options->fast, "Record under qemu, or not at all");
  command
      ->add_flag(
          "--step,--exact", options->step,
          "Record by single steps: on this machine's CPU, threads as they take turns, to the instruction")
      ->excludes(fast);
  command->add_flag("--no-addresses", options->no_addresses, "Under qemu: control flow only, faster still");
  add_region(*command, options->record.region, options->max_size);
  command
      ->add_option("-p,--pid", options->what.process,
                   "Record a process that runs, by single steps, until it ends or Ctrl-C; it goes on then")
      ->excludes(fast);
  command->add_flag("-q,--quiet", options->what.quiet, "Print nothing");
  command->add_option("program", options->what.command, "The program and its arguments");
  command->positionals_at_end();  // options behind the program's name are the program's
  command->callback([options] {
    options->record.registers = options->registers == "simd"  ? trace::RecordedRegisters::simd
                                : options->registers == "gpr" ? trace::RecordedRegisters::gpr
                                                              : trace::RecordedRegisters::none;
    options->what.choice = options->fast   ? RecorderChoice::fast
                           : options->step ? RecorderChoice::step
                                           : RecorderChoice::automatic;
    if (options->no_addresses) options->what.addresses = qemu::RecordedAddresses::none;
    if (options->max_size) options->record.region.max_bytes = size_in_bytes("--max-size", *options->max_size);
    if (options->what.command.empty() != options->what.process.has_value())
      throw CommandError("expected either a program to record or -p PID");
    record_and_report(options->what, options->record);
  });
}

void add_info(CLI::App& trace) {
  auto* command = trace.add_subcommand("info", "Say what a trace holds");
  command->footer("A system call's instruction counts as a (far) branch, as hardware counts it.");
  struct Options {
    std::string path;
    std::optional<std::string> html;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("trace", options->path, "The trace to read")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--html", options->html, "Write a page for a browser to this file");
  command->callback([options] {
    if (options->html) check_output_name(*options->html, std::span(&options->path, 1), "--html");
    const TraceInfo info = value_or_fail(read_trace_info(options->path));
    if (options->html) write_page(*options->html, format_html(info, options->path));
    if (options->json || !options->html)
      fmt::print("{}", options->json ? format_json(info) : format_text(info));
  });
}

void add_dump(CLI::App& trace) {
  auto* command = trace.add_subcommand("dump", "Print a trace instruction by instruction");
  command->footer(
      "Each line has ordinal, thread, address, code bytes and text; for branches the kind and where they "
      "went; the\n"
      "memory accesses (address/bytes) and, where recorded, the registers that changed. Lines that begin\n"
      "with - are what happened between instructions. A system call's instruction counts as a (far) branch.");
  struct Options {
    std::string path;
    DumpOptions dump;
    bool json = false, extended = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("trace", options->path, "The trace to read")->required();
  command->add_option("--from", options->dump.from,
                      "First instruction to print (0 is the trace's first); it shows all registers");
  command->add_option("--count", options->dump.count, "How many instructions to print");
  command->add_flag("--regs", options->extended,
                    "Print vector, mask and other extended registers that changed, too");
  command->add_flag("--json", options->json, "Print one JSON object per line");
  command->callback([options] {
    options->dump.registers = options->extended ? DumpedRegisters::all : DumpedRegisters::general;
    options->dump.format = options->json ? DumpFormat::json : DumpFormat::text;
    value_or_fail(dump_trace(options->path, options->dump, stdout));
  });
}

}  // namespace

void add_trace(CLI::App& app) {
  auto* trace = app.add_subcommand("trace", "Record programs, look into traces");
  trace->require_subcommand(1);
  add_trace_record(*trace);
  add_info(*trace);
  add_dump(*trace);
  add_trace_formats(*trace);
}

}  // namespace pmusim::tools
