// SPDX-License-Identifier: MIT
#include "formats/step_import.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/base_name.h"
#include "formats/remarks.h"
#include "formats/survey.h"
#include "formats/trace_maker.h"

namespace pmusim::formats {
namespace {

constexpr TraceMaker::Thread only_thread{1, 1};
constexpr u64 step_page_bytes = 4096, module_gap_bytes = 1 << 20;

/// The code that stands for a program's, and where its accesses went last.
class Program {
 public:
  struct Instruction {
    Code code;
    std::array<u64, 2> last_addresses{};
  };

  explicit Program(const Survey& survey) {
    const std::vector<u64> addresses = survey.addresses();
    for (std::size_t n = 0; n < addresses.size(); ++n) {
      const u64 ip = addresses[n];
      const u64 room = n + 1 < addresses.size() ? addresses[n + 1] - ip : max_instruction_bytes;
      instructions_[ip].code = stand_in(ip, survey.shape(ip, room));
      add_page(ip, instructions_[ip].code.size());
    }
  }
  /// Null for an address that the survey has not seen.
  Instruction* find(u64 ip) {
    const auto found = instructions_.find(ip);
    return found != instructions_.end() ? &found->second : nullptr;
  }
  /// Where code lies: pages, joined where they are near.
  const std::vector<trace::Mapping>& mappings() const { return mappings_; }

 private:
  void add_page(u64 ip, std::size_t bytes) {
    const u64 start = ip / step_page_bytes * step_page_bytes;
    const u64 end = (ip + bytes + step_page_bytes - 1) / step_page_bytes * step_page_bytes;
    if (mappings_.empty() || start > mappings_.back().start + mappings_.back().bytes + module_gap_bytes)
      mappings_.push_back({start, 0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE, "//anon", {}});
    mappings_.back().bytes = std::max(mappings_.back().bytes, end - mappings_.back().start);
  }

  std::unordered_map<u64, Instruction> instructions_;
  std::vector<trace::Mapping> mappings_;
};

/// Gives the operands of a stand-in the addresses of its source.
class Addresses {
 public:
  std::span<const u64> of(const x86::Instruction& decoded, const Step& step, Program::Instruction& known) {
    operands_.clear();
    auto left = step.accesses;
    for (std::size_t n = 0; n < decoded.memory_operands; ++n) {
      const x86::MemoryOperand& operand = decoded.memory[n];
      const auto exact = std::ranges::find_if(
          left, [&](const Access& a) { return a.load == operand.load && a.store == operand.store; });
      const auto near = std::ranges::find_if(
          left, [&](const Access& a) { return (a.load && operand.load) || (a.store && operand.store); });
      const auto found = exact != left.end() ? exact : near;
      if (found != left.end()) {
        known.last_addresses[n] = found->address;
        left.erase(found);
      } else if (!decoded.rep) {
        ++repeated;
      }
      operands_.push_back(known.last_addresses[n]);
    }
    dropped += left.size();
    return {operands_.data(), operands_.size()};
  }
  u64 repeated = 0, dropped = 0;

 private:
  boost::container::static_vector<u64, 2> operands_;
};

Result<Survey, Error> survey_of(StepReader& source, u64 max_instructions) {
  Survey survey;
  ExecutionReader executions(source);
  for (u64 n = 0; max_instructions == 0 || n < max_instructions; ++n) {
    const auto execution = executions.next();
    if (!execution.ok()) return Failure(execution.error());
    if (!execution->has_value()) break;
    if (const auto added = survey.add(**execution); !added.ok()) return Failure(added.error());
  }
  return survey;
}

Result<Done, Error> begin(TraceMaker& maker, const Program& program, const std::string& command) {
  const auto started =
      maker.add_side_band(trace::ProcessStart{only_thread.pid, only_thread.tid, command.substr(0, 15), true});
  if (!started.ok()) return started;
  for (const trace::Mapping& mapping : program.mappings())
    if (auto mapped = maker.add_side_band(trace::Map{only_thread.pid, mapping}); !mapped.ok()) return mapped;
  return Done{};
}

struct Written {
  u64 repeated_addresses = 0, dropped_addresses = 0;
};

Result<Written, Error> write(StepReader& source, u64 max_instructions, Program& program, TraceMaker& maker) {
  Addresses addresses;
  ExecutionReader executions(source);
  u64 next_ip = 0;
  while (max_instructions == 0 || maker.instructions() < max_instructions) {
    const auto execution = executions.next();
    if (!execution.ok()) return Failure(execution.error());
    if (!execution->has_value()) break;
    const Step& step = (*execution)->step;
    Program::Instruction* const found = program.find(step.ip);
    if (found == nullptr) return Failure(Error("the file to import has changed while it was read"));
    Program::Instruction& known = *found;
    const x86::Instruction& decoded = maker.decode(step.ip, known.code.bytes());
    const auto retired = maker.retire(only_thread, step.ip, known.code.bytes(),
                                      addresses.of(decoded, step, known), (*execution)->iterations);
    if (!retired.ok()) return Failure(retired.error());
    // Where the last one went is not known.
    next_ip = (*execution)->next_ip != 0 ? (*execution)->next_ip : step.taken ? decoded.target : 0;
  }
  if (const auto finished = maker.finish(next_ip); !finished.ok()) return Failure(finished.error());
  return Written{addresses.repeated, addresses.dropped};
}

Result<std::unique_ptr<StepReader>, Error> open(const std::string& path, const MakeStepReader& make_reader) {
  auto stream = InputStream::open(path);
  if (!stream.ok()) return Failure(stream.error());
  return make_reader(*std::move(stream));
}

}  // namespace

Result<Conversion, Error> import_steps(const ImportOptions& options, const MakeStepReader& make_reader,
                                       std::string_view not_in_source) {
  auto first = open(options.input, make_reader);
  if (!first.ok()) return Failure(first.error());
  const auto survey = survey_of(**first, options.max_instructions);
  if (!survey.ok()) return Failure(survey.error());
  Program program(*survey);
  if (program.mappings().empty()) return Failure(nothing_in(options.input, (*first)->left_out()));

  auto second = open(options.input, make_reader);
  if (!second.ok()) return Failure(second.error());
  auto writer = trace::Writer::create(options.output, {.addresses = true, .stand_in_code = true},
                                      trace::Unfinished::dropped);
  if (!writer.ok()) return Failure(writer.error());
  TraceMaker maker(*writer);
  const std::string command = base_name(options.input);
  if (const auto begun = begin(maker, program, command); !begun.ok()) return Failure(begun.error());
  const auto written = write(**second, options.max_instructions, program, maker);
  if (!written.ok()) return Failure(written.error());
  const auto finished = writer->finish();
  if (!finished.ok()) return Failure(finished.error());

  std::vector<std::string> remarks{
      "the source has no code bytes, threads, modules and system calls: bytes stand for its instructions "
      "that branch, load and store as they did, and replays refuse events that need more",
      std::string(not_in_source)};
  for (std::string& sentence : (*second)->left_out()) remarks.push_back(std::move(sentence));
  add_count(remarks, written->repeated_addresses,
            "accesses of instructions that otherwise have more have the address of the last time");
  add_count(remarks, written->dropped_addresses,
            "accesses were left out: an instruction here has two at most");
  return Conversion{finished->instructions, finished->file_bytes, std::move(remarks)};
}

}  // namespace pmusim::formats
