// SPDX-License-Identifier: MIT
#include "ds_pointers.h"

#include <cstring>

namespace pmusim::pebs {

namespace {

template <class Area>
std::optional<DsPointers> read_as_layout(const Memory& memory, u64 address, DsBuffer buffer) {
  Area area;
  if (memory.read(address, std::as_writable_bytes(std::span(&area, 1))) != Fault::none) return std::nullopt;
  if (buffer == DsBuffer::bts)
    return DsPointers{area.bts_base, area.bts_index, area.bts_maximum, area.bts_threshold};
  return DsPointers{area.pebs_base, area.pebs_index, area.pebs_maximum, area.pebs_threshold};
}

template <class Area, class Word>
void store_index(Memory& memory, u64 address, DsBuffer buffer, u64 index) {
  const std::span<std::byte> bytes = memory.at(address, sizeof(Area));
  const Word word = static_cast<typename Word::value_type>(index);
  const std::size_t offset = buffer == DsBuffer::bts ? offsetof(Area, bts_index) : offsetof(Area, pebs_index);
  std::memcpy(bytes.subspan(offset).data(), &word, sizeof(word));
}

}  // namespace

std::optional<DsPointers> read_ds_pointers(const Memory& memory, u64 area, DsWidth width, DsBuffer buffer) {
  if (width == DsWidth::bits_64) return read_as_layout<DsArea64>(memory, area, buffer);
  return read_as_layout<DsArea32>(memory, area, buffer);
}

void write_ds_index(Memory& memory, u64 area, DsWidth width, DsBuffer buffer, u64 index) {
  if (width == DsWidth::bits_64) return store_index<DsArea64, le64>(memory, area, buffer, index);
  store_index<DsArea32, le32>(memory, area, buffer, index);
}

}  // namespace pmusim::pebs
