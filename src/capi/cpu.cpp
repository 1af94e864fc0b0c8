// SPDX-License-Identifier: MIT
#include "capi/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "pmusim/version.h"

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::Misuse;
using capi::require;

static_assert(PMUSIM_UD == 6 && PMUSIM_NM == 7 && PMUSIM_GP == 13 && PMUSIM_PF == 14);

pmusim_cpu::pmusim_cpu(CpuModel model)
    : pmu_(std::move(model)), speaker_(std::make_shared<const Pmu>(pmu_)) {}

void pmusim_cpu::set_pmi_handler(pmusim_pmi_handler handler, void* context) {
  pmi_handler_ = handler;
  pmi_context_ = context;
  pmu_.set_pmi_handler(handler != nullptr ? this : nullptr);
}

void pmusim_cpu::set_observer(pmusim_observer observer, u64 kinds, void* context) {
  watcher_.set({.cpu = this, .function = observer, .kinds = kinds, .context = context});
  pmu_.set_observer(observer != nullptr ? &watcher_ : nullptr);
  attach_retirements();
}

void pmusim_cpu::attach_retirements() {
  pmu_.set_retirement_observer(!exact_counts_.empty() || watcher_.wants(PMUSIM_RETIREMENT) ? this : nullptr);
}

// Until here the interrupted code's time has passed; what the handler feeds is the handler's own. A handler
// in C++ that throws ends the program: there is no way back into hardware that waits for it.
void pmusim_cpu::handle_pmi(const InterruptFrame& frame) noexcept {
  for (const auto& exact : exact_counts_) exact->catch_up(pmu_.now(), frame.cpl);
  pmusim_interrupt interrupt{.cycle = pmu_.now(),
                             .registers = {.rip = frame.registers.rip, .rflags = frame.registers.rflags},
                             .registers_known = frame.registers_known ? 1u : 0u,
                             .privilege = capi::privilege_of(frame.cpl)};
  std::ranges::copy(frame.registers.gpr, interrupt.registers.gpr);
  const u64 interrupted_ip = next_ip_;
  ++handlers_;
  pmi_handler_(this, &interrupt, pmi_context_);
  --handlers_;
  next_ip_ = interrupted_ip;
}

void pmusim_cpu::on_retirement(const Retirement& retirement) {
  for (const auto& exact : exact_counts_) exact->retire(retirement);
  watcher_.tell_retirement(retirement);
}

void pmusim_cpu::retire(const Retirement& retirement) {
  next_ip_ = retirement.next_ip;
  if (run_ != nullptr)
    run_->retire(retirement);
  else
    pmu_.retire(retirement);
}

// An observer looks on; what it reads is no operation of the software.
Bus& pmusim_cpu::bus() {
  if (run_ == nullptr || in_observer()) return pmu_;
  return *run_;
}

void pmusim_cpu::pass_boundary() {
  if (run_ != nullptr && !in_observer()) run_->boundary();
}

void pmusim_cpu::enable_trap(TrapOptions options) {
  if (trap_ != nullptr) throw Misuse("the processor has a thread already");
  options.on_boundary = [this](const Registers& registers) {
    if (run_ != nullptr) run_->boundary(registers);
  };
  trap_ = capi::take(Trap::enable(pmu_, std::move(options)));
  trapped_thread_ = std::this_thread::get_id();
}

void pmusim_cpu::disable_trap() {
  if (trap_ == nullptr) throw Misuse("no thread's instructions go to the processor");
  if (trapped_thread_ != std::this_thread::get_id())
    throw Misuse("called from another thread than pmusim_trap_enable");
  if (in_callback()) throw Misuse("called from a callback of the processor");
  trap_.reset();
}

void pmusim_cpu::wait(u64 cycles, Cpl cpl) {
  InterruptFrame frame{.cpl = cpl};
  frame.registers.rip = next_ip_;
  pmu_.wait_until(pmu_.now() + cycles, frame);
  for (const auto& exact : exact_counts_) exact->catch_up(pmu_.now(), cpl);
}

void pmusim_cpu::set_poll(pmusim_poll callback, void* context) {
  poll_ = callback;
  poll_context_ = context;
}

void pmusim_cpu::poll(u64 fed) const {
  if (poll_ != nullptr && poll_(poll_context_) != 0)
    throw Misuse(fmt::format("stopped after {} instructions", fed));
}

u64 pmusim_cpu::run_code(const CodeRun& run) {
  if (running_code_) throw Misuse("called from the PMI handler of code that is running");
  if (!code_) {
    code_ = capi::take(CodeRunner::create(pmu_.model()));
    code_->attach(pmu_);
  }
  next_ip_ = run.next_ip != 0 ? run.next_ip : run.ip + run.code.size();
  running_code_ = true;
  const auto retired = code_->run(run);
  running_code_ = false;
  return capi::take(retired);
}

bool pmusim_cpu::map(u64 address, u64 bytes) {
  if (!pmu_.map_memory(address, bytes)) return false;
  regions_[address] = bytes;
  return true;
}

bool pmusim_cpu::map(u64 address, std::span<std::byte> bytes) {
  if (!pmu_.map_memory(address, bytes)) return false;
  regions_[address] = bytes.size();
  return true;
}

bool pmusim_cpu::unmap(u64 address) {
  regions_.erase(address);
  return pmu_.unmap_memory(address);
}

u32 pmusim_cpu::begin_exact_count(const capi::TrueEvent& event) {
  exact_counts_.push_back(std::make_unique<capi::ExactCount>(pmu_.model(), event, pmu_.now()));
  attach_retirements();
  return static_cast<u32>(exact_counts_.size() - 1);
}

namespace {

std::vector<std::unique_ptr<capi::ExactCount>> copy(
    std::span<const std::unique_ptr<capi::ExactCount>> exact_counts) {
  std::vector<std::unique_ptr<capi::ExactCount>> copies;
  for (const auto& exact : exact_counts) copies.push_back(std::make_unique<capi::ExactCount>(*exact));
  return copies;
}

}  // namespace

pmusim_snapshot pmusim_cpu::snapshot() const {
  return {.pmu = pmu_,
          .exact_counts = copy(exact_counts_),
          .regions = regions_,
          .last_fault = last_fault_,
          .next_ip = next_ip_};
}

// Of another processor, too: then its handler and its observers are not this one's.
void pmusim_cpu::restore(const pmusim_snapshot& snapshot) {
  auto exact_counts = copy(snapshot.exact_counts);
  auto regions = snapshot.regions;
  pmu_ = snapshot.pmu;
  pmu_.set_pmi_handler(pmi_handler_ != nullptr ? this : nullptr);
  exact_counts_ = std::move(exact_counts);
  regions_ = std::move(regions);
  last_fault_ = snapshot.last_fault;
  next_ip_ = snapshot.next_ip;
  attach_retirements();
}

int pmusim_cpu::status(Fault fault, u32 error_code) {
  if (fault == Fault::none) return PMUSIM_OK;
  const bool pushes_code = fault == Fault::gp || fault == Fault::pf;
  last_fault_ = {.vector = capi::vector_of(fault),
                 .has_error_code = pushes_code ? 1u : 0u,
                 .error_code = fault == Fault::pf ? error_code : 0};
  return static_cast<int>(last_fault_.vector);
}

int pmusim_cpu::status_of_access(Fault fault) {
  if (fault != Fault::none) explain(pmu_.last_fault());
  return status(fault);
}

int pmusim_cpu::status_of_access(const FaultOr<u64>& read, u64& value) {
  if (!read.ok()) return status_of_access(read.error());
  value = *read;
  return PMUSIM_OK;
}

namespace pmusim::capi {

Cpl cpl_of(int privilege) {
  if (privilege == PMUSIM_USER) return Cpl::user;
  if (privilege == PMUSIM_KERNEL) return Cpl::kernel;
  throw Misuse(fmt::format("privilege is {}: expected PMUSIM_KERNEL or PMUSIM_USER", privilege));
}

u32 vector_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return 0;
    case Fault::gp:
      return PMUSIM_GP;
    case Fault::ud:
      return PMUSIM_UD;
    case Fault::pf:
      return PMUSIM_PF;
    case Fault::nm:
      return PMUSIM_NM;
  }
  return 0;
}

pmusim_cpu& changeable(pmusim_cpu* cpu) {
  if (require(cpu, "cpu").in_observer())
    throw Misuse("an observer must not change the processor that it observes");
  return *cpu;
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
  for (const Vendor vendor : {Vendor::intel, Vendor::amd}) {
    const auto models = cpu_models(vendor);
    if (number < models.size()) return models[number].name.c_str();
    number -= models.size();
  }
  return nullptr;
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
    if (cpu != nullptr && cpu->trap() != nullptr)
      throw Misuse("a thread's instructions go to the processor: expected pmusim_trap_disable before");
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
    changeable(cpu).set_pmi_handler(handler, context);
    return PMUSIM_OK;
  });
}

int pmusim_set_poll(pmusim_cpu* cpu, pmusim_poll poll, void* context) {
  return guarded("pmusim_set_poll", [&] {
    changeable(cpu).set_poll(poll, context);
    return PMUSIM_OK;
  });
}

int pmusim_last_fault(const pmusim_cpu* cpu, pmusim_fault* fault) {
  return guarded("pmusim_last_fault", [&] {
    require(fault, "fault") = require(cpu, "cpu").last_fault();
    return PMUSIM_OK;
  });
}
