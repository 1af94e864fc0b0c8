#include <boost/endian/conversion.hpp>

#include "pmusim/lbr/lbr_stack.h"

namespace pmusim {
namespace {

void store(std::span<std::byte> image, std::size_t offset, u64 value) {
  boost::endian::store_little_u64(reinterpret_cast<unsigned char*>(image.data() + offset), value);
}
u64 load(std::span<const std::byte> image, std::size_t offset) {
  return boost::endian::load_little_u64(reinterpret_cast<const unsigned char*>(image.data() + offset));
}
void store(std::span<std::byte> image, std::size_t offset, const LbrEntry& entry) {
  store(image, offset, entry.from);
  store(image, offset + 8, entry.to);
  store(image, offset + 16, entry.info);
}
LbrEntry load_entry(std::span<const std::byte> image, std::size_t offset) {
  return {load(image, offset), load(image, offset + 8), load(image, offset + 16)};
}

std::size_t entry_offset(unsigned i) { return lbr_component::ENTRIES + i * sizeof(LbrEntry); }

}  // namespace

std::size_t LbrStack::component_bytes() const { return lbr_component::bytes(model_->lbr.depth); }

bool LbrStack::component_in_use() const {
  bool records = false;
  for (unsigned i = 0; i < depth_; ++i) records |= ring_[slot_of(i)] != LbrEntry{};
  return records || ctl_ != 0 || last_exception_ != LbrEntry{};
}

void LbrStack::save_component(std::span<std::byte> image) const {
  store(image, lbr_component::CTL, ctl_);
  store(image, lbr_component::DEPTH, depth_);
  store(image, lbr_component::LER, last_exception_);
  for (unsigned i = 0; i < depth_; ++i) store(image, entry_offset(i), ring_[slot_of(i)]);
  if (model_->policies.lbr_xsaves_beyond_depth) return;
  for (unsigned i = depth_; i < model_->lbr.depth; ++i) store(image, entry_offset(i), LbrEntry{});
}

Fault LbrStack::restore_component(std::span<const std::byte> image) {
  const u64 ctl = load(image, lbr_component::CTL);
  const u64 depth = load(image, lbr_component::DEPTH);
  if ((ctl & ~writable_ctl()) != 0 || !depth_supported(depth)) return Fault::gp;
  last_exception_ = load_entry(image, lbr_component::LER);
  // LBR_DEPTH itself is never written by XRSTORS: entries of another depth cannot be placed.
  if (depth != depth_) {
    clear_records();
  } else {
    for (unsigned i = 0; i < depth_; ++i) {
      LbrEntry& record = ring_[slot_of(i)];
      const LbrEntry saved = load_entry(image, entry_offset(i));
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
