// SPDX-License-Identifier: MIT
#include "qemu/shared_slots.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace pmusim::qemu {

SharedSlots::SharedSlots() : descriptor_(::memfd_create("pmusim-slots", MFD_CLOEXEC)) {
  if (descriptor_ < 0 || ::ftruncate(descriptor_, sizeof(wire::Shared)) != 0) return;
  void* const mapped =
      ::mmap(nullptr, sizeof(wire::Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped != MAP_FAILED) shared_ = static_cast<wire::Shared*>(mapped);
}

SharedSlots::~SharedSlots() {
  if (shared_ != nullptr) ::munmap(shared_, sizeof(wire::Shared));
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedSlots::received(const wire::Header& header) {
  if (header.kind == wire::Kind::start) received_.erase(header.tid);
  if (header.kind == wire::Kind::runs) ++received_[header.tid];
}

std::optional<SharedSlots::Remainder> SharedSlots::take(u32 tid) {
  const auto counted = received_.extract(tid);
  const u64 received = counted.empty() ? 0 : counted.mapped();
  if (shared_ == nullptr) return std::nullopt;
  const auto is_owned = [&](const wire::Slot& slot) { return slot.taken != 0 && slot.header.tid == tid; };
  const auto slot = std::ranges::find_if(shared_->slots, is_owned);
  if (slot == shared_->slots.end()) return std::nullopt;
  Remainder remainder{slot->header, {}};
  const std::size_t count = std::min<std::size_t>(remainder.header.words, slot->words.size());
  remainder.header.words = static_cast<u32>(count);
  remainder.words.assign(slot->words.begin(), slot->words.begin() + static_cast<std::ptrdiff_t>(count));
  const bool unsent = slot->sent == received;
  if (!is_owned(*slot)) return std::nullopt;  // a program that the process executed has taken it back
  slot->header.tid = 0;
  slot->taken = 0;
  return unsent && count != 0 ? std::optional(std::move(remainder)) : std::nullopt;
}

void SharedSlots::end_recording() {
  if (shared_ != nullptr) shared_->over = 1;
}

std::vector<u32> SharedSlots::owners() const {
  std::vector<u32> result;
  if (shared_ == nullptr) return result;
  for (const wire::Slot& slot : shared_->slots)
    if (slot.taken != 0) result.push_back(slot.header.tid);
  return result;
}

}  // namespace pmusim::qemu
