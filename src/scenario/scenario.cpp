// SPDX-License-Identifier: MIT
#include "scenario/scenario.h"

#include <array>
#include <deque>
#include <list>
#include <vector>

#include "base/suggest.h"
#include "pmusim/pmu/pmu.h"
#include "scenario/cpu.h"

namespace pmusim::scenario {

namespace {

struct Statement {
  std::string_view name;
  Checked (Cpu::*execute)(Words&);
};

constexpr std::array statements{
    Statement{"wrmsr", &Cpu::wrmsr},
    Statement{"rdmsr", &Cpu::rdmsr},
    Statement{"rdpmc", &Cpu::rdpmc},
    Statement{"cpuid", &Cpu::cpuid},
    Statement{"memory", &Cpu::memory},
    Statement{"write", &Cpu::write},
    Statement{"read", &Cpu::read},
    Statement{"retire", &Cpu::retire},
    Statement{"wait", &Cpu::wait},
    Statement{"pmi", &Cpu::pmi},
    Statement{"pmis", &Cpu::pmis},
    Statement{"pmi-ip", &Cpu::pmi_ip},
    Statement{"reset", &Cpu::reset},
    Statement{"debug-exception", &Cpu::debug_exception},
    Statement{"xsetbv", &Cpu::xsetbv},
    Statement{"xsave", &Cpu::save<SaveInstruction::xsave>},
    Statement{"xsaveopt", &Cpu::save<SaveInstruction::xsaveopt>},
    Statement{"xsavec", &Cpu::save<SaveInstruction::xsavec>},
    Statement{"xsaves", &Cpu::save<SaveInstruction::xsaves>},
    Statement{"xrstor", &Cpu::restore<RestoreInstruction::xrstor>},
    Statement{"xrstors", &Cpu::restore<RestoreInstruction::xrstors>},
};

/// A machine whose CPUs do what statements say.
struct Player {
  Player(const CpuModel& model, unsigned cpu_count) : machine(model, cpu_count) {
    for (unsigned n = 0; n < cpu_count; ++n) cpus.emplace_back(machine.cpu(n), mapped_bytes);
  }

  /// "skylake", "CPU 1 of skylake"
  std::string name_of(unsigned cpu) const {
    const std::string& model = machine.cpu(cpu).model().name;
    return machine.cpus() == 1 ? model : fmt::format("CPU {} of {}", cpu, model);
  }

  Machine machine;
  u64 mapped_bytes = 0;
  std::deque<Cpu> cpus;
};

/// A mismatch, and the CPU that has it.
struct MismatchOn {
  Mismatch mismatch;
  std::string cpu;
};

/// The machines as the first statements describe them, and as they are once another one follows. Each
/// executes each statement, on the CPU that is chosen.
class Runner {
 public:
  explicit Runner(Observer* observer) : observer_(observer) {}

  std::optional<MismatchOn> execute(Words words) {
    const std::string_view name = words.next("a statement");
    if (name == "model") return choose_models(words);
    if (name == "models") return choose_versions(words);
    if (name == "policy") return choose_policy(words);
    if (name == "cpus") return choose_cpus(words);
    if (name == "cpu") return choose_cpu(words);
    for (const Statement& statement : statements)
      if (statement.name == name) return execute(statement, words);
    std::vector<std::string_view> names{"model", "models", "policy", "cpus", "cpu"};
    for (const Statement& statement : statements) names.push_back(statement.name);
    throw Misunderstood{fmt::format("no statement '{}'{}", name, did_you_mean(name, names))};
  }

 private:
  // model NAME...: from here on these, as they are after RESET
  std::nullopt_t choose_models(Words& words) {
    start_anew();
    do {
      auto found = find_cpu_model(words.next("a model"));
      if (!found.ok()) throw Misunderstood{found.error().message};
      add(*std::move(found));
    } while (!words.empty());
    return std::nullopt;
  }

  // models perfmon FIRST LAST: every preset whose CPUID.0AH:EAX[7:0] is among these
  std::nullopt_t choose_versions(Words& words) {
    start_anew();
    words.expect("perfmon");
    const u64 first = words.next_number("the first version"), last = words.next_number("the last version");
    words.end();
    for (const CpuModel& model : cpu_models())
      if (model.perfmon_version >= first && model.perfmon_version <= last) add(model);
    if (models_.empty()) throw Misunderstood{fmt::format("no model has perfmon {} to {}", first, last)};
    return std::nullopt;
  }

  std::nullopt_t choose_policy(Words& words) {
    expect_no_machine("policy");
    const std::string_view policy = words.next("a policy"), value = words.next("a value");
    words.end();
    for (CpuModel& model : models_) {
      const auto set = set_policy(model.policies, policy, value);
      if (!set.ok()) throw Misunderstood{set.error().message};
    }
    return std::nullopt;
  }

  // cpus N: how many each machine has
  std::nullopt_t choose_cpus(Words& words) {
    expect_no_machine("cpus");
    const u64 count = words.next_number("a number of CPUs");
    words.end();
    if (count == 0 || count > max_cpus)
      throw Misunderstood{fmt::format("{} CPUs: expected 1 to {}", count, max_cpus)};
    cpus_ = static_cast<unsigned>(count);
    return std::nullopt;
  }

  // cpu N: what follows is for this one
  std::nullopt_t choose_cpu(Words& words) {
    const u64 number = words.next_number("the number of a CPU");
    words.end();
    if (number >= cpus_) throw Misunderstood{fmt::format("no CPU {}: there are {}", number, cpus_)};
    cpu_ = static_cast<unsigned>(number);
    return std::nullopt;
  }

  void expect_no_machine(std::string_view statement) const {
    if (models_.empty() || !players_.empty())
      throw Misunderstood{fmt::format("'{}' must stand between 'model' and what it is used for", statement)};
  }

  std::optional<MismatchOn> execute(const Statement& statement, const Words& words) {
    if (models_.empty()) throw Misunderstood{"expected 'model NAME' first"};
    if (players_.empty()) start();
    for (Player& player : players_) {
      Words own = words;
      if (auto mismatch = (player.cpus[cpu_].*statement.execute)(own))
        return MismatchOn{*std::move(mismatch), player.name_of(cpu_)};
    }
    return std::nullopt;
  }

  void start() {
    for (const CpuModel& model : models_) players_.emplace_back(model, cpus_);
    players_.front().machine.cpu(0).set_observer(observer_);
  }
  void start_anew() {
    models_.clear();
    players_.clear();
    cpus_ = 1;
    cpu_ = 0;
  }
  void add(CpuModel model) {
    if (models_.size() == max_models)
      throw Misunderstood{fmt::format("more than {} models", std::size_t{max_models})};
    models_.push_back(std::move(model));
  }

  static constexpr std::size_t max_models = 64, max_cpus = 8;
  Observer* observer_;
  std::vector<CpuModel> models_;
  unsigned cpus_ = 1, cpu_ = 0;
  std::list<Player> players_;
};

std::string_view without_comment(std::string_view line) {
  // A '#' in front of a letter is a fault: #GP.
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
    if (at + 1 == line.size() || line[at + 1] < 'A' || line[at + 1] > 'Z') return line.substr(0, at);
  return line;
}

}  // namespace

Result<std::optional<Difference>, Error> run(std::string_view text, const std::string& name,
                                             Observer* observer) {
  Runner runner(observer);
  bool is_empty = true;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view statement = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const Words words(statement);
    if (words.empty()) continue;
    is_empty = false;
    try {
      if (const auto found = runner.execute(words))
        return std::optional(Difference{number, found->cpu, std::string(statement), found->mismatch.expected,
                                        found->mismatch.found, found->mismatch.why});
    } catch (const Misunderstood& error) {
      return Failure(Error(fmt::format("{}:{}: {}", name, number, error.sentence)));
    }
  }
  if (is_empty)
    return Failure(Error(fmt::format("{}: holds no statement; expected 'model NAME' first", name)));
  return std::optional<Difference>();
}

}  // namespace pmusim::scenario
