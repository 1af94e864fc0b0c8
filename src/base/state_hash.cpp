// SPDX-License-Identifier: MIT
#include <boost/endian/conversion.hpp>
#include <cstring>

#include "pmusim/base/types.h"

namespace pmusim {

void StateHash::add_bytes(std::span<const std::byte> bytes) {
  add_word(bytes.size());
  for (; bytes.size() >= sizeof(u64); bytes = bytes.subspan(sizeof(u64)))
    add_word(boost::endian::load_little_u64(reinterpret_cast<const unsigned char*>(bytes.data())));
  u64 rest = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) rest |= std::to_integer<u64>(bytes[n]) << 8 * n;
  if (!bytes.empty()) add_word(rest);
}

}  // namespace pmusim
