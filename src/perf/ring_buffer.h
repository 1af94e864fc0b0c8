// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_RING_BUFFER_H
#define PMUSIM_SRC_PERF_RING_BUFFER_H

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "perf/control_page.h"
#include "pmusim/base/types.h"

namespace pmusim::perf {

/// The buffer that mmap() of an event gives: a control page, then a power-of-two number of data pages
/// (Linux: kernel/events/ring_buffer.c).
///
/// One thread writes, one other may read at the same time: the writer publishes `data_head` with release
/// order after the bytes, the reader publishes `data_tail` with release order after it has consumed them.
/// Both count bytes since the start and never wrap; `position mod data_size` is the place in the data area.
///
/// A record is written in place. Where it would straddle the end of the data area it is written beside the
/// buffer and copied in two parts, so that writers of records see plain memory.
///
/// Most records need nothing looked at: they fit between `next_` and `room_end_`, the first place where
/// something has to be (the end of the data area, the reader as last seen, the watermark). There is no such
/// room while the buffer is paused, while losses wait to be reported, and in a backward buffer.
///
/// Invariant: between reserve() and publish() only the writer knows head().
class RingBuffer {
 public:
  static constexpr std::size_t page_bytes = 4096;
  /// The largest record: its size is a multiple of 8 in 16 bits.
  static constexpr std::size_t max_record_bytes = 65528;

  enum class Direction : u8 { forward, backward };
  /// What a full buffer does: wait for the reader (a writable mapping) or go round (a read-only one).
  enum class WhenFull : u8 { drop, overwrite };
  struct Options {
    Direction direction = Direction::forward;
    WhenFull when_full = WhenFull::drop;
    u64 watermark = 0;  ///< bytes between wakeups; 0: half the buffer
  };

  /// `data_pages` is 0 (control page only: nothing is ever written) or a power of two.
  /// The pages are `memory`, zeroed and page-aligned, if given: a program may see them, too.
  RingBuffer(std::size_t data_pages, Options options, std::shared_ptr<std::byte> memory = nullptr);

  /// Control page and data area in one piece, as mmap() returns them.
  std::span<std::byte> mapping();
  ControlPage& control() { return *control_; }
  const ControlPage& control() const { return *control_; }
  std::span<const std::byte> data() const { return {data_, size_}; }
  std::size_t data_pages() const { return size_ / page_bytes; }
  Options options() const { return options_; }

  /// A record of this size fits, and there is nothing to look at or to report before it.
  bool fits_ahead(std::size_t bytes) const;
  /// Room for `bytes` (a multiple of 8) in a row, or nullptr when the record must be dropped; that is
  /// counted. Every successful call is followed by one publish().
  std::byte* reserve(std::size_t bytes);
  /// Makes the reserved bytes visible to the reader, then delivers a wakeup that is due.
  void publish();
  /// publish() for a record that fitted ahead: nothing but the head to tell.
  void publish_ahead();
  /// Room for records that fit ahead, for writers of many: fill it from its start, then say how far.
  std::span<std::byte> window() { return {next_, room_end_}; }
  void publish_up_to(std::byte* end) {
    next_ = end;
    publish_ahead();
  }
  /// Drops a record that was never going to fit: nullptr, counted as reserve() counts.
  std::byte* refuse();

  /// Records dropped since the last LOST record.
  u64 lost() const { return lost_; }
  void clear_lost() { lost_ = 0; }

  /// While paused everything written is dropped and counted.
  void pause() {
    paused_ = true;
    room_end_ = next_;
  }
  void resume() { paused_ = size_ == 0; }
  bool paused() const { return paused_; }

  /// Accounts one sample of an event with `attr.wakeup_events` = `wakeup_events` (0: no such rule).
  void count_sample(u32 wakeup_events);
  /// Wakes the reader now.
  void wake();
  /// What poll() sees: true once after each wakeup. Callable from the reader's thread.
  bool poll() { return readable_.exchange(false, std::memory_order_acq_rel); }
  /// Called on the writer's thread after data_head is published. It may read the buffer.
  void on_wakeup(std::function<void()> callback) { callback_ = std::move(callback); }

 private:
  struct alignas(page_bytes) Page {
    std::byte bytes[page_bytes];
  };

  std::byte* look_and_reserve(std::size_t bytes);
  void request_wakeup() { wakeup_due_ = attention_ = true; }
  u64 head() const { return lap_ + static_cast<u64>(next_ - data_); }
  void move_head(u64 position);
  u64 free_bytes() const;
  u64 room_ahead() const;
  std::byte* reserve_across_the_end(std::size_t offset, std::size_t bytes);
  void copy_across_the_end();
  void publish_with_attention();

  static std::shared_ptr<std::byte> make_pages(std::size_t pages);

  std::shared_ptr<std::byte> pages_;
  ControlPage* control_;
  std::byte* data_;
  std::size_t size_;
  Options options_;
  u64 watermark_;

  u64 lap_ = 0;  ///< what head() is at the beginning of the data area
  std::byte* next_ = data_;
  std::byte* room_end_ = data_;
  u64 wakeup_position_ = 0;
  u64 samples_since_wakeup_ = 0;
  u64 lost_ = 0;
  bool paused_;
  bool wakeup_due_ = false;
  bool attention_ = false;         ///< publish() has to wake or to copy across the end
  std::vector<std::byte> beside_;  ///< a record that straddles the end, until it is published
  std::size_t beside_offset_ = 0, beside_bytes_ = 0;
  std::atomic<bool> readable_ = false;
  std::function<void()> callback_;
};

inline bool RingBuffer::fits_ahead(std::size_t bytes) const {
  return bytes <= static_cast<std::size_t>(room_end_ - next_);
}

inline std::byte* RingBuffer::reserve(std::size_t bytes) {
  return fits_ahead(bytes) ? std::exchange(next_, next_ + bytes) : look_and_reserve(bytes);
}

inline void RingBuffer::publish_ahead() {
  std::atomic_ref(control_->data_head).store(head(), std::memory_order_release);
}

inline void RingBuffer::publish() {
  if (attention_) return publish_with_attention();
  publish_ahead();
}

inline void RingBuffer::count_sample(u32 wakeup_events) {
  if (wakeup_events == 0) return;
  if (++samples_since_wakeup_ < wakeup_events) return;
  samples_since_wakeup_ = 0;
  request_wakeup();
}

}  // namespace pmusim::perf

#endif
