// SPDX-License-Identifier: MIT
#include "trap/signal_stack.h"

#include <sys/mman.h>

namespace pmusim::trap {

namespace {
constexpr std::size_t guard_bytes = 4096, stack_bytes = 256 * 1024;
}  // namespace

bool SignalStack::install() {
  void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* bytes = static_cast<std::byte*>(memory);
  const stack_t stack{.ss_sp = bytes + guard_bytes, .ss_flags = 0, .ss_size = stack_bytes};
  if (mprotect(memory, guard_bytes, PROT_NONE) != 0 || sigaltstack(&stack, &before_) != 0) {
    munmap(memory, guard_bytes + stack_bytes);
    return false;
  }
  memory_ = bytes;
  return true;
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_ + guard_bytes) sigaltstack(&before_, nullptr);
  munmap(memory_, guard_bytes + stack_bytes);
}

}  // namespace pmusim::trap
