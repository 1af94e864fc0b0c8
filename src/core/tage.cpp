// SPDX-License-Identifier: MIT
#include "core/tage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "pmusim/base/types.h"

namespace pmusim {

namespace {

constexpr unsigned recent_outcomes = 64;        // that a word holds
constexpr u64 polynomial = 0xD1342543DE82EF95;  // odd, so that no outcome is lost

u64 power(u64 base, unsigned exponent) {
  u64 product = 1;
  for (; exponent != 0; --exponent) product *= base;
  return product;
}

}  // namespace

// Lengths are a geometric series (Seznec and Michaud).
Tage::Table Tage::make_table(const Shape& shape, unsigned number) {
  const double steps = shape.tables > 1 ? static_cast<double>(number) / (shape.tables - 1) : 1;
  const double ratio = static_cast<double>(shape.longest_history) / shortest_history;
  Table table;
  table.entries.resize(shape.entries);
  table.history_length = static_cast<unsigned>(std::lround(shortest_history * std::pow(ratio, steps)));
  if (table.history_length <= recent_outcomes)
    table.mask = low_bits(table.history_length);
  else
    table.oldest_factor = power(polynomial, table.history_length);
  return table;
}

Tage::Tage(const Shape& shape) : index_shift_(64 - static_cast<unsigned>(std::countr_zero(shape.entries))) {
  for (unsigned t = 0; t < shape.tables; ++t) tagged_.push_back(make_table(shape, t));
  while (first_folded_ < shape.tables && tagged_[first_folded_].mask != 0) ++first_folded_;
}

// Before `trained_` counts it.
void Tage::remember(bool taken) {
  recent_ = recent_ << 1 | u64{taken};
  if (first_folded_ < tagged_.size()) fold(taken);
}

void Tage::fold(bool taken) {
  const auto outcome = [&](u64 number) {
    return outcomes_[number / 64 % outcomes_.size()] >> number % 64 & 1;
  };
  for (unsigned t = first_folded_; t < tagged_.size(); ++t) {
    Table& table = tagged_[t];
    const u64 oldest = trained_ < table.history_length ? 0 : outcome(trained_ - table.history_length);
    table.folded = table.folded * polynomial + u64{taken} - oldest * table.oldest_factor;
  }
  u64& word = outcomes_[trained_ / 64 % outcomes_.size()];
  word = (word & ~bit(trained_ % 64)) | u64{taken} << trained_ % 64;
}

Tage::Lookup Tage::look_up(u64 ip) {
  Lookup lookup;
  // Compilers unroll the loop by its first bound, so that the host predicts the comparison of each table.
  for (unsigned t = 0; t < most_tables && t < tagged_.size(); ++t) {
    Table& table = tagged_[t];
    const u64 history = (recent_ & table.mask) | table.folded;
    const u64 hash = branch_hash(branch_hash(ip) ^ (history << 1 | 1) * 0xC2B2AE3D27D4EB4F);
    Entry& entry = table.entries[hash >> index_shift_];
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
  for (Table& table : tagged_)
    for (Entry& entry : table.entries) entry.useful = static_cast<u8>(entry.useful / 2);
}

void Tage::allocate(const Lookup& lookup, bool taken) {
  const unsigned first = static_cast<unsigned>(lookup.provider + 1);
  for (unsigned t = first; t < tagged_.size(); ++t) {
    if (lookup.entries[t]->useful != 0) continue;
    *lookup.entries[t] = Entry{lookup.tags[t], static_cast<signed char>(taken ? 0 : -1), 0};
    return;
  }
  for (unsigned t = first; t < tagged_.size(); ++t) --lookup.entries[t]->useful;
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
  remember(taken);
  if (++trained_ % useful_lifetime == 0) age();
  return predicted;
}

}  // namespace pmusim
