// SPDX-License-Identifier: MIT
// What a recorded program would take on other cores: the model's own, one with a larger cache and window, and
// one without a pipeline. Usage: cores TRACE
#include <cstdio>
#include <string>

#include "pmusim/cpu/core_parameters.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"
#include "pmusim/session/stat.h"

using namespace pmusim;

namespace {

u64 cycles_of(const std::string& trace, const SessionOptions& options) {
  auto session = Session::open(trace, options).value();
  const auto events = events::parse_events("cycles:u", options.model).value();
  return stat(session, {.events = events}).value().events.front().value();
}

CpuModel with_parameters(CpuModel model, const char* list) {
  set_core_parameters(model.core, list).value();
  return model;
}

void compare(const std::string& trace) {
  const CpuModel skylake = find_cpu_model("skylake").value();
  const CpuModel larger = with_parameters(skylake, "L2=2MiB,rob=512");
  const std::string chosen = chosen_core_parameters(larger);
  const CoreChoice simple = parse_core("simple").value();
  const u64 own = cycles_of(trace, {.model = skylake});
  const u64 enlarged = cycles_of(trace, {.model = larger});
  const u64 simplified = cycles_of(trace, {.model = skylake, .core = simple.level});
  std::printf("%12llu cycles on Skylake\n", static_cast<unsigned long long>(own));
  std::printf("%12llu with %s\n", static_cast<unsigned long long>(enlarged), chosen.c_str());
  std::printf("%12llu at core %s\n", static_cast<unsigned long long>(simplified), text_of(simple).c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: cores TRACE\n", stderr), 2;
  compare(argv[1]);
} catch (const NoValue& refused) {
  return std::fprintf(stderr, "%s\n", refused.what()), 2;
}
