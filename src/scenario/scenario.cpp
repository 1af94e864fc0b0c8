#include "pmusim/scenario/scenario.h"

#include <array>

#include "pmusim/base/suggest.h"
#include "scenario/machine.h"

namespace pmusim::scenario {

namespace {

struct Statement {
  std::string_view name;
  Checked (Machine::*execute)(Words&);
};

constexpr std::array statements{
    Statement{"wrmsr", &Machine::wrmsr},   Statement{"rdmsr", &Machine::rdmsr},
    Statement{"rdpmc", &Machine::rdpmc},   Statement{"cpuid", &Machine::cpuid},
    Statement{"memory", &Machine::memory}, Statement{"write", &Machine::write},
    Statement{"read", &Machine::read},     Statement{"retire", &Machine::retire},
    Statement{"wait", &Machine::wait},     Statement{"pmi", &Machine::pmi},
    Statement{"pmis", &Machine::pmis},     Statement{"reset", &Machine::reset},
};

/// The CPU as the first statements describe it, and the machine once another one follows.
class Runner {
 public:
  Checked execute(Words words) {
    const std::string_view name = words.next("a statement");
    if (name == "model") return choose_model(words);
    if (name == "policy") return choose_policy(words);
    for (const Statement& statement : statements)
      if (statement.name == name) return (machine().*statement.execute)(words);
    std::vector<std::string_view> names{"model", "policy"};
    for (const Statement& statement : statements) names.push_back(statement.name);
    throw Misunderstood{fmt::format("no statement '{}'{}", name, did_you_mean(name, names))};
  }

 private:
  Checked choose_model(Words& words) {
    if (machine_) throw Misunderstood{"'model' must stand before what it is used for"};
    auto found = find_cpu_model(words.next("a model"));
    if (!found.ok()) throw Misunderstood{found.error().message};
    model_ = *std::move(found);
    words.end();
    return std::nullopt;
  }

  Checked choose_policy(Words& words) {
    if (!model_ || machine_)
      throw Misunderstood{"'policy' must stand between 'model' and what it is used for"};
    const std::string_view policy = words.next("a policy");
    const auto set = set_policy(model_->policies, policy, words.next("a value"));
    if (!set.ok()) throw Misunderstood{set.error().message};
    words.end();
    return std::nullopt;
  }

  Machine& machine() {
    if (!model_) throw Misunderstood{"expected 'model NAME' first"};
    if (!machine_) machine_.emplace(*model_);
    return *machine_;
  }

  std::optional<CpuModel> model_;
  std::optional<Machine> machine_;
};

std::string_view without_comment(std::string_view line) {
  // A '#' in front of a letter is a fault: #GP.
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
    if (at + 1 == line.size() || line[at + 1] < 'A' || line[at + 1] > 'Z') return line.substr(0, at);
  return line;
}

}  // namespace

Result<std::optional<Difference>, Error> run(std::string_view text, const std::string& name) {
  Runner runner;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view statement = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const Words words(statement);
    if (words.empty()) continue;
    try {
      if (const Checked mismatch = runner.execute(words))
        return std::optional(Difference{number, std::string(statement), mismatch->expected, mismatch->found});
    } catch (const Misunderstood& error) {
      return Failure(Error(fmt::format("{}:{}: {}", name, number, error.sentence)));
    }
  }
  return std::optional<Difference>();
}

}  // namespace pmusim::scenario
