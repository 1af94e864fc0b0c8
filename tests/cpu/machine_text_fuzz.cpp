// SPDX-License-Identifier: MIT
// Any bytes as the description of a machine, in its short form or with a line for each CPU: it is refused
// with a sentence, or is a machine that its own description makes again.
#include <fmt/format.h>

#include <string>

#include "pmusim/cpu/setup.h"
#include "tests/support/fuzz_input.h"

namespace pmusim {
namespace {

std::string description_of(const Topology& machine) {
  std::string text;
  for (u32 n = 0; n < machine.cpus.size(); ++n) {
    const LogicalCpu& cpu = machine.cpus[n];
    text += fmt::format("cpu {} package {} die {} core {} thread {} model {}{}\n", n, cpu.package, cpu.die,
                        cpu.core, cpu.thread, machine.model(n).name, cpu.online ? "" : " offline");
  }
  return text;
}

bool is_possible(const Topology& machine) {
  if (machine.types.empty() || machine.types.size() > 2) return false;
  if (machine.online().empty() || machine.cpus.size() > Topology::most_cpus) return false;
  for (u32 n = 0; n < machine.cpus.size(); ++n)
    if (machine.cpus[n].type >= machine.types.size() || machine.first_of_core(n) > n) return false;
  return true;
}

void check_list(std::string_view text, const Topology& machine) {
  const auto cpus = parse_cpu_list(text, machine);
  if (!cpus.ok() || cpus->empty()) return;
  must(cpus->back() < machine.cpus.size());
  must(parse_cpu_list(cpu_list(*cpus), machine).value() == *cpus);
}

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  FuzzInput input(data, size);
  const bool is_short = input.flag();
  const std::size_t list_bytes = input.below(16);
  const auto list = input.bytes(list_bytes), rest = input.bytes(size);
  const auto text_of = [](std::span<const std::uint8_t> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto machine = is_short ? parse_machine(text_of(rest)) : read_machine(text_of(rest), "machine");
  if (!machine.ok()) {
    must(!machine.error().message.empty());
    return 0;
  }
  must(is_possible(*machine));
  const auto again = read_machine(description_of(*machine), "again");
  must(again.ok() && again->cpus == machine->cpus && again->types.size() == machine->types.size());
  check_list(text_of(list), *machine);
  return 0;
}
