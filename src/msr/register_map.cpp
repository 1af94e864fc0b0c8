#include <algorithm>
#include <cassert>

#include "pmusim/msr/register.h"

namespace pmusim {

RegisterMap::RegisterMap(const CpuModel& model, std::span<const std::span<const RegisterSpec>> rows) {
  for (const std::span<const RegisterSpec> unit : rows) {
    for (const RegisterSpec& spec : unit) {
      for (unsigned i = 0; i < spec.count; ++i) {
        if (spec.exists != nullptr && !spec.exists(model, i)) continue;
        const u64 writable = spec.writable != nullptr ? spec.writable(model, i) : 0;
        const u64 defined = spec.defined != nullptr ? spec.defined(model, i) : ~u64{0};
        entries_.push_back({.spec = &spec,
                            .present = spec.present,
                            .read = spec.read,
                            .write = spec.write,
                            .writable = writable,
                            .defined = spec.write != nullptr ? writable : defined,
                            .reset = spec.reset != nullptr ? spec.reset(model, i) : 0,
                            .address = spec.address + i * spec.stride,
                            .number = static_cast<u16>(i),
                            .owner = spec.owner});
      }
    }
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.address < b.address; });
  assert(std::adjacent_find(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
           return a.address == b.address;
         }) == entries_.end());
  for (std::size_t n = 0; n < entries_.size(); ++n) {
    if (entries_[n].address < dense_addresses) index_[entries_[n].address] = static_cast<u16>(n + 1);
  }
}

const RegisterMap::Entry* RegisterMap::find_high(u32 address) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), address,
                                   [](const Entry& e, u32 wanted) { return e.address < wanted; });
  return at != entries_.end() && at->address == address ? &*at : nullptr;
}

std::string register_name(const RegisterMap::Entry& entry) {
  std::string name(entry.spec->name);
  if (const std::size_t at = name.find("{}"); at != std::string::npos)
    name.replace(at, 2, std::to_string(entry.number));
  return name;
}

Fault write_register(const RegisterMap::Entry* entry, void* unit, u64 value) {
  if (entry == nullptr || entry->write == nullptr || (value & ~entry->writable) != 0) return Fault::gp;
  if (entry->present != nullptr && !entry->present(unit, entry->number)) return Fault::gp;
  return entry->write(unit, entry->number, value);
}

}  // namespace pmusim
