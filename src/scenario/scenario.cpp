// SPDX-License-Identifier: MIT
#include "scenario/scenario.h"

#include <array>
#include <list>
#include <vector>

#include "base/suggest.h"
#include "scenario/machine.h"

namespace pmusim::scenario {

namespace {

struct Statement {
  std::string_view name;
  Checked (Machine::*execute)(Words&);
};

constexpr std::array statements{
    Statement{"wrmsr", &Machine::wrmsr},
    Statement{"rdmsr", &Machine::rdmsr},
    Statement{"rdpmc", &Machine::rdpmc},
    Statement{"cpuid", &Machine::cpuid},
    Statement{"memory", &Machine::memory},
    Statement{"write", &Machine::write},
    Statement{"read", &Machine::read},
    Statement{"retire", &Machine::retire},
    Statement{"wait", &Machine::wait},
    Statement{"pmi", &Machine::pmi},
    Statement{"pmis", &Machine::pmis},
    Statement{"pmi-ip", &Machine::pmi_ip},
    Statement{"reset", &Machine::reset},
    Statement{"debug-exception", &Machine::debug_exception},
    Statement{"xsetbv", &Machine::xsetbv},
    Statement{"xsave", &Machine::save<SaveInstruction::xsave>},
    Statement{"xsaveopt", &Machine::save<SaveInstruction::xsaveopt>},
    Statement{"xsavec", &Machine::save<SaveInstruction::xsavec>},
    Statement{"xsaves", &Machine::save<SaveInstruction::xsaves>},
    Statement{"xrstor", &Machine::restore<RestoreInstruction::xrstor>},
    Statement{"xrstors", &Machine::restore<RestoreInstruction::xrstors>},
};

/// A mismatch, and the model of the machine that has it.
struct MismatchOn {
  Mismatch mismatch;
  std::string model;
};

/// The CPUs as the first statements describe them, and the machines once another one follows. Each machine
/// executes each statement.
class Runner {
 public:
  explicit Runner(Observer* observer) : observer_(observer) {}

  std::optional<MismatchOn> execute(Words words) {
    const std::string_view name = words.next("a statement");
    if (name == "model") return choose_models(words);
    if (name == "models") return choose_versions(words);
    if (name == "policy") return choose_policy(words);
    for (const Statement& statement : statements)
      if (statement.name == name) return execute(statement, words);
    std::vector<std::string_view> names{"model", "models", "policy"};
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
    if (models_.empty() || !machines_.empty())
      throw Misunderstood{"'policy' must stand between 'model' and what it is used for"};
    const std::string_view policy = words.next("a policy"), value = words.next("a value");
    words.end();
    for (CpuModel& model : models_) {
      const auto set = set_policy(model.policies, policy, value);
      if (!set.ok()) throw Misunderstood{set.error().message};
    }
    return std::nullopt;
  }

  std::optional<MismatchOn> execute(const Statement& statement, const Words& words) {
    if (models_.empty()) throw Misunderstood{"expected 'model NAME' first"};
    if (machines_.empty()) start();
    for (Machine& machine : machines_) {
      Words own = words;
      if (auto mismatch = (machine.*statement.execute)(own))
        return MismatchOn{*std::move(mismatch), machine.model()};
    }
    return std::nullopt;
  }

  void start() {
    for (const CpuModel& model : models_) machines_.emplace_back(model);
    machines_.front().set_observer(observer_);
  }
  void start_anew() {
    models_.clear();
    machines_.clear();
  }
  void add(CpuModel model) {
    if (models_.size() == max_models)
      throw Misunderstood{fmt::format("more than {} models", std::size_t{max_models})};
    models_.push_back(std::move(model));
  }

  static constexpr std::size_t max_models = 64;
  Observer* observer_;
  std::vector<CpuModel> models_;
  std::list<Machine> machines_;
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
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view statement = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const Words words(statement);
    if (words.empty()) continue;
    try {
      if (const auto found = runner.execute(words))
        return std::optional(Difference{number, found->model, std::string(statement),
                                        found->mismatch.expected, found->mismatch.found,
                                        found->mismatch.why});
    } catch (const Misunderstood& error) {
      return Failure(Error(fmt::format("{}:{}: {}", name, number, error.sentence)));
    }
  }
  return std::optional<Difference>();
}

}  // namespace pmusim::scenario
