// SPDX-License-Identifier: MIT
// Synthetic programs, put together piece by piece.
#include "pmusim/program/program.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/cpu.h"
#include "capi/retirement.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;
using program::Data;
using program::Program;

/// The program, and the bodies that have begun and not ended.
struct pmusim_program {
  /// Puts a body that has ended where it belongs.
  using Close = std::function<void(Program& into, const Program& body)>;
  struct Open {
    Program body;
    Close close;
  };

  u64 ip = 0;
  Program whole;
  std::vector<Open> open;

  Program& here() { return open.empty() ? whole : open.back().body; }
};

namespace pmusim::capi {
namespace {

constexpr std::size_t deepest = 64;

int begin(pmusim_program* program, pmusim_program::Close close) {
  if (require(program, "program").open.size() == deepest)
    throw Misuse(fmt::format("{} bodies are open, one in the other: expected no more", deepest));
  program->open.push_back({{}, std::move(close)});
  return PMUSIM_OK;
}

int end(pmusim_program* program) {
  if (require(program, "program").open.empty()) throw Misuse("no body has begun");
  const pmusim_program::Open ended = std::move(program->open.back());
  program->open.pop_back();
  ended.close(program->here(), ended.body);
  return PMUSIM_OK;
}

Data data_at(u64 address, u32 bytes, i64 stride_bytes, int level) {
  Data data{.address = address, .bytes = bytes, .stride_bytes = stride_bytes};
  if (level != PMUSIM_LEVEL_DEFAULT) data.level = level_of(level, CacheLevel::l1);
  return data;
}

std::string outcomes_of(const char* letters) {
  const std::string outcomes = &require(letters, "outcomes");
  if (outcomes.empty() || outcomes.find_first_not_of("TNtn") != outcomes.npos)
    throw Misuse(fmt::format("outcomes is '{}': expected letters T, N, t, n", outcomes));
  return outcomes;
}

}  // namespace
}  // namespace pmusim::capi

pmusim_program* pmusim_program_create(uint64_t ip) {
  return guarded<pmusim_program*>("pmusim_program_create", nullptr, [&] {
    return std::make_unique<pmusim_program>(pmusim_program{ip, {}, {}}).release();
  });
}

void pmusim_program_destroy(pmusim_program* program) { delete program; }

int pmusim_program_instructions(pmusim_program* program, uint64_t count) {
  return guarded("pmusim_program_instructions", [&] {
    require(program, "program").here().instructions(count);
    return PMUSIM_OK;
  });
}

int pmusim_program_load(pmusim_program* program, uint64_t address, uint32_t bytes, int64_t stride_bytes,
                        int level) {
  return guarded("pmusim_program_load", [&] {
    require(program, "program").here().load(capi::data_at(address, bytes, stride_bytes, level));
    return PMUSIM_OK;
  });
}

int pmusim_program_store(pmusim_program* program, uint64_t address, uint32_t bytes, int64_t stride_bytes,
                         int level) {
  return guarded("pmusim_program_store", [&] {
    require(program, "program").here().store(capi::data_at(address, bytes, stride_bytes, level));
    return PMUSIM_OK;
  });
}

int pmusim_program_flush(pmusim_program* program, uint64_t address) {
  return guarded("pmusim_program_flush", [&] {
    require(program, "program").here().flush(address);
    return PMUSIM_OK;
  });
}

int pmusim_program_jump(pmusim_program* program) {
  return guarded("pmusim_program_jump", [&] {
    require(program, "program").here().jump();
    return PMUSIM_OK;
  });
}

int pmusim_program_begin_loop(pmusim_program* program, uint64_t iterations, int mispredicted_exit) {
  return guarded("pmusim_program_begin_loop", [&] {
    const auto exit = mispredicted_exit != 0 ? program::LoopExit::mispredicted : program::LoopExit::predicted;
    return capi::begin(program,
                       [=](Program& into, const Program& body) { into.loop(iterations, body, exit); });
  });
}

int pmusim_program_begin_around(pmusim_program* program, const char* outcomes) {
  return guarded("pmusim_program_begin_around", [&] {
    const std::string letters = capi::outcomes_of(outcomes);
    return capi::begin(program,
                       [=](Program& into, const Program& body) { into.branch_around(letters, body); });
  });
}

int pmusim_program_begin_call(pmusim_program* program) {
  return guarded("pmusim_program_begin_call", [&] {
    return capi::begin(program, [](Program& into, const Program& body) { into.call(body); });
  });
}

int pmusim_program_begin_system_call(pmusim_program* program) {
  return guarded("pmusim_program_begin_system_call", [&] {
    return capi::begin(program, [](Program& into, const Program& body) { into.system_call(body); });
  });
}

int pmusim_program_end(pmusim_program* program) {
  return guarded("pmusim_program_end", [&] { return capi::end(program); });
}

int pmusim_run_program(pmusim_cpu* cpu, const pmusim_program* program, int privilege) {
  return guarded("pmusim_run_program", [&] {
    capi::changeable(cpu);
    const pmusim_program& which = require(program, "program");
    if (!which.open.empty())
      throw Misuse(fmt::format("{} bodies of the program have begun and not ended", which.open.size()));
    program::play(which.whole, {.ip = which.ip, .cycle = cpu->pmu().now(), .cpl = capi::cpl_of(privilege)},
                  [cpu, fed = u64{0}](const Retirement& retirement) mutable {
                    cpu->retire(retirement);
                    if (++fed % pmusim_cpu::poll_interval == 0) cpu->poll(fed);
                  });
    return PMUSIM_OK;
  });
}
