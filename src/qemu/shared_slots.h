// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_SHARED_SLOTS_H
#define PMUSIM_QEMU_SHARED_SLOTS_H

#include <map>
#include <optional>
#include <vector>

#include "qemu/wire.h"

namespace pmusim::qemu {

/// The memory that the recorder shares with its plugins, and what of it is left to be taken when a thread is
/// gone.
class SharedSlots {
 public:
  SharedSlots();
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots();

  /// Of the memory; −1 where there is none, and what killed threads leave is lost.
  int descriptor() const { return descriptor_; }

  /// To be called for every packet, since a slot's last one may have been sent and be in it still.
  void received(const wire::Header& header);
  /// A packet that a thread that is gone had not sent.
  struct Remainder {
    wire::Header header{};
    std::vector<u64> words;
  };
  std::optional<Remainder> take(u32 tid);
  /// Plugins need report nothing any more.
  void end_recording();
  /// Threads that have a slot.
  std::vector<u32> owners() const;

 private:
  int descriptor_ = -1;
  wire::Shared* shared_ = nullptr;
  std::map<u32, u64> received_;  // `runs` packets by thread
};

}  // namespace pmusim::qemu

#endif
