// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "capi/cpu.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;

namespace pmusim::capi {
namespace {

pmusim_register described(const Register& entry) {
  pmusim_register made{.writable = entry.writable,
                       .reset = entry.reset,
                       .address = entry.address,
                       .read_only = entry.read_only ? u8{1} : u8{0},
                       .write_only = entry.write_only ? u8{1} : u8{0},
                       .reserved = {},
                       .name = {}};
  const std::string name = entry.name();
  std::copy_n(name.begin(), std::min(name.size(), sizeof made.name - 1), made.name);
  return made;
}

u32 address_of(const Pmu& pmu, std::string_view wanted) {
  std::vector<std::string> names;
  for (const Register& entry : pmu.registers().all()) {
    names.push_back(entry.name());
    if (names.back() == wanted) return entry.address;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw Misuse(
      fmt::format("{} has no register '{}'{}", pmu.model().name, wanted, did_you_mean(wanted, known)));
}

}  // namespace
}  // namespace pmusim::capi

size_t pmusim_register_count(const pmusim_cpu* cpu) {
  return guarded<size_t>("pmusim_register_count", 0,
                         [&] { return require(cpu, "cpu").pmu().registers().all().size(); });
}

int pmusim_get_register(const pmusim_cpu* cpu, size_t number, pmusim_register* info) {
  return guarded("pmusim_get_register", [&] {
    pmusim_register& out = require(info, "info");
    const auto all = require(cpu, "cpu").pmu().registers().all();
    if (number >= all.size())
      throw Misuse(fmt::format("number is {}: expected less than {}", number, all.size()));
    out = capi::described(all[number]);
    return PMUSIM_OK;
  });
}

int pmusim_find_register(const pmusim_cpu* cpu, const char* name, uint32_t* address) {
  return guarded("pmusim_find_register", [&] {
    u32& out = require(address, "address");
    out = capi::address_of(require(cpu, "cpu").pmu(), &require(name, "name"));
    return PMUSIM_OK;
  });
}
