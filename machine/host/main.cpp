// SPDX-License-Identifier: MIT
// pmusim-machine run: a command on a Linux kernel on the machine with the emulated PMU.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "guest/channel.h"
#include "host/debugger.h"
#include "host/emulator.h"
#include "host/errors.h"
#include "host/outcome.h"
#include "host/root.h"
#include "host/symbols.h"
#include "pmusim/cpu/model.h"

namespace pmusim::machine {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string machine, model = "icelake-server", kernel, append, output = ".", console, record, registers,
                       hardware_log, hardware_timeline, gdb;
  unsigned memory_mb = 512, cpus = 1, seconds = 0;
  std::vector<std::string> files, command;
};

/// A file for the emulator, which opens it by its path: it has no name that would be left behind, whoever is
/// killed.
class UnnamedFile {
 public:
  UnnamedFile() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "pmusim-machine-XXXXXX").string();
    const int made = error ? -1 : mkstemp(name.data());
    if (made < 0)
      throw Refusal("no temporary file can be made; TMPDIR may name another folder than /tmp for it");
    unlink(name.c_str());
    descriptor_ =
        fcntl(made, F_DUPFD, REMARKS_DESCRIPTOR + 1);  // those before have other uses in the emulator
    close(made);
  }
  ~UnnamedFile() { close(descriptor_); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  /// To us and to children.
  fs::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

/// What is at the beginning of an image of Linux for x86 (Documentation/arch/x86/boot.rst): "HdrS" at 202H,
/// the protocol's version, and from 2.12 on a bit that says that the kernel is entered in 64 bits.
void check_kernel(const fs::path& kernel) {
  constexpr std::size_t magic = 0x202, version = 0x206, load_flags = 0x236, bytes = 0x238;
  std::ifstream file(kernel, std::ios::binary);
  if (!file) throw Refusal(kernel.string() + ": cannot be read; expected a kernel (bzImage)");
  std::string head(bytes, '\0');
  file.read(head.data(), bytes);
  if (head.compare(magic, 4, "HdrS") != 0)
    throw Refusal(kernel.string() + ": not a bzImage of Linux for x86: there is no \"HdrS\" at offset 202H");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(head[at]); };
  if ((byte(version) | byte(version + 1) << 8) < 0x20C || (byte(load_flags) & 1) == 0)
    throw Refusal(kernel.string() +
                  ": a kernel of 32 bits; expected one of 64 (x86_64), as programs here are");
}

/// The folder, environment and words of the command, as the guest's first process reads them.
std::string command_text(const Options& options) {
  std::string text = fs::current_path().string() + '\0';
  for (const char* variable :
       {"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb",
        "PERF_PAGER=cat", "PAGER=cat"})
    text += std::string(variable) + '\0';
  text += '\0';
  for (const std::string& word : options.command) text += word + '\0';
  return text;
}

Root root_of(const Options& options) {
  Root root(fs::path(options.machine) / "init");
  root.add_folder(fs::current_path().string());
  if (const fs::path perf = find_program("perf"); !perf.empty()) root.add(perf);
  // The command, and each of its words that names a program or a file.
  for (const std::string& word : options.command) {
    std::error_code no_name;  // a word may be longer than names are
    if (fs::is_regular_file(word, no_name))
      root.add(word);
    else if (const fs::path program = find_program(word); !program.empty())
      root.add(program);
  }
  for (const std::string& file : options.files) root.add(file);
  root.add_text("/command", command_text(options));
  if (!options.record.empty()) root.add_text("/record", "");
  if (!options.hardware_log.empty()) root.add_text("/symbols", "");
  return root;
}

void write_archive(const Options& options, const fs::path& path) {
  const std::string archive = root_of(options).archive();
  // The kernel, the archive as it comes and unpacked, and something to run in.
  const unsigned needed_mb = static_cast<unsigned>(2 * archive.size() >> 20) + 128;
  if (options.memory_mb < needed_mb)
    throw Refusal("--memory " + std::to_string(options.memory_mb) + ": too little for this root; expected " +
                  std::to_string(needed_mb) + " at least");
  std::ofstream file(path, std::ios::binary);
  file << archive;
  if (!file.flush())
    throw Refusal("the guest's root cannot be written to a temporary file: " +
                  std::string(std::strerror(errno)));
}

/// Time is the number of instructions: a nanosecond each, so that no run depends on how fast this machine is.
std::vector<std::string> emulator_words(const Options& options, Vendor vendor, const fs::path& root,
                                        const fs::path& console, const DebuggerSocket* debugger) {
  const fs::path machine(options.machine);
  std::vector<std::string> words{
      (machine / "pmusim-machine-emulator").string(), "-L", (machine / "firmware").string(), "-M",
      "pc,hpet=off", "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off,align=off", "-rtc",
      "base=2026-01-01,clock=vm", "-seed", "0", "-cpu",
      std::string("max,hypervisor=off,vendor=") + (vendor == Vendor::amd ? "AuthenticAMD" : "GenuineIntel"),
      "-m", std::to_string(options.memory_mb), "-smp", std::to_string(options.cpus), "-nodefaults",
      "-display", "none", "-vga", "none", "-no-reboot", "-serial", "file:" + console.string(), "-kernel",
      options.kernel, "-initrd", root.string(),
      // Symbols have the addresses of the image, and counters are the command's.
      "-append",
      "console=ttyS0,115200 rdinit=/init panic=-1 nokaslr mitigations=off nmi_watchdog=0 tsc=reliable "
      "no_timer_check "
      "random.trust_cpu=on lpj=4000000 audit=0 selinux=0 apparmor=0 " +
          options.append};
  if (debugger != nullptr)
    for (std::string& word : debugger->emulator_words()) words.push_back(std::move(word));
  return words;
}

/// A path as a shell and a debugger take it for one word.
std::string quoted(const std::string& path) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%";
  if (path.find_first_not_of(harmless) == std::string::npos) return path;
  std::string text = "'";
  for (const char c : path) c == '\'' ? text += "'\\''" : text += c;
  return text + "'";
}

/// What to type, elsewhere, while the machine waits.
void say_how_to_debug(const DebuggerSocket& debugger, const std::string& kernel) {
  const fs::path vmlinux = vmlinux_of(kernel);
  const std::string symbols = vmlinux.empty() ? "" : quoted(vmlinux.string()) + " ";
  std::fprintf(stderr,
               "pmusim-machine: stopped before the first instruction, until a debugger goes on; Ctrl-C ends "
               "it:\n  gdb %s-ex %s\n",
               symbols.c_str(), quoted("target remote " + debugger.target()).c_str());
  if (vmlinux.empty())
    std::fprintf(stderr,
                 "pmusim-machine: there is no vmlinux of this kernel here; its functions are where 'run -- "
                 "cat /proc/kallsyms' says, in each run\n");
}

/// What the PMUs had to say: each sentence once, though every CPU says it.
void print_remarks(const std::string& remarks) {
  std::set<std::string> printed;
  std::istringstream lines(remarks);
  for (std::string line; std::getline(lines, line);)
    if (printed.insert(line).second) std::fprintf(stderr, "pmusim-machine: %s\n", line.c_str());
}

/// The end of what the kernel said.
std::string last_lines(const fs::path& console, std::size_t count) {
  std::ifstream file(console);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back("  " + line);
  std::string text;
  for (std::size_t n = lines.size() > count ? lines.size() - count : 0; n < lines.size(); ++n)
    text += "\n" + lines[n];
  return text;
}

int status_of(const EmulatorEnd& end, const Outcome& outcome, const Options& options,
              const fs::path& console) {
  if (end.signal != 0) {
    std::fprintf(stderr, "pmusim-machine: ended by signal %d; %zu files had come out of the guest\n",
                 end.signal, outcome.files().size());
    return 128 + end.signal;
  }
  if (end.timed_out) {
    std::fprintf(stderr, "pmusim-machine: not done after %u seconds. The kernel said last:%s\n",
                 options.seconds, last_lines(console, 5).c_str());
    return 124;
  }
  if (!outcome.failure().empty()) {
    std::fprintf(stderr, "pmusim-machine: the guest could not run the command: %s\n",
                 outcome.failure().c_str());
    return 1;
  }
  if (outcome.exit_status()) return *outcome.exit_status();
  std::fprintf(
      stderr, "pmusim-machine: %s (the emulator's exit status is %d). The kernel said last:%s\n",
      outcome.started() ? "the machine stopped before the command ended" : "the kernel did not come up",
      end.exit_status, last_lines(console, 12).c_str());
  return 1;
}

/// Of a file that the emulator is going to make, if it is to make one.
void check_folder_of(const std::string& option, const std::string& file) {
  if (!file.empty() && access(fs::absolute(file).parent_path().c_str(), W_OK) != 0)
    throw Refusal(option + " " + file + ": no folder that can be written to; expected one for the file");
}

/// The functions of the guest's kernel stand beside the trace.
void say_recorded(const std::string& trace, const Outcome& outcome) {
  if (!fs::exists(trace)) {
    std::fprintf(stderr,
                 "pmusim-machine: --record: nothing was recorded, as the guest counted nothing: the command "
                 "is to be one that counts, perf stat\n");
    return;
  }
  if (!write_whole(trace + ".kallsyms", outcome.symbols()))
    std::fprintf(stderr,
                 "pmusim-machine: %s.kallsyms: cannot be written; the kernel's functions have no names\n",
                 trace.c_str());
}

/// Of the files that a log has for each CPU. (What is on standard output stays as it is.)
void name_functions_in(const std::string& log, unsigned cpus, const std::string& kallsyms) {
  const KernelFunctions functions(kallsyms);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    const fs::path file = cpu == 0 ? log : log + "." + std::to_string(cpu);
    if (fs::is_regular_file(file) && !functions.name_in(file))
      std::fprintf(stderr, "pmusim-machine: %s: cannot be written again; its addresses have no names\n",
                   file.c_str());
  }
}

int run(const Options& options) {
  if (options.machine.empty() || !fs::exists(fs::path(options.machine) / "pmusim-machine-emulator"))
    throw Refusal("there is no machine in '" + options.machine +
                  "'; 'machine/pmusim-machine build' makes it");
  const auto model = find_cpu_model(options.model);
  if (!model.ok()) throw Refusal(model.error().message);
  check_kernel(options.kernel);
  if (!fs::is_directory(options.output))
    throw Refusal(options.output + ": no such folder; expected one for the files that the command writes");
  if (options.record.empty() && !options.registers.empty())
    throw Refusal("--regs: is of a trace; expected --record FILE beside it");
  if (!options.record.empty() && options.cpus != 1)
    throw Refusal("--record: is of one CPU; leave --cpus out");
  if (!options.gdb.empty() && options.seconds != 0)
    throw Refusal("--timeout: a debugger stops the machine for as long as it likes; leave it out with --gdb");
  const std::array<std::pair<std::string, std::string>, 4> files{
      {{"--record", options.record},
       {"--console", options.console},
       {"--hw-log", options.hardware_log},
       {"--hw-timeline", options.hardware_timeline}}};
  for (const auto& [option, file] : files) {
    check_folder_of(option, file);
    if (file == "-" && option.starts_with("--hw") && options.cpus != 1)
      throw Refusal(option + " -: each CPU has a file of its own; expected the name of one");
    if (!file.empty() && std::ranges::count(files, file, &std::pair<std::string, std::string>::second) != 1)
      throw Refusal(option + " " + file + ": another option names the same file; expected one for each");
  }
  std::optional<DebuggerSocket> debugger;
  if (!options.gdb.empty()) debugger.emplace(options.gdb);
  const UnnamedFile root, kept_console;
  write_archive(options, root.path());
  const fs::path console = options.console.empty() ? kept_console.path() : fs::absolute(options.console);
  Outcome outcome(fs::current_path(), fs::absolute(options.output));
  const auto absolute = [](const std::string& file) {
    return file.empty() || file == "-" ? file : fs::absolute(file).string();
  };
  const std::string record = options.record.empty() ? "" : fs::absolute(options.record).string();
  if (debugger) say_how_to_debug(*debugger, options.kernel);
  const EmulatorEnd end = run_emulator(
      emulator_words(options, model->vendor, root.path(), console, debugger ? &*debugger : nullptr),
      {model->name, record, !options.registers.empty(), absolute(options.hardware_log),
       absolute(options.hardware_timeline)},
      options.seconds, [&](std::string_view bytes) { outcome.take(bytes); });
  if (!record.empty()) say_recorded(record, outcome);
  if (!options.hardware_log.empty()) name_functions_in(options.hardware_log, options.cpus, outcome.symbols());
  if (!outcome.symbols().empty()) cache_symbols(build_id_of(outcome.notes()), outcome.symbols());
  print_remarks(end.remarks);
  return status_of(end, outcome, options, console);
}

constexpr const char* footer = R"(Example:
  pmusim-machine run --model sapphirerapids -- perf record -e cycles:pp -o perf.data -- ls -l /usr/bin
  perf report

The guest's root is memory: busybox, perf, and what the command names: programs with their libraries, and files, each where it
is on this machine. The command runs as root in a folder of the same name as the current one; files that it leaves there
come back. Exit status: the command's; 2 if it could not be begun, 1 if the kernel stopped before it ended.)";

}  // namespace
}  // namespace pmusim::machine

int main(int argc, char** argv) {
  using namespace pmusim::machine;
  signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of writing, and nothing is left behind
  // What stands behind "--" is the command.
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  CLI::App app("An unmodified Linux kernel on a machine whose CPUs have the emulated PMU", "pmusim-machine");
  app.require_subcommand(1);
  Options options;
  CLI::App* const command = app.add_subcommand(
      "run", "Boot a kernel, run the command behind -- on it, and bring back what it wrote");
  command->add_option("--machine", options.machine, "Folder that 'pmusim-machine build' has made")
      ->envname("PMUSIM_MACHINE_BUILD")
      ->type_name("DIR");
  command->add_option("--model", options.model, "CPU model, of 'pmusim models'")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--memory", options.memory_mb, "MiB of memory")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str()
      ->type_name("MB");
  command->add_option("--cpus", options.cpus, "CPUs, each with a PMU of its own")
      ->check(CLI::Range(1, 8))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--kernel", options.kernel, "bzImage to boot; Debian's kernel for clouds if not given")
      ->type_name("FILE");
  command->add_option("--append", options.append, "Words for the kernel's command line, behind ours")
      ->type_name("WORDS");
  command
      ->add_option("--file", options.files,
                   "File or folder that the guest needs beside what the command names; may be repeated")
      ->type_name("PATH")
      ->expected(1)
      ->take_all();
  command->add_option("-o,--output", options.output, "Folder for the files that the command writes")
      ->capture_default_str()
      ->type_name("DIR");
  command
      ->add_option(
          "--record", options.record,
          "Write a trace of what executes while the guest's counters run, the kernel's code included; "
          "its functions go into FILE.kallsyms")
      ->type_name("FILE");
  command
      ->add_option("--regs", options.registers,
                   "Registers of the trace: gpr, the general ones and the flags after every instruction")
      ->check(CLI::IsMember({"gpr"}))
      ->type_name("SET");
  command
      ->add_option("--hw-log", options.hardware_log,
                   "Write register accesses, overflows, reloads, PMIs, records and branches to this file, a "
                   "line each, those of CPU N to FILE.N; - is standard output")
      ->type_name("FILE");
  command
      ->add_option("--hw-timeline", options.hardware_timeline,
                   "Write them for Perfetto or chrome://tracing, where a microsecond is a nanosecond of the "
                   "guest's time")
      ->type_name("FILE");
  command->add_option("--console", options.console, "Keep what the kernel says in a file")->type_name("FILE");
  command
      ->add_option("--timeout", options.seconds, "Stop after so many seconds, with exit status 124; 0: never")
      ->capture_default_str()
      ->type_name("S");
  const CLI::Option* const gdb =
      command
          ->add_option("--gdb", options.gdb,
                       "Wait before the first instruction for a debugger of the guest, at a port of this "
                       "machine or at a socket with this path; gdb.socket if neither is given")
          ->type_name("[PORT|PATH]")
          ->expected(0, 1);
  command->footer(footer);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
    if (dashes + 1 >= end) throw Refusal("no command; expected one behind --");
    options.command.assign(dashes + 1, end);
    if (gdb->count() != 0 && options.gdb.empty()) options.gdb = "gdb.socket";
    if (options.kernel.empty())
      options.kernel = (std::filesystem::path(options.machine) / "kernel/bzImage").string();
    return run(options);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pmusim-machine: %s\n", error.what());
    return 2;
  }
}
