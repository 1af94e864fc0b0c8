// SPDX-License-Identifier: MIT
#include "trace/live_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "pmusim/trace/trace.h"
#include "trace/pipe_bytes.h"

namespace pmusim::trace {
namespace {

constexpr int pipe_bytes = 1 << 20;  // the kernel grants less where it is configured to

/// A handler that does nothing: system calls that wait return. Nobody else's use of the signal is disturbed
/// but by its coming.
class Waker {
 public:
  Waker() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGURG, &action, &before_);
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() { ::sigaction(SIGURG, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace

class LiveTrace::Impl {
 public:
  Impl(std::string name, Contents contents, Maker make, const std::atomic<bool>* stop_asked)
      : name_(std::move(name)), contents_(contents), make_(std::move(make)), stop_asked_(stop_asked) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    (void)finish();
    if (read_end_ >= 0) ::close(read_end_);
  }

  const Contents& contents() const { return contents_; }
  void keep_no_more() {
    kept_ = false;
    if (bytes_ != nullptr) bytes_->keep_no_more();
  }

  /// The trace's bytes, which begin to come with the first call. Errors: no pipe.
  Result<std::shared_ptr<const TraceBytes>, Error> bytes() {
    if (bytes_ == nullptr) {
      const auto started = start();
      if (!started.ok()) return Failure(started.error());
    }
    return std::shared_ptr<const TraceBytes>(bytes_);
  }

  Result<Done, Error> finish() {
    stop_ = true;
    return wait();
  }

  /// For the maker to end by itself.
  Result<Done, Error> wait() {
    if (thread_.joinable()) {
      bytes_->drain();
      thread_.join();
    }
    return outcome_;
  }

  /// Why the trace ended here, where `found` is what its bytes say.
  Error reason(const Error& found) {
    const auto made = finish();
    return made.ok() ? found : made.error();
  }

 private:
  Result<Done, Error> start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return Failure(Error(fmt::format("{}: cannot make a pipe: {}", name_, std::strerror(errno))));
    read_end_ = ends[0];
    ::fcntl(read_end_, F_SETPIPE_SZ, pipe_bytes);
    bytes_ = std::make_shared<PipeBytes>(name_, read_end_, [this] { obey(); });
    if (!kept_) bytes_->keep_no_more();
    thread_ = std::thread([this, write_end = ends[1]] { make(write_end); });
    return Done{};
  }

  void make(int write_end) {
    try {
      outcome_ = make_(fmt::format("/proc/self/fd/{}", write_end), stop_);
    } catch (const std::bad_alloc&) {
      outcome_ = Failure(Error(fmt::format("{}: not enough memory to record it", name_)));
    } catch (const std::exception& error) {
      outcome_ = Failure(Error(fmt::format("{}: {}", name_, error.what())));
    }
    ::close(write_end);
  }

  // A wake-up between looking at `stop_` and waiting goes unnoticed; the next does not.
  void obey() {
    if (stop_asked_ != nullptr && *stop_asked_) stop_ = true;
    if (stop_) ::pthread_kill(thread_.native_handle(), SIGURG);
  }

  std::string name_;
  Contents contents_;
  Maker make_;
  const std::atomic<bool>* stop_asked_;
  Waker waker_;
  std::atomic<bool> stop_ = false;
  bool kept_ = true;
  int read_end_ = -1;
  std::shared_ptr<PipeBytes> bytes_;
  std::thread thread_;
  Result<Done, Error> outcome_ = Done{};  // of the maker, once the thread has ended
};

/// One reading of the trace.
class LiveTrace::View final : public Source {
 public:
  explicit View(Impl& trace) : trace_(trace) {}

  const Contents& contents() const override { return trace_.contents(); }
  std::optional<u64> length() const override { return length_; }
  const std::optional<std::string>& truncation() const override { return none_; }

  Result<Items, Error> read() override {
    if (length_) return Items();
    if (auto opened = open(); !opened.ok()) return Failure(trace_.reason(opened.error()));
    auto item = reader_->next();
    if (!item.ok()) return Failure(trace_.reason(item.error()));
    if (*item) return item->items();
    length_ = reader_->instruction_count();
    if (auto made = trace_.wait(); !made.ok()) return Failure(made.error());
    return Items();
  }

  void leave_out(Detail detail) override { left_out_.push_back(detail); }

  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override {
    return reader_ ? reader_->code(pid, address, bytes) : std::vector<std::byte>();
  }

 private:
  Result<Done, Error> open() {
    if (reader_) return Done{};
    const auto bytes = trace_.bytes();
    if (!bytes.ok()) return Failure(bytes.error());
    auto reader = Reader::open_stream(*bytes);
    if (!reader.ok()) return Failure(reader.error());
    if (reader->contents() != trace_.contents())
      return Failure((*bytes)->damaged(0, "the trace has not the contents that were promised"));
    reader_.emplace(std::move(reader).value());
    for (const Detail detail : left_out_) reader_->leave_out(detail);
    return Done{};
  }

  Impl& trace_;
  std::optional<Reader> reader_;
  std::vector<Detail> left_out_;
  std::optional<u64> length_;
  std::optional<std::string> none_;
};

LiveTrace::LiveTrace(const std::string& name, Contents contents, Maker make,
                     const std::atomic<bool>* stop_asked)
    : impl_(std::make_unique<Impl>(name, contents, std::move(make), stop_asked)) {}
LiveTrace::~LiveTrace() = default;

std::unique_ptr<Source> LiveTrace::preview() { return std::make_unique<View>(*impl_); }

std::unique_ptr<Source> LiveTrace::source() {
  impl_->keep_no_more();
  return std::make_unique<View>(*impl_);
}

Result<Done, Error> LiveTrace::finish() { return impl_->finish(); }

}  // namespace pmusim::trace
