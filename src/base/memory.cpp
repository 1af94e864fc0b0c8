// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <algorithm>
#include <cstring>

namespace pmusim {

bool Memory::map(u64 address, u64 bytes) {
  return is_free(address, bytes) && insert({address, std::vector<std::byte>(bytes), {}});
}

bool Memory::map(u64 address, std::span<std::byte> bytes) {
  return is_free(address, bytes.size()) && insert({address, {}, bytes});
}

bool Memory::is_free(u64 address, u64 bytes) const {
  if (bytes == 0 || address + (bytes - 1) < address) return false;
  const auto next = std::find_if(regions_.begin(), regions_.end(),
                                 [&](const Region& region) { return region.address >= address; });
  if (next != regions_.end() && next->address - address < bytes) return false;
  if (next != regions_.begin()) {
    const Region& previous = *std::prev(next);
    if (address - previous.address < previous.bytes().size()) return false;
  }
  return true;
}

bool Memory::insert(Region region) {
  const auto next = std::find_if(regions_.begin(), regions_.end(),
                                 [&](const Region& other) { return other.address >= region.address; });
  regions_.insert(next, std::move(region));
  return true;
}

bool Memory::unmap(u64 address) {
  return std::erase_if(regions_, [&](const Region& region) { return region.address == address; }) != 0;
}

const Memory::Region* Memory::find(u64 address, u64 bytes) const {
  for (const Region& region : regions_) {
    const u64 offset = address - region.address;
    const u64 size = region.bytes().size();
    if (address >= region.address && offset <= size && bytes <= size - offset) return &region;
  }
  return nullptr;
}

std::span<const std::byte> Memory::at(u64 address, u64 bytes) const {
  const Region* region = find(address, bytes);
  if (region == nullptr) return {};
  return region->bytes().subspan(address - region->address, bytes);
}

std::span<std::byte> Memory::at(u64 address, u64 bytes) {
  const std::span<const std::byte> found = std::as_const(*this).at(address, bytes);
  return {const_cast<std::byte*>(found.data()), found.size()};
}

Fault Memory::read(u64 address, std::span<std::byte> out) const {
  if (find(address, out.size()) == nullptr) return Fault::pf;
  if (!out.empty()) std::memcpy(out.data(), at(address, out.size()).data(), out.size());
  return Fault::none;
}

void Memory::add_to(StateHash& hash) const {
  hash.add(regions_.size());
  for (const Region& region : regions_) {
    hash.add(region.address);
    hash.add_bytes(region.bytes());
  }
}

Fault Memory::write(u64 address, std::span<const std::byte> in) {
  if (find(address, in.size()) == nullptr) return Fault::pf;
  if (!in.empty()) std::memcpy(at(address, in.size()).data(), in.data(), in.size());
  return Fault::none;
}

}  // namespace pmusim
