// SPDX-License-Identifier: MIT
#include "trace/decoding_thread.h"

#include <csignal>
#include <utility>

#include "trace/code_table.h"

namespace pmusim::trace {
namespace {

constexpr std::size_t most_addresses = 4 * ItemBatch::most_items + max_block_operands;
constexpr std::size_t most_of_instructions = 2 * ItemBatch::most_items + max_block_instructions;

template <class T>
std::span<const T> append(std::vector<T>& all, std::span<const T> some) {
  if (some.empty()) return some;
  const std::size_t before = all.size();
  all.insert(all.end(), some.begin(), some.end());
  return std::span<const T>(all).subspan(before);
}

/// Signals are for the threads that were there before.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ItemBatch::ItemBatch() : items_(most_items) {
  addresses_.reserve(most_addresses);
  rep_counts_.reserve(most_of_instructions);
}

void ItemBatch::add(const Item& item) {
  Item& place = items_[size_];
  if (const auto* run = std::get_if<BlockRun>(&item)) {
    add_run(place, *run);
  } else {
    place = item;
  }
  ++size_;
}

void ItemBatch::add_run(Item& place, const BlockRun& run) {
  if (!run.registers.empty()) registers_.reserve(most_of_instructions);  // few traces have them
  if (!std::holds_alternative<BlockRun>(place)) place.emplace<BlockRun>();
  BlockRun& copy = std::get<BlockRun>(place);
  copy = run;
  copy.addresses = append(addresses_, run.addresses);
  copy.rep_counts = append(rep_counts_, run.rep_counts);
  copy.registers = append(registers_, run.registers);
}

bool ItemBatch::has_room() const {
  return size_ < most_items && addresses_.size() + max_block_operands <= most_addresses &&
         rep_counts_.size() + max_block_instructions <= most_of_instructions &&
         registers_.size() + max_block_instructions <= most_of_instructions;
}

void ItemBatch::clear() {
  size_ = 0;
  addresses_.clear();
  rep_counts_.clear();
  registers_.clear();
}

DecodingThread::DecodingThread(Read read) : read_(std::move(read)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { work(); });
}

DecodingThread::~DecodingThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DecodingThread::work() {
  for (bool more = true; more;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || filled_ - released_ < batches; });
    if (stop_) return;
    ItemBatch& batch = ring_[filled_ % batches];
    lock.unlock();
    more = fill_or_keep_exception(batch);
    lock.lock();
    ++filled_;
    ended_ = !more;
    lock.unlock();
    changed_.notify_all();
  }
}

// An exception that left a thread would end the program, though who takes items may know what to do about it.
bool DecodingThread::fill_or_keep_exception(ItemBatch& batch) {
  try {
    return fill(batch);
  } catch (...) {
    thrown_ = std::current_exception();
    return false;
  }
}

bool DecodingThread::fill(ItemBatch& batch) {
  batch.clear();
  for (; batch.has_room(); left_ = left_.subspan(1)) {
    if (left_.empty()) {
      const auto more = read_();
      if (!more.ok()) end_ = Failure(more.error());
      if (!more.ok() || more->empty()) return false;
      left_ = *more;
    }
    batch.add(left_.front());
  }
  return true;
}

Result<Items, Error> DecodingThread::read() {
  while (turn())
    if (const Items items = ring_[released_ % batches].items(); !items.empty()) return items;
  if (thrown_) std::rethrow_exception(thrown_);
  if (!end_.ok()) return Failure(end_.error());
  return Items();
}

bool DecodingThread::turn() {
  std::unique_lock lock(mutex_);
  if (std::exchange(taken_, false)) {
    ++released_;
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return ended_ || filled_ != released_; });
  if (filled_ == released_) return false;
  taken_ = true;
  return true;
}

}  // namespace pmusim::trace
