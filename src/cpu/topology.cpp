// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "cpu/model_names.h"
#include "pmusim/cpu/setup.h"

namespace pmusim {

namespace {

template <class... Args>
Failure<Error> no_machine(std::string_view text, fmt::format_string<Args...> format, Args&&... args) {
  return Failure(
      Error(fmt::format("machine '{}': {}", text, fmt::format(format, std::forward<Args>(args)...))));
}

std::optional<u32> cpu_number(std::string_view text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What a product's name stands for: the P core's model first. Cores of one product have one TSC.
Result<std::vector<CpuModel>, Error> core_types(std::string_view product) {
  Result<CpuModel, Error> model = find_cpu_model(product);
  if (!model.ok()) return Failure(model.error());
  std::vector<CpuModel> types{std::move(model).value()};
  const ModelAlias* const alias = find_model_alias(product);
  if (alias == nullptr || alias->e_core.empty()) return types;
  types.push_back(*find_cpu_model(alias->e_core));
  return types;
}

void make_hybrid(std::vector<CpuModel>& types) {
  for (CpuModel& type : types) {
    type.hybrid = true;
    type.core.tsc_hz = types.front().core.tsc_hz;
    type.core.bus_hz = types.front().core.bus_hz;
  }
}

/// The numbers of "2s8c16t" by their letters.
using Counts = std::map<char, u32>;

Result<Counts, Error> parse_counts(std::string_view text, std::string_view counts) {
  Counts found;
  if (counts.empty()) return no_machine(text, "no counts stand behind the ':', as in '4c8t'");
  while (!counts.empty()) {
    u32 number = 0;
    const auto [end, error] = std::from_chars(counts.data(), counts.data() + counts.size(), number);
    const auto digits = static_cast<std::size_t>(end - counts.data());
    if (error != std::errc() || digits == counts.size() ||
        std::string_view("sctpe").find(counts[digits]) == std::string_view::npos)
      return no_machine(
          text,
          "'{}' is no count: expected a number and s (packages), c (cores), t (threads), p or e "
          "(P and E cores)",
          counts);
    if (number == 0 || number > Topology::most_cpus)
      return no_machine(text, "{}{} is not between 1 and {}", number, counts[digits], Topology::most_cpus);
    if (!found.emplace(counts[digits], number).second)
      return no_machine(text, "'{}' is counted twice", counts[digits]);
    counts.remove_prefix(digits + 1);
  }
  return found;
}

u32 count(const Counts& counts, char letter, u32 otherwise) {
  const auto found = counts.find(letter);
  return found == counts.end() ? otherwise : found->second;
}

/// Cores that are all alike: the first threads of all come first.
void add_alike(Topology& machine, u32 packages, u32 cores, u32 threads) {
  for (u32 thread = 0; thread < threads; ++thread)
    for (u32 n = 0; n < cores; ++n) {
      const u32 in_package = cores / packages;
      machine.cpus.push_back({.package = n / in_package, .core = n % in_package, .thread = thread});
    }
}

/// Threads of a core are neighbours, and E cores come last.
void add_hybrid(Topology& machine, u32 p_cores, u32 threads, u32 e_cores) {
  for (u32 core = 0; core < p_cores + e_cores; ++core)
    for (u32 thread = 0; thread < (core < p_cores ? threads : 1); ++thread)
      machine.cpus.push_back({.core = core, .thread = thread, .type = core < p_cores ? 0u : 1u});
}

using Place = std::tuple<u32, u32, u32>;
Place core_of(const LogicalCpu& cpu) { return {cpu.package, cpu.die, cpu.core}; }

/// Its models know whether there are other cores beside one, and what counters a thread has there.
Topology with_surroundings(Topology machine) {
  const Place first = core_of(machine.cpus.front());
  const auto is_other = [&](const LogicalCpu& cpu) { return core_of(cpu) != first; };
  const bool several = std::ranges::any_of(machine.cpus, is_other), smt = machine.has_smt();
  for (CpuModel& type : machine.types) {
    type.has_neighbours = several;
    if (!smt && type.gp_counters_smt_off != 0) type.gp_counters = type.gp_counters_smt_off;
  }
  return machine;
}

/// Whether the two models are the cores of one product.
bool make_a_product(std::string_view p_core, std::string_view e_core) {
  return std::ranges::any_of(model_aliases(), [&](const ModelAlias& alias) {
    return alias.model == p_core && alias.e_core == e_core;
  });
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view space = " \t\r";
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t begin = line.find_first_not_of(space);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(space, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

/// Reads the lines of read_machine().
class MachineText {
 public:
  explicit MachineText(std::string name) { machine_.name = std::move(name); }

  Result<Done, Error> take(std::string_view line) {
    ++line_;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return Done{};
    LogicalCpu cpu;
    std::string_view model;
    std::optional<u32> number;
    for (std::size_t at = 0; at < words.size(); ++at) {
      const std::string_view word = words[at];
      if (word == "offline") {
        cpu.online = false;
        continue;
      }
      if (at + 1 == words.size()) return fail("nothing stands behind '{}'", word);
      const std::string_view value = words[++at];
      if (word == "model") {
        model = value;
        continue;
      }
      u32* const field = word == "package"  ? &cpu.package
                         : word == "die"    ? &cpu.die
                         : word == "core"   ? &cpu.core
                         : word == "thread" ? &cpu.thread
                                            : nullptr;
      if (field == nullptr && word != "cpu")
        return fail("'{}' is none of cpu, package, die, core, thread, model and offline", word);
      const std::optional<u32> parsed = cpu_number(value);
      if (!parsed || *parsed >= Topology::most_cpus)
        return fail("{} '{}' is no number below {}", word, value, Topology::most_cpus);
      (field != nullptr ? *field : number.emplace()) = *parsed;
    }
    return add(cpu, number, model);
  }

  Result<Topology, Error> finish() {
    if (machine_.online().empty()) return Failure(Error(machine_.name + ": no CPU is online"));
    if (machine_.types.size() == 2) order_types();
    if (machine_.hybrid()) {
      if (!make_a_product(machine_.types[0].name, machine_.types[1].name))
        return Failure(
            Error(fmt::format("{}: no product has cores of {} and {}; 'pmusim models' lists hybrid products",
                              machine_.name, machine_.types[0].name, machine_.types[1].name)));
      make_hybrid(machine_.types);
    }
    return with_surroundings(std::move(machine_));
  }

 private:
  template <class... Args>
  Failure<Error> fail(fmt::format_string<Args...> format, Args&&... args) const {
    return Failure(Error(
        fmt::format("{}:{}: {}", machine_.name, line_, fmt::format(format, std::forward<Args>(args)...))));
  }

  Result<Done, Error> add(LogicalCpu cpu, std::optional<u32> number, std::string_view name) {
    if (number != machine_.cpus.size())
      return fail("expected 'cpu {}': CPUs stand in the order of their numbers", machine_.cpus.size());
    if (cpu.thread > 1) return fail("thread {}: a core has two at most, 0 and 1", cpu.thread);
    if (name.empty()) return fail("CPU {} has no model", *number);
    const Result<CpuModel, Error> model = find_cpu_model(name);
    if (!model.ok()) return fail("{}", model.error().message);
    const auto known = std::ranges::find(machine_.types, model->name, &CpuModel::name);
    cpu.type = static_cast<u32>(known - machine_.types.begin());
    if (known == machine_.types.end()) machine_.types.push_back(*model);
    if (machine_.types.size() > 2) return fail("'{}' is a third model: a machine has two at most", name);
    const Place core = core_of(cpu);
    if (!places_.insert(std::tuple_cat(core, std::tuple(cpu.thread))).second)
      return fail("another CPU is thread {} of package {} die {} core {}", cpu.thread, cpu.package, cpu.die,
                  cpu.core);
    if (const auto [at, is_new] = type_of_.emplace(core, cpu.type); !is_new && at->second != cpu.type)
      return fail("the two threads of a core are of one model");
    machine_.cpus.push_back(cpu);
    return Done{};
  }

  void order_types() {
    if (machine_.types[0].core_type == CoreType::core) return;
    std::swap(machine_.types[0], machine_.types[1]);
    for (LogicalCpu& cpu : machine_.cpus) cpu.type = 1 - cpu.type;
  }

  Topology machine_;
  std::set<std::tuple<u32, u32, u32, u32>> places_;
  std::map<Place, u32> type_of_;
  std::size_t line_ = 0;
};

}  // namespace

std::vector<u32> Topology::cpus_of(u32 type) const {
  std::vector<u32> found;
  for (u32 cpu = 0; cpu < cpus.size(); ++cpu)
    if (cpus[cpu].type == type) found.push_back(cpu);
  return found;
}

std::vector<u32> Topology::online() const {
  std::vector<u32> found;
  for (u32 cpu = 0; cpu < cpus.size(); ++cpu)
    if (cpus[cpu].online) found.push_back(cpu);
  return found;
}

bool Topology::has_smt() const {
  return std::ranges::any_of(cpus, [](const LogicalCpu& cpu) { return cpu.thread != 0; });
}

u32 Topology::first_of_core(u32 cpu) const {
  const auto same = [&](const LogicalCpu& other) { return core_of(other) == core_of(cpus[cpu]); };
  return static_cast<u32>(std::ranges::find_if(cpus, same) - cpus.begin());
}

u32 Topology::first_of_module(u32 cpu) const {
  const LogicalCpu& here = cpus[cpu];
  const u32 core = first_of_core(cpu);
  u32 cores = 0, first = core;
  for (u32 n = 0; n <= core; ++n) {
    const LogicalCpu& other = cpus[n];
    const bool near = other.type == here.type && other.package == here.package && other.die == here.die;
    if (near && first_of_core(n) == n && cores++ % types[here.type].core.l2_cores == 0) first = n;
  }
  return first;
}

Result<Topology, Error> parse_machine(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return no_machine(text, "expected MODEL:COUNTS, as in 'icelake:4c8t' or 'alderlake:8p8e'");
  Result<std::vector<CpuModel>, Error> types = core_types(text.substr(0, colon));
  if (!types.ok()) return Failure(types.error());
  const Result<Counts, Error> counts = parse_counts(text, text.substr(colon + 1));
  if (!counts.ok()) return Failure(counts.error());
  const bool hybrid = counts->contains('p') || counts->contains('e');
  if (hybrid && types->size() == 1)
    return no_machine(text, "{} has one kind of core: count it with c", text.substr(0, colon));
  if (hybrid && (counts->contains('c') || counts->contains('s')))
    return no_machine(text, "P and E cores (p, e) go with neither c nor s");
  if (!hybrid && !counts->contains('c')) return no_machine(text, "it has no cores: count them with c");
  if (hybrid && !counts->contains('p'))
    return no_machine(text, "it has no P core; E cores alone are a model of their own");

  const u32 cores = count(*counts, hybrid ? 'p' : 'c', 0), threads = count(*counts, 't', cores);
  const u32 packages = count(*counts, 's', 1), e_cores = count(*counts, 'e', 0);
  if (threads != cores && threads != 2 * cores)
    return no_machine(text, "{} threads on {} cores: a core has one or two, and all have the same", threads,
                      cores);
  if (threads != cores && types->front().core_type == CoreType::atom)
    return no_machine(text, "cores of {} have one thread here", types->front().title);
  if (cores % packages != 0)
    return no_machine(text, "{} cores are not alike on {} packages", cores, packages);
  if (threads + e_cores > Topology::most_cpus)
    return no_machine(text, "{} CPUs are more than {}", threads + e_cores, Topology::most_cpus);

  Topology machine{.name = std::string(text), .types = std::move(types).value(), .cpus = {}};
  if (e_cores != 0) {
    add_hybrid(machine, cores, threads / cores, e_cores);
    make_hybrid(machine.types);
  } else {
    machine.types.resize(1);
    add_alike(machine, packages, cores, threads / cores);
  }
  return with_surroundings(std::move(machine));
}

Result<Topology, Error> read_machine(std::string_view text, std::string name) {
  MachineText machine(std::move(name));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto taken = machine.take(text.substr(0, end)); !taken.ok()) return Failure(taken.error());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return machine.finish();
}

namespace {

/// `owner` has `cpus` CPUs.
Result<std::vector<u32>, Error> parse_cpus_of(std::string_view text, std::size_t cpus,
                                              std::string_view owner) {
  std::set<u32> found;
  const auto fail = [&](std::string_view what) { return Failure(Error(fmt::format("'{}' {}", text, what))); };
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, end);
    const std::size_t dash = part.find('-');
    const std::optional<u32> first = cpu_number(part.substr(0, dash)),
                             last =
                                 dash == std::string_view::npos ? first : cpu_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || end + 1 == rest.size())
      return fail("is no list of CPUs: expected numbers and ranges, as in 0,2-3");
    if (*last >= cpus)
      return fail(fmt::format("has CPU {}, and the last of {} is CPU {}", *last, owner, cpus - 1));
    for (u32 cpu = *first; cpu <= *last; ++cpu) found.insert(cpu);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::vector<u32>(found.begin(), found.end());
}

}  // namespace

Result<std::vector<u32>, Error> parse_cpu_list(std::string_view text, const Topology& machine) {
  return parse_cpus_of(text, machine.cpus.size(), machine.name);
}

Result<std::vector<u32>, Error> parse_cpu_list(std::string_view text, u32 cpus) {
  return parse_cpus_of(text, cpus, "any machine");
}

std::string cpu_list(const std::vector<u32>& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[first]);
    if (last != first) text += fmt::format("-{}", cpus[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace pmusim
