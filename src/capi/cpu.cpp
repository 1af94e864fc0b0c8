// SPDX-License-Identifier: MIT
#include "capi/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "pmusim/version.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;

static_assert(PMUSIM_UD == 6 && PMUSIM_NM == 7 && PMUSIM_GP == 13 && PMUSIM_PF == 14);

pmusim_cpu::pmusim_cpu(CpuModel model) : pmu_(std::move(model)) {}

void pmusim_cpu::set_pmi_handler(pmusim_pmi_handler handler, void* context) {
  pmi_handler_ = handler;
  pmi_context_ = context;
  pmu_.set_pmi_handler(handler != nullptr ? this : nullptr);
}

void pmusim_cpu::handle_pmi(const InterruptFrame& frame) {
  pmusim_interrupt interrupt{.cycle = pmu_.now(),
                             .registers = {.rip = frame.registers.rip, .rflags = frame.registers.rflags},
                             .registers_known = frame.registers_known ? 1u : 0u,
                             .ring = capi::ring_of(frame.cpl)};
  std::ranges::copy(frame.registers.gpr, interrupt.registers.gpr);
  const u64 interrupted_ip = next_ip_;
  ++callbacks_;
  pmi_handler_(this, &interrupt, pmi_context_);
  --callbacks_;
  next_ip_ = interrupted_ip;
}

void pmusim_cpu::retire(const Retirement& retirement) {
  next_ip_ = retirement.next_ip;
  pmu_.retire(retirement);
}

int pmusim_cpu::status(Fault fault, u32 error_code) {
  switch (fault) {
    case Fault::none:
      return PMUSIM_OK;
    case Fault::gp:
      last_fault_ = {.vector = PMUSIM_GP, .has_error_code = 1, .error_code = 0};
      break;
    case Fault::ud:
      last_fault_ = {.vector = PMUSIM_UD, .has_error_code = 0, .error_code = 0};
      break;
    case Fault::pf:
      last_fault_ = {.vector = PMUSIM_PF, .has_error_code = 1, .error_code = error_code};
      break;
    case Fault::nm:
      last_fault_ = {.vector = PMUSIM_NM, .has_error_code = 0, .error_code = 0};
      break;
  }
  return static_cast<int>(last_fault_.vector);
}

int pmusim_cpu::status(const Faulty<u64>& read, u64& value) {
  if (!read.ok()) return status(read.error());
  value = *read;
  return PMUSIM_OK;
}

namespace pmusim::capi {

Cpl cpl_of(int ring) {
  if (ring == PMUSIM_RING_3) return Cpl::user;
  if (ring == PMUSIM_RING_0) return Cpl::kernel;
  throw Misuse(fmt::format("ring is {}: expected PMUSIM_RING_0 or PMUSIM_RING_3", ring));
}

namespace {

/// "NAME=VALUE,NAME=VALUE"
void set_policies(Policies& policies, std::string_view list) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    const std::size_t equals = one.find('=');
    if (equals == one.npos) throw Misuse(fmt::format("policy '{}': expected NAME=VALUE", one));
    take(set_policy(policies, one.substr(0, equals), one.substr(equals + 1)));
  }
}

}  // namespace
}  // namespace pmusim::capi

uint32_t pmusim_abi_version(void) { return PMUSIM_ABI_VERSION; }

const char* pmusim_version(void) { return pmusim::version.data(); }

const char* pmusim_model_name(size_t number) {
  const auto models = cpu_models();
  return number < models.size() ? models[number].name.c_str() : nullptr;
}

const char* pmusim_policy_name(size_t number) {
  const auto policies = policy_table();
  return number < policies.size() ? policies[number].name.data() : nullptr;
}

pmusim_cpu* pmusim_create(const char* model, const char* policies) {
  return guarded<pmusim_cpu*>("pmusim_create", nullptr, [&] {
    CpuModel made = capi::take(find_cpu_model(&require(model, "model")));
    if (policies != nullptr) capi::set_policies(made.policies, policies);
    return std::make_unique<pmusim_cpu>(std::move(made)).release();
  });
}

void pmusim_destroy(pmusim_cpu* cpu) {
  guarded("pmusim_destroy", [&] {
    if (cpu != nullptr && cpu->in_callback())
      throw Misuse("called from a callback of the processor that it is to destroy");
    delete cpu;
    return PMUSIM_OK;
  });
}

int pmusim_reset(pmusim_cpu* cpu) {
  return guarded("pmusim_reset", [&] {
    if (require(cpu, "cpu").in_callback()) throw Misuse("called from a callback of the processor");
    cpu->pmu().reset();
    return PMUSIM_OK;
  });
}

int pmusim_set_pmi_handler(pmusim_cpu* cpu, pmusim_pmi_handler handler, void* context) {
  return guarded("pmusim_set_pmi_handler", [&] {
    require(cpu, "cpu").set_pmi_handler(handler, context);
    return PMUSIM_OK;
  });
}

int pmusim_last_fault(const pmusim_cpu* cpu, pmusim_fault* fault) {
  return guarded("pmusim_last_fault", [&] {
    require(fault, "fault") = require(cpu, "cpu").last_fault();
    return PMUSIM_OK;
  });
}
