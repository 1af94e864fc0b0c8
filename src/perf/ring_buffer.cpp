// SPDX-License-Identifier: MIT
#include "perf/ring_buffer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

namespace pmusim::perf {

std::shared_ptr<std::byte> RingBuffer::make_pages(std::size_t pages) {
  const std::shared_ptr<Page[]> owned = std::make_unique<Page[]>(pages);
  return {owned, owned[0].bytes};
}

RingBuffer::RingBuffer(std::size_t data_pages, Options options, std::shared_ptr<std::byte> memory)
    : pages_(memory ? std::move(memory) : make_pages(1 + data_pages)),
      control_(new (pages_.get()) ControlPage),
      data_(pages_.get() + page_bytes),
      size_(data_pages * page_bytes),
      options_(options),
      watermark_(options.watermark == 0 ? size_ / 2 : std::min<u64>(options.watermark, size_)),
      paused_(data_pages == 0) {
  assert(data_pages == 0 || std::has_single_bit(data_pages));
  control_->data_offset = page_bytes;
  control_->data_size = size_;
}

std::span<std::byte> RingBuffer::mapping() { return {pages_.get(), page_bytes + size_}; }

std::byte* RingBuffer::refuse() {
  if (size_ != 0) ++lost_;
  room_end_ = next_;
  return nullptr;
}

/// In a buffer that drops, one byte stays free: full and empty must differ.
u64 RingBuffer::free_bytes() const {
  if (options_.when_full == WhenFull::overwrite) return size_;
  const u64 tail = std::atomic_ref(control_->data_tail).load(std::memory_order_acquire);
  const u64 used = options_.direction == Direction::forward ? head() - tail : tail - head();
  return ~used & (size_ - 1);
}

void RingBuffer::move_head(u64 position) {
  lap_ = position & ~(size_ - 1);
  next_ = data_ + (position - lap_);
}

std::byte* RingBuffer::look_and_reserve(std::size_t bytes) {
  if (paused_ || bytes > free_bytes()) return refuse();
  const bool forward = options_.direction == Direction::forward;
  const u64 start = forward ? head() : head() - bytes;
  move_head(forward ? start + bytes : start);
  if (head() - wakeup_position_ > watermark_) {
    wakeup_position_ += watermark_;
    request_wakeup();
  }
  room_end_ = next_ + (forward && lost_ == 0 ? room_ahead() : 0);
  const std::size_t offset = start & (size_ - 1);
  if (offset + bytes > size_) return reserve_across_the_end(offset, bytes);
  return data_ + offset;
}

u64 RingBuffer::room_ahead() const {
  const u64 to_the_end = size_ - (head() - lap_);
  const u64 since_wakeup = head() - wakeup_position_;
  const u64 to_the_watermark = since_wakeup < watermark_ ? watermark_ - since_wakeup : 0;
  return std::min<u64>({to_the_end, to_the_watermark, free_bytes(), max_record_bytes});
}

std::byte* RingBuffer::reserve_across_the_end(std::size_t offset, std::size_t bytes) {
  beside_.resize(std::max(beside_.size(), bytes));
  beside_offset_ = offset;
  beside_bytes_ = bytes;
  attention_ = true;
  return beside_.data();
}

void RingBuffer::copy_across_the_end() {
  const std::size_t first = size_ - beside_offset_;
  std::memcpy(data_ + beside_offset_, beside_.data(), first);
  std::memcpy(data_, beside_.data() + first, beside_bytes_ - first);
  beside_bytes_ = 0;
}

void RingBuffer::publish_with_attention() {
  attention_ = false;
  if (beside_bytes_ != 0) copy_across_the_end();
  publish_ahead();
  if (wakeup_due_) wake();
}

void RingBuffer::wake() {
  wakeup_due_ = false;
  readable_.store(true, std::memory_order_release);
  if (callback_) callback_();
}

}  // namespace pmusim::perf
