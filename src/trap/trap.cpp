// SPDX-License-Identifier: MIT
#include "pmusim/trap/trap.h"

#include "trap/signals.h"
#include "trap/thread.h"

namespace pmusim {

Trap::Trap(std::unique_ptr<trap::Thread> thread) : thread_(std::move(thread)) {}

Result<std::unique_ptr<Trap>, Error> Trap::enable(Pmu& pmu, TrapOptions options) {
  if (trap::Thread::current() != nullptr)
    return Failure(Error("Trap: this thread has an emulated processor already"));
  auto thread = std::make_unique<trap::Thread>(pmu, std::move(options));
  if (const auto taken = trap::take_signals(); !taken.ok()) return Failure(taken.error());
  if (const auto attached = thread->attach(); !attached.ok()) {
    trap::release_signals();
    return Failure(attached.error());
  }
  return std::unique_ptr<Trap>(new Trap(std::move(thread)));
}

Trap::~Trap() {
  thread_.reset();
  trap::release_signals();
}

bool Trap::share(std::span<std::byte> memory) {
  return thread_->pmu().map_memory(reinterpret_cast<u64>(memory.data()), memory);
}
void Trap::retake_signals() { trap::retake_signals(); }
bool Trap::stepping() const { return thread_->stepping(); }
u64 Trap::retired() const { return thread_->retired(); }
bool Trap::interrupts_enabled() const { return thread_->interrupts_enabled(); }
bool Trap::traps_cpuid() const { return thread_->traps_cpuid(); }

}  // namespace pmusim
