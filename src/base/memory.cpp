// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <algorithm>
#include <cstring>

namespace pmusim {

bool Memory::map(const Place& place, u64 bytes) {
  return is_free(place, bytes) && insert({place, std::vector<std::byte>(bytes), {}});
}

bool Memory::map(const Place& place, std::span<std::byte> bytes) {
  return is_free(place, bytes.size()) && insert({place, {}, bytes});
}

bool Memory::is_free(Start start, const Place& place, u64 bytes) const {
  if (!(place.*start)) return true;
  const u64 first = *(place.*start), last = first + (bytes - 1);
  return last >= first && std::none_of(regions_.begin(), regions_.end(), [&](const Region& region) {
           const std::optional<u64> other = region.place.*start;
           return other && *other <= last && first <= *other + (region.bytes().size() - 1);
         });
}

bool Memory::is_free(const Place& place, u64 bytes) const {
  return bytes != 0 && is_free(&Place::linear, place, bytes) && is_free(&Place::physical, place, bytes);
}

bool Memory::insert(Region region) {
  const auto next = std::find_if(regions_.begin(), regions_.end(), [&](const Region& other) {
    return other.place.order() >= region.place.order();
  });
  regions_.insert(next, std::move(region));
  return true;
}

bool Memory::unmap(u64 address, AddressSpace space) {
  return std::erase_if(regions_, [&](const Region& region) {
           return (space != AddressSpace::physical && region.place.linear == address) ||
                  (space != AddressSpace::linear && region.place.physical == address);
         }) != 0;
}

std::span<const std::byte> Memory::find(Start start, u64 address, u64 bytes) const {
  for (const Region& region : regions_) {
    if (!(region.place.*start)) continue;
    const u64 offset = address - *(region.place.*start);
    const u64 size = region.bytes().size();
    if (address >= *(region.place.*start) && offset <= size && bytes <= size - offset)
      return region.bytes().subspan(offset, bytes);
  }
  return {};
}

namespace {

std::span<std::byte> writable(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

std::span<const std::byte> Memory::at(u64 address, u64 bytes) const {
  return find(&Place::linear, address, bytes);
}
std::span<std::byte> Memory::at(u64 address, u64 bytes) {
  return writable(find(&Place::linear, address, bytes));
}
std::span<std::byte> Memory::at_physical(u64 address, u64 bytes) {
  return writable(find(&Place::physical, address, bytes));
}

Fault Memory::read(u64 address, std::span<std::byte> out) const {
  const std::span<const std::byte> found = at(address, out.size());
  if (found.data() == nullptr) return Fault::pf;
  if (!out.empty()) std::memcpy(out.data(), found.data(), out.size());
  return Fault::none;
}

void Memory::add_to(StateHash& hash) const {
  hash.add(regions_.size());
  for (const Region& region : regions_) {
    hash.add(region.place.order().first);
    hash.add(region.place.order().second);
    hash.add_bytes(region.bytes());
  }
}

Fault Memory::write(u64 address, std::span<const std::byte> in) {
  const std::span<std::byte> found = at(address, in.size());
  if (found.data() == nullptr) return Fault::pf;
  if (!in.empty()) std::memcpy(found.data(), in.data(), in.size());
  return Fault::none;
}

}  // namespace pmusim
