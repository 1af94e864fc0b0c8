// SPDX-License-Identifier: MIT
#include "formats/export.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <map>

#include "base/output_file.h"
#include "formats/champsim.h"
#include "pmusim/trace/trace.h"

namespace pmusim::formats {
namespace {

/// One instruction of a run.
struct Executed {
  const x86::Instruction& instruction;
  std::span<const std::byte> code;
  u64 next_ip = 0;
  std::span<const u64> addresses;
  std::optional<u32> iterations;  ///< of a REP instruction
};

constexpr std::string_view only_flow =
    "the file has no threads, processes, modules, signals and system calls, and of string instructions the "
    "first iteration";

/// Makes the bytes of a format.
class FormatWriter {
 public:
  FormatWriter() = default;
  FormatWriter(const FormatWriter&) = delete;
  FormatWriter& operator=(const FormatWriter&) = delete;
  virtual ~FormatWriter() = default;
  virtual void add(const Executed& executed, std::string& out) = 0;
  virtual void add(const trace::SideBandRecord&, std::string&) {}
  /// What the file does not have of a trace with these contents.
  virtual std::vector<std::string> remarks(const trace::Contents& contents) const = 0;
};

template <class Record>
class ChampSimWriter final : public FormatWriter {
 public:
  using FormatWriter::add;
  std::vector<std::string> remarks(const trace::Contents& contents) const override {
    std::vector<std::string> remarks{std::string(only_flow),
                                     "far branches and system calls are no branches to ChampSim"};
    if (!contents.addresses) remarks.emplace_back("no access has an address: the trace has none");
    return remarks;
  }
  void add(const Executed& executed, std::string& out) override {
    const auto addresses = executed.iterations == 0u ? std::span<const u64>() : executed.addresses;
    const auto record = champsim_record<Record>(executed.instruction, executed.next_ip, addresses);
    out.append(reinterpret_cast<const char*>(&record), sizeof record);
  }
};

class LackeyWriter final : public FormatWriter {
 public:
  using FormatWriter::add;
  std::vector<std::string> remarks(const trace::Contents&) const override { return {std::string(only_flow)}; }
  void add(const Executed& executed, std::string& out) override {
    const x86::Instruction& i = executed.instruction;
    fmt::format_to(std::back_inserter(out), "I  {:08x},{}\n", i.ip, i.length);
    if (executed.iterations == 0u) return;
    for (std::size_t n = 0; n < executed.addresses.size(); ++n) {
      const x86::MemoryOperand& operand = i.memory[n];
      const char kind = operand.load && operand.store ? 'M' : operand.load ? 'L' : 'S';
      fmt::format_to(std::back_inserter(out), " {} {:08x},{}\n", kind, executed.addresses[n], operand.bytes);
    }
  }
};

/// As perf prints, with the ordinal in place of the nanosecond.
class InsnTraceWriter final : public FormatWriter {
 public:
  std::vector<std::string> remarks(const trace::Contents&) const override {
    return {"the file has no addresses of accesses; its times are ordinals of instructions"};
  }
  void add(const Executed& executed, std::string& out) override {
    line_begin(out, current_.pid, current_.tid);
    fmt::format_to(std::back_inserter(out), "{:16x} [unknown] ({}) insn: ", executed.instruction.ip,
                   module_at(executed.instruction.ip));
    for (const std::byte byte : executed.code)
      fmt::format_to(std::back_inserter(out), "{:02x} ", static_cast<unsigned>(byte));
    out.back() = '\n';
    ++ordinal_;
  }
  void add(const trace::SideBandRecord& record, std::string& out) override {
    if (const auto* start = std::get_if<trace::ProcessStart>(&record)) {
      commands_[start->pid] = start->command;
      modules_[start->pid].clear();
    }
    if (const auto* start = std::get_if<trace::ThreadStart>(&record);
        start != nullptr && start->pid != start->parent_pid) {
      commands_[start->pid] = commands_[start->parent_pid];
      modules_[start->pid] = modules_[start->parent_pid];
    }
    if (const auto* change = std::get_if<trace::ThreadSwitch>(&record)) current_ = *change;
    const auto* const map = std::get_if<trace::Map>(&record);
    if (map == nullptr || (map->mapping.protection & PROT_EXEC) == 0) return;
    const trace::Mapping& m = map->mapping;
    modules_[map->pid][m.start] = m;
    line_begin(out, map->pid, map->pid);
    fmt::format_to(std::back_inserter(out),
                   "PERF_RECORD_MMAP2 {}/{}: [{:#x}({:#x}) @ {:#x} 00:00 0 0]: {}{}xp {}\n", map->pid,
                   map->pid, m.start, m.bytes, m.file_offset, (m.protection & PROT_READ) != 0 ? 'r' : '-',
                   (m.protection & PROT_WRITE) != 0 ? 'w' : '-', m.path);
  }

 private:
  void line_begin(std::string& out, u32 pid, u32 tid) {
    constexpr u64 ns_per_s = 1'000'000'000;
    fmt::format_to(std::back_inserter(out), "{:>16} {}/{} [000] {}.{:09}: ", commands_[pid], pid, tid,
                   ordinal_ / ns_per_s, ordinal_ % ns_per_s);
  }
  std::string_view module_at(u64 ip) {
    const auto& modules = modules_[current_.pid];
    const auto behind = modules.upper_bound(ip);
    if (behind == modules.begin()) return "[unknown]";
    const trace::Mapping& m = std::prev(behind)->second;
    return ip - m.start < m.bytes ? std::string_view(m.path) : "[unknown]";
  }

  std::map<u32, std::string> commands_;
  std::map<u32, std::map<u64, trace::Mapping>> modules_;  // of code, by process and start
  trace::ThreadSwitch current_;
  u64 ordinal_ = 0;
};

void add_run(const trace::BlockRun& run, FormatWriter& writer, std::string& out) {
  const auto& instructions = run.block->instructions;
  std::span<const u64> addresses = run.addresses;
  auto iterations = run.rep_counts.begin();
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    const x86::Instruction& i = instructions[n];
    Executed executed{.instruction = i, .code = run.block->code_of(i)};
    executed.next_ip = n + 1 < instructions.size() ? instructions[n + 1].ip : run.next_ip;
    executed.addresses = addresses.first(std::min<std::size_t>(i.memory_operands, addresses.size()));
    addresses = addresses.subspan(executed.addresses.size());
    if (i.rep) executed.iterations = *iterations++;
    writer.add(executed, out);
  }
}

Result<Done, Error> write(OutputFile& file, std::string& text) {
  auto written = file.write(std::as_bytes(std::span(text)));
  text.clear();
  return written;
}

Result<Conversion, Error> export_with(FormatWriter& writer, trace::Reader& reader,
                                      const std::string& output) {
  auto file = OutputFile::create(output);
  if (!file.ok()) return Failure(file.error());
  constexpr std::size_t piece_bytes = 1 << 18;
  std::string text;
  for (;;) {
    const auto item = reader.next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    if (const auto* run = std::get_if<trace::BlockRun>(&**item)) {
      add_run(*run, writer, text);
    } else {
      writer.add(std::get<trace::SideBandRecord>(**item), text);
    }
    if (text.size() < piece_bytes) continue;
    if (const auto written = write(*file, text); !written.ok()) return Failure(written.error());
  }
  if (const auto written = write(*file, text); !written.ok()) return Failure(written.error());
  const u64 bytes = file->position();
  if (const auto done = file->commit(); !done.ok()) return Failure(done.error());
  Conversion conversion{reader.instruction_count(), bytes, writer.remarks(reader.contents())};
  if (reader.contents().stand_in_code)
    conversion.remarks.emplace_back("the code bytes are not the program's: they stand for it");
  return conversion;
}

template <class Writer>
Result<Conversion, Error> export_as(const ExportOptions& options) {
  auto reader = trace::Reader::open(options.input);
  if (!reader.ok()) return Failure(reader.error());
  Writer writer;
  return export_with(writer, *reader, options.output);
}

}  // namespace

Result<Conversion, Error> export_champsim(const ExportOptions& options) {
  return export_as<ChampSimWriter<ChampSimRecord>>(options);
}

Result<Conversion, Error> export_cloudsuite(const ExportOptions& options) {
  return export_as<ChampSimWriter<CloudSuiteRecord>>(options);
}

Result<Conversion, Error> export_insn_trace(const ExportOptions& options) {
  return export_as<InsnTraceWriter>(options);
}

Result<Conversion, Error> export_lackey(const ExportOptions& options) {
  auto reader = trace::Reader::open(options.input);
  if (!reader.ok()) return Failure(reader.error());
  if (!reader->contents().addresses)
    return Failure(
        Error(fmt::format("{}: has no addresses of accesses, which lackey's text is about", options.input)));
  LackeyWriter writer;
  return export_with(writer, *reader, options.output);
}

}  // namespace pmusim::formats
