// SPDX-License-Identifier: MIT
// Instructions that retire, and time in which none does.
#include <fmt/format.h>

#include <algorithm>

#include "capi/cpu.h"
#include "capi/retirement.h"
#include "pmusim/replay/replay.h"

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::Misuse;
using capi::require;

namespace pmusim::capi {
namespace {

constexpr u64 most_wait_cycles = u64{1} << 40;
constexpr std::size_t most_code_bytes = std::size_t{1} << 20;

template <class T>
std::span<const T> array(const T* first, std::size_t count, std::string_view name) {
  return {count != 0 ? &require(first, name) : first, count};
}

void retire(pmusim_cpu& cpu, const pmusim_instruction& instruction) {
  const Converted converted(instruction, cpu.next_ip(), cpu.pmu().now() + 1);
  cpu.retire(converted.retirement());
}

void store(uint64_t* instructions, u64 count) {
  if (instructions != nullptr) *instructions = count;
}

void run(Replay& replay, const pmusim_cpu& first, u64 at_most, uint64_t* instructions) {
  u64 retired = 0, more = 1;
  store(instructions, 0);
  while (more != 0 && retired < at_most) {
    more = take(replay.run(std::min(at_most - retired, pmusim_cpu::poll_interval)));
    store(instructions, retired += more);
    first.poll(retired);
  }
}

}  // namespace
}  // namespace pmusim::capi

int pmusim_retire(pmusim_cpu* cpu, const pmusim_instruction* instructions, size_t count) {
  return guarded("pmusim_retire", [&] {
    changeable(cpu);
    const auto all = capi::array(instructions, count, "instructions");
    for (std::size_t n = 0; n < count; ++n) capi::check(all[n], n);
    for (const pmusim_instruction& one : all) capi::retire(*cpu, one);
    return PMUSIM_OK;
  });
}

int pmusim_run_instructions(pmusim_cpu* cpu, uint64_t count, int privilege) {
  return guarded("pmusim_run_instructions", [&] {
    changeable(cpu);
    pmusim_instruction plain{};
    plain.privilege = static_cast<uint8_t>(capi::privilege_of(capi::cpl_of(privilege)));
    for (u64 fed = 0; fed < count;) {
      capi::retire(*cpu, plain);
      if (++fed % pmusim_cpu::poll_interval == 0) cpu->poll(fed);
    }
    return PMUSIM_OK;
  });
}

int pmusim_wait(pmusim_cpu* cpu, uint64_t cycles, int privilege) {
  return guarded("pmusim_wait", [&] {
    if (cycles > capi::most_wait_cycles)
      throw Misuse(fmt::format("cycles is {}: expected at most 2^40", cycles));
    const Cpl cpl = capi::cpl_of(privilege);
    changeable(cpu).wait(cycles, cpl);
    return PMUSIM_OK;
  });
}

int pmusim_now(const pmusim_cpu* cpu, uint64_t* cycle) {
  return guarded("pmusim_now", [&] {
    require(cycle, "cycle") = require(cpu, "cpu").pmu().now();
    return PMUSIM_OK;
  });
}

int pmusim_run_code(pmusim_cpu* cpu, const pmusim_code* code, uint64_t* instructions) {
  return guarded("pmusim_run_code", [&] {
    const pmusim_code& what = require(code, "code");
    changeable(cpu);
    if (what.size > capi::most_code_bytes)
      throw Misuse(fmt::format("size is {}: expected at most {} bytes", what.size, capi::most_code_bytes));
    const auto bytes = capi::array(static_cast<const std::byte*>(what.bytes), what.size, "bytes");
    const auto addresses = capi::array(what.addresses, what.address_count, "addresses");
    capi::store(instructions, cpu->run_code({.ip = what.ip,
                                             .code = bytes,
                                             .next_ip = what.next_ip,
                                             .addresses = addresses,
                                             .cpl = capi::cpl_of(what.privilege)}));
    return PMUSIM_OK;
  });
}

int pmusim_run_trace(pmusim_cpu* const* cpus, size_t count, const char* path, uint64_t at_most,
                     uint64_t* instructions) {
  return guarded("pmusim_run_trace", [&] {
    const auto all = capi::array(cpus, count, "cpus");
    if (all.empty()) throw Misuse("count is 0: expected at least one processor");
    for (pmusim_cpu* const cpu : all) changeable(cpu);
    Replay replay = capi::take(Replay::open(&require(path, "path"), all.front()->pmu().model()));
    for (pmusim_cpu* const cpu : all) replay.attach(cpu->pmu());
    capi::run(replay, *all.front(), at_most, instructions);
    return PMUSIM_OK;
  });
}
