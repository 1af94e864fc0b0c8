// SPDX-License-Identifier: MIT
#include <bit>
#include <cstring>

#include "lbr/lbr_stack.h"

namespace pmusim {
namespace {

static_assert(std::endian::native == std::endian::little, "records are copied as bytes");

template <class T>
void store(std::span<std::byte> image, std::size_t offset, const T& value) {
  std::memcpy(image.data() + offset, &value, sizeof value);
}
template <class T>
T load(std::span<const std::byte> image, std::size_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

std::size_t entry_offset(unsigned i) { return lbr_component::ENTRIES + i * sizeof(LbrEntry); }

}  // namespace

bool LbrStack::component_in_use() const {
  if (ctl_ != 0 || last_exception_ != LbrEntry{}) return true;
  for (unsigned i = 0; i < depth_; ++i)
    if (record_at(i) != LbrEntry{}) return true;
  return false;
}

void LbrStack::save_component(std::span<std::byte> image) const {
  store(image, lbr_component::CTL, ctl_);
  store(image, lbr_component::DEPTH, u64{depth_});
  store(image, lbr_component::LER, last_exception_);
  // Kept in variables: the image could be anywhere, and the members would be read again for each entry.
  const unsigned depth = depth_, newest = head_, mask = ring_mask_;
  std::byte* at = image.data() + lbr_component::ENTRIES;
  for (unsigned i = 0; i < depth; ++i, at += sizeof(LbrEntry))
    std::memcpy(at, &ring_[(newest - i) & mask], sizeof(LbrEntry));
  if (model_->policies.lbr_xsaves_beyond_depth) return;
  for (unsigned i = depth_; i < model_->lbr.depth; ++i) store(image, entry_offset(i), LbrEntry{});
}

Fault LbrStack::restore_component(std::span<const std::byte> image) {
  const u64 ctl = load<u64>(image, lbr_component::CTL);
  const u64 depth = load<u64>(image, lbr_component::DEPTH);
  if ((ctl & ~writable_ctl()) != 0 || !depth_supported(depth)) return Fault::gp;
  last_exception_ = load<LbrEntry>(image, lbr_component::LER);
  // LBR_DEPTH itself is never written by XRSTORS: entries of another depth cannot be placed.
  if (depth != depth_) {
    clear_records();
  } else {
    for (unsigned i = 0; i < depth_; ++i) {
      LbrEntry& record = ring_[slot_of(i)];
      const LbrEntry saved = load<LbrEntry>(image, entry_offset(i));
      record = layout_.with_info({saved.from, saved.to, 0}, saved.info);
    }
  }
  write_ctl(ctl);
  return Fault::none;
}

void LbrStack::initialize_component() {
  clear_records();
  last_exception_ = {};
  write_ctl(0);
}

}  // namespace pmusim
