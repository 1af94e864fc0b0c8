#include "pmusim/perf/ring_buffer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

namespace pmusim::perf {

RingBuffer::RingBuffer(std::size_t data_pages, Options options)
    : pages_(std::make_unique<Page[]>(1 + data_pages)),
      control_(new (pages_.get()) ControlPage),
      data_(reinterpret_cast<std::byte*>(pages_.get() + 1)),
      size_(data_pages * page_bytes),
      options_(options),
      watermark_(options.watermark == 0 ? size_ / 2 : std::min<u64>(options.watermark, size_)),
      paused_(data_pages == 0) {
  assert(data_pages == 0 || std::has_single_bit(data_pages));
  control_->data_offset = page_bytes;
  control_->data_size = size_;
}

std::span<std::byte> RingBuffer::mapping() {
  return {reinterpret_cast<std::byte*>(pages_.get()), page_bytes + size_};
}

std::byte* RingBuffer::refuse() {
  if (size_ != 0) ++lost_;
  return nullptr;
}

std::byte* RingBuffer::reserve_across_the_end(std::size_t offset, std::size_t bytes) {
  beside_.resize(std::max(beside_.size(), bytes));
  beside_offset_ = offset;
  beside_bytes_ = bytes;
  return beside_.data();
}

void RingBuffer::copy_across_the_end() {
  const std::size_t first = size_ - beside_offset_;
  std::memcpy(data_ + beside_offset_, beside_.data(), first);
  std::memcpy(data_, beside_.data() + first, beside_bytes_ - first);
  beside_bytes_ = 0;
}

void RingBuffer::wake() {
  wakeup_due_ = false;
  readable_.store(true, std::memory_order_release);
  if (callback_) callback_();
}

}  // namespace pmusim::perf
