// SPDX-License-Identifier: MIT
#include "core/tage.h"

#include <algorithm>
#include <optional>

#include "pmusim/base/bits.h"

namespace pmusim {

std::array<std::vector<Tage::Entry>, Tage::tables> Tage::make_tables() {
  std::array<std::vector<Entry>, tables> made;
  made.fill(std::vector<Entry>(1u << index_bits));
  return made;
}

Tage::Lookup Tage::look_up(u64 ip) {
  Lookup lookup;
  for (unsigned t = 0; t < tables; ++t) {
    const u64 seen = history_ & low_bits(history_lengths[t]);
    const u64 hash = branch_hash(branch_hash(ip) ^ (seen << 1 | 1) * 0xC2B2AE3D27D4EB4F);
    Entry& entry = tagged_[t][hash >> (64 - index_bits)];
    lookup.entries[t] = &entry;
    lookup.tags[t] = static_cast<u16>(1 + (hash >> 32 & 0x7FF));  // never 0, which marks an empty entry
    if (entry.tag == lookup.tags[t]) {
      lookup.alternate = lookup.provider;
      lookup.provider = static_cast<int>(t);
    }
  }
  return lookup;
}

bool Tage::direction(const Lookup& lookup, int table, u64 ip) const {
  return table < 0 ? base_.predict(ip) : lookup.entries[static_cast<unsigned>(table)]->counter >= 0;
}

bool Tage::is_new(const Entry& entry) {
  return entry.useful == 0 && (entry.counter == 0 || entry.counter == -1);
}

void Tage::age() {
  for (std::vector<Entry>& table : tagged_)
    for (Entry& entry : table) entry.useful = static_cast<u8>(entry.useful / 2);
}

void Tage::allocate(const Lookup& lookup, bool taken) {
  const unsigned first = static_cast<unsigned>(lookup.provider + 1);
  for (unsigned t = first; t < tables; ++t) {
    if (lookup.entries[t]->useful != 0) continue;
    *lookup.entries[t] = Entry{lookup.tags[t], static_cast<signed char>(taken ? 0 : -1), 0};
    return;
  }
  for (unsigned t = first; t < tables; ++t) --lookup.entries[t]->useful;
}

void Tage::learn(const Lookup& lookup, u64 ip, bool taken, bool predicted) {
  if (lookup.provider < 0) {
    base_.train(ip, taken);
  } else {
    Entry& entry = *lookup.entries[static_cast<unsigned>(lookup.provider)];
    const bool provided = entry.counter >= 0;
    const bool alternate = direction(lookup, lookup.alternate, ip);
    if (provided != alternate) {
      const bool right = provided == taken;
      if (is_new(entry)) trust_new_ = std::clamp(trust_new_ + (right ? 1 : -1), -8, 7);
      if (right && entry.useful < 3) ++entry.useful;
      if (!right && entry.useful > 0) --entry.useful;
    }
    if (entry.useful == 0 && lookup.alternate < 0) base_.train(ip, taken);
    entry.counter = static_cast<signed char>(std::clamp(entry.counter + (taken ? 1 : -1), -4, 3));
  }
  if (predicted != taken) allocate(lookup, taken);
}

bool Tage::train(u64 ip, bool taken) {
  const Lookup lookup = look_up(ip);
  int chosen = lookup.provider;
  if (chosen >= 0 && trust_new_ < 0 && is_new(*lookup.entries[static_cast<unsigned>(chosen)]))
    chosen = lookup.alternate;
  const bool by_history = direction(lookup, chosen, ip);
  const bool predicted = loops_.predict(ip).value_or(by_history);
  learn(lookup, ip, taken, by_history);
  loops_.learn(ip, taken, by_history != taken);
  history_ = history_ << 1 | u64{taken};
  if (++trained_ % useful_lifetime == 0) age();
  return predicted;
}

}  // namespace pmusim
