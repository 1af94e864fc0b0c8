// SPDX-License-Identifier: MIT
#include "trace_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.h"
#include "extended_text.h"
#include "truncation.h"

namespace pmusim::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 16> register_names{"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                          "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                          "r12", "r13", "r14", "r15"};

struct Access {
  u64 address;
  const x86::MemoryOperand* operand;
};
struct Change {
  std::string_view name;
  u64 value;
};

/// One executed instruction with everything the trace knows of it.
struct Executed {
  u64 ordinal;
  u32 tid;
  const x86::Instruction* instruction;
  std::span<const std::byte> code;
  bool taken;
  u64 next_ip;
  std::vector<Access> accesses;
  std::vector<Change> changes;
  std::vector<RegisterText> extended;
  std::optional<u32> cycles;  // of all instructions of its block, at the last
};

std::string hex_bytes(std::span<const std::byte> code) {
  std::string text;
  for (std::byte b : code) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}
std::string address(u64 value) { return fmt::format("{:#x}", value); }

std::vector<Change> changes_between(const Registers& before, const Registers& after) {
  std::vector<Change> changes;
  for (std::size_t r = 0; r < register_names.size(); ++r) {
    if (before.gpr[r] != after.gpr[r]) changes.push_back({register_names[r], after.gpr[r]});
  }
  if (before.rflags != after.rflags) changes.push_back({"rflags", after.rflags});
  return changes;
}

std::string_view access_name(const x86::MemoryOperand& m) {
  if (m.load && m.store) return "modify";
  return m.load ? "load" : "store";
}

// --- side-band records
// --------------------------------------------------------------------------------------------

Json describe(const trace::ProcessStart& h) {
  return {{"record", h.exec ? "exec" : "process"}, {"pid", h.pid}, {"tid", h.tid}, {"command", h.command}};
}
Json describe(const trace::ThreadStart& h) {
  return {{"record", h.pid == h.parent_pid ? "thread" : "fork"},
          {"pid", h.pid},
          {"tid", h.tid},
          {"parent_pid", h.parent_pid},
          {"parent_tid", h.parent_tid}};
}
Json describe(const trace::ThreadExit& h) {
  return {{"record", "exit"}, {"pid", h.pid}, {"tid", h.tid}, {"status", h.status}};
}
Json describe(const trace::ThreadSwitch& h) { return {{"record", "switch"}, {"pid", h.pid}, {"tid", h.tid}}; }
Json describe(const trace::Map& h) {
  return {{"record", "map"},
          {"pid", h.pid},
          {"start", address(h.mapping.start)},
          {"bytes", h.mapping.bytes},
          {"file_offset", h.mapping.file_offset},
          {"protection", h.mapping.protection},
          {"path", h.mapping.path},
          {"build_id", hex_bytes(std::as_bytes(std::span(h.mapping.build_id)))}};
}
Json describe(const trace::Unmap& h) {
  return {{"record", "unmap"}, {"pid", h.pid}, {"start", address(h.start)}, {"bytes", h.bytes}};
}
Json describe(const trace::Syscall& h) {
  return {{"record", "system call"}, {"number", h.number}, {"result", h.result}};
}
Json describe(const trace::SignalDelivery& h) {
  return {{"record", "signal"}, {"signal", h.signal}, {"handler", address(h.handler)}};
}

Json describe(const trace::Interrupt& h) {
  return {{"record", "interrupt"},
          {"vector", h.vector},
          {"from", address(h.from)},
          {"handler", address(h.handler)}};
}

Json describe(const trace::ThreadName& h) {
  return {{"record", "name"}, {"pid", h.pid}, {"tid", h.tid}, {"name", h.name}};
}

// --- lines
// ---------------------------------------------------------------------------------------------------

std::string dump_text(const Executed& e) {
  std::string line = fmt::format("{:>10} {:>7} {:>14x}  {:<22} {}", e.ordinal, e.tid, e.instruction->ip,
                                 hex_bytes(e.code), x86::disassemble(e.code, e.instruction->ip));
  if (e.instruction->branch != BranchKind::none) {
    line += fmt::format("  ; {}, ", name_of(e.instruction->branch));
    line += e.taken ? fmt::format("taken to {:x}", e.next_ip) : std::string("not taken");
  }
  for (const Access& a : e.accesses) {
    line += fmt::format("  {} {:x}/{}", access_name(*a.operand), a.address, a.operand->bytes);
  }
  for (const Change& c : e.changes) line += fmt::format("  {}={:x}", c.name, c.value);
  for (const RegisterText& r : e.extended) line += fmt::format("  {}={}", r.name, r.value);
  if (e.cycles) line += fmt::format("  {} cycles", *e.cycles);
  return line;
}

std::string dump_json(const Executed& e) {
  Json json{{"ordinal", e.ordinal},
            {"tid", e.tid},
            {"ip", address(e.instruction->ip)},
            {"code", hex_bytes(e.code)},
            {"text", x86::disassemble(e.code, e.instruction->ip)}};
  if (e.instruction->branch != BranchKind::none) {
    json["branch"] = name_of(e.instruction->branch);
    json["taken"] = e.taken;
    if (e.taken) json["target"] = address(e.next_ip);
  }
  for (const Access& a : e.accesses) {
    json["memory"].push_back(
        {{"access", access_name(*a.operand)}, {"address", address(a.address)}, {"bytes", a.operand->bytes}});
  }
  for (const Change& c : e.changes) json["registers"][std::string(c.name)] = address(c.value);
  for (const RegisterText& r : e.extended) json["registers"][r.name] = "0x" + r.value;
  if (e.cycles) json["cycles"] = *e.cycles;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_text(const Json& record) {
  std::string line = "         -";
  for (const auto& [key, value] : record.items()) {
    line += key == "record"
                ? fmt::format(" {}:", value.get<std::string>())
                : fmt::format(" {}={}", key,
                              value.is_string() ? printable(value.get<std::string>()) : value.dump());
  }
  return line;
}

class Dumper {
 public:
  Dumper(const DumpOptions& options, std::FILE* out) : options_(options), out_(out) {}

  /// The ordinal of the next instruction.
  void stand_at(u64 ordinal) { ordinal_ = ordinal; }
  bool done() const { return ordinal_ >= options_.from && ordinal_ - options_.from >= options_.count; }

  void operator()(const trace::BlockRun& run) {
    if (shows_extended(run)) extended_ = *run.extended;
    const u64* next_address = run.addresses.data();
    const auto& instructions = run.block->instructions;
    for (std::size_t n = 0; n < instructions.size() && !done(); ++n) {
      const auto& i = instructions[n];
      const bool last = n + 1 == instructions.size();
      Executed e{ordinal_, tid_, &i, run.block->code_of(i), false, last ? run.next_ip : i.end(), {},
                 {},       {},   {}};
      e.taken = last && (run.next_ip != i.end() || i.branch > BranchKind::conditional);
      if (!run.addresses.empty()) {
        for (const auto& operand : i.accesses()) e.accesses.push_back({*next_address++, &operand});
      }
      if (!run.registers.empty()) {
        e.changes = changes_between(registers_[tid_], run.registers[n]);
        registers_[tid_] = run.registers[n];
      }
      e.extended = extended_after(run, n);
      if (last) e.cycles = run.cycles;
      if (ordinal_ >= options_.from) print(options_.format == DumpFormat::json ? dump_json(e) : dump_text(e));
      ++ordinal_;
    }
  }

  void operator()(const trace::SideBandRecord& record) {
    if (const auto* to = std::get_if<trace::ThreadSwitch>(&record)) tid_ = to->tid;
    if (ordinal_ < options_.from) return;
    const Json json = std::visit([](const auto& h) { return describe(h); }, record);
    print(options_.format == DumpFormat::json ? json.dump(-1, ' ', false, Json::error_handler_t::replace)
                                              : dump_text(json));
  }

 private:
  bool shows_extended(const trace::BlockRun& run) const {
    return options_.registers == DumpedRegisters::all && run.extended != nullptr;
  }
  std::vector<RegisterText> extended_after(const trace::BlockRun& run, std::size_t n) {
    if (!shows_extended(run)) return {};
    const auto change = std::ranges::find(run.extended_changes, n, &trace::InstructionChange::instruction);
    if (change == run.extended_changes.end()) return {};
    change->change.apply_to(extended_);
    return changed_registers(change->change, extended_);
  }
  void print(const std::string& line) { fmt::print(out_, "{}\n", line); }

  const DumpOptions& options_;
  std::FILE* out_;
  u64 ordinal_ = 0;
  u32 tid_ = 0;
  std::map<u32, Registers> registers_;
  ExtendedState extended_;  // of the run that is printed
};

}  // namespace

Result<Done, Error> dump_trace(const std::string& path, const DumpOptions& options, std::FILE* out) {
  auto reader = trace::Reader::open(path);
  if (!reader.ok()) return Failure(reader.error());
  warn_if_truncated(*reader);
  if (options.from != 0)
    if (const auto begun = reader->begin_at(options.from); !begun.ok()) return Failure(begun.error());
  Dumper dumper(options, out);
  bool begun = false;
  while (!dumper.done()) {
    const auto item = reader->next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    if (std::holds_alternative<trace::BlockRun>(**item) && !std::exchange(begun, true))
      dumper.stand_at(reader->instructions_before());
    std::visit(dumper, **item);
  }
  return Done{};
}

}  // namespace pmusim::tools
