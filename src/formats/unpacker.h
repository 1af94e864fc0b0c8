// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_UNPACKER_H
#define PMUSIM_FORMATS_UNPACKER_H

#include <memory>
#include <span>

#include "pmusim/base/types.h"

namespace pmusim::formats {

/// One of the packers' libraries, a piece at a time.
class Unpacker {
 public:
  enum class State : u8 { within, between, damaged };  ///< between: a packed stream has ended here
  struct Progress {
    std::size_t taken = 0, made = 0;
    State state = State::within;
  };
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;
  virtual Progress unpack(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

/// The one for a file that begins like this; null if it is not packed.
std::unique_ptr<Unpacker> unpacker_for(std::span<const std::byte> beginning);

}  // namespace pmusim::formats

#endif
