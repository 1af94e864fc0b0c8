// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_DECODING_THREAD_H
#define PMUSIM_TRACE_DECODING_THREAD_H

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// Items with all that they refer to, but for blocks.
class ItemBatch {
 public:
  static constexpr std::size_t most_items = 1024;

  ItemBatch();
  /// Copies an item. There is room for it.
  void add(const Item& item);
  bool has_room() const;
  void clear();
  Items items() const { return Items(items_).first(size_); }

 private:
  void add_run(Item& place, const BlockRun& run);

  std::vector<Item> items_;  // of which `size_` are used
  std::size_t size_ = 0;
  // Of all runs; never longer than what is reserved for them, so that spans stay valid.
  std::vector<u64> addresses_;
  std::vector<u32> rep_counts_;
  std::vector<Registers> registers_;
};

/// Asks for items on a thread of its own, some thousand ahead of who takes them: the same items in the same
/// order, then the same error or end, whatever is faster.
class DecodingThread {
 public:
  using Read = std::function<Result<Items, Error>()>;

  /// Nobody else calls `read` from here on, or changes what it reads. It has no extended registers to tell.
  explicit DecodingThread(Read read);
  DecodingThread(const DecodingThread&) = delete;
  DecodingThread& operator=(const DecodingThread&) = delete;
  /// Waits for no more than the batch at work.
  ~DecodingThread();

  /// As Source::read(): behind the last item the end, or the error, again and again. Throws what `read`
  /// threw.
  Result<Items, Error> read();

 private:
  static constexpr std::size_t batches = 4;  // one is read, others wait, one is filled

  void work();
  /// Whether more follows.
  bool fill(ItemBatch& batch);
  bool fill_or_keep_exception(ItemBatch& batch);
  /// Gives back what was read, and waits for what follows. False at the end.
  bool turn();

  Read read_;
  Items left_;  // of what it gave last
  std::array<ItemBatch, batches> ring_;
  bool taken_ = false;                // one of them, and not given back
  Result<Done, Error> end_ = Done{};  // written before `ended_`
  std::exception_ptr thrown_;         // instead

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;    // batches so far
  std::size_t released_ = 0;  // of these have been read
  bool ended_ = false, stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace pmusim::trace

#endif
