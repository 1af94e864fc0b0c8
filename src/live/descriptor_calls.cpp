// SPDX-License-Identifier: MIT
// What programs do with descriptors of events.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "live/mapper.h"
#include "live/served_calls.h"
#include "live/shared_pages.h"
#include "perf/ring_buffer.h"

namespace pmusim::live {
namespace {

constexpr std::size_t page_bytes = perf::RingBuffer::page_bytes;

template <class T>
i64 result_of(const Result<T, KernelError>& result) {
  return result.ok() ? 0 : -result.error().error_number;
}

template <class T>
std::optional<T> read_value(u32 tid, u64 address) {
  T value{};
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  return trace::read_memory(tid, address, bytes) == bytes.size() ? std::optional(value) : std::nullopt;
}

perf::PerfCore::Scope scope_of(u64 argument) {
  return (argument & PERF_IOC_FLAG_GROUP) != 0 ? perf::PerfCore::Scope::group : perf::PerfCore::Scope::event;
}

/// Those that any file has: O_ASYNC, O_NONBLOCK and close-on-exec.
bool is_of_every_file(u32 request) { return _IOC_TYPE(request) != '$'; }

}  // namespace

ServedCalls::Answer ServedCalls::on_descriptor(const Call& call, EventDescriptor& descriptor) {
  perf::Event& event = descriptor.event();
  switch (call.number) {
    case SYS_read:
      return read(call, event, call.arguments[1], call.arguments[2]);
    case SYS_readv:
      return read_vector(call, event);
    case SYS_ioctl:
      return control(call, descriptor);
    case SYS_fcntl:
      return file_control(call, descriptor);
    case SYS_dup:
      return duplicate(call, descriptor, 0, AtExec::stays_open);
    case SYS_dup2:
    case SYS_dup3:  // below, reads of it would not be seen
      return call.arguments[1] >= numbers_.low ? Answer() : -EINVAL;
    default:
      return std::nullopt;
  }
}

i64 ServedCalls::read(const Call& call, perf::Event& event, u64 address, std::size_t bytes) {
  constexpr std::size_t longest = 1 << 16;
  std::vector<std::byte> answer(std::min(bytes, longest));
  const auto read = machine_.perf().read(event, answer);
  if (!read.ok()) return -read.error().error_number;
  if (!trace::write_memory(call.tid, address, std::span(answer).first(*read))) return -EFAULT;
  return static_cast<i64>(*read);
}

/// Into the first piece that holds anything, where programs that use one have room for all.
i64 ServedCalls::read_vector(const Call& call, perf::Event& event) {
  for (u64 n = 0; n < std::min<u64>(call.arguments[2], UIO_MAXIOV); ++n) {
    const auto piece = read_value<iovec>(call.tid, call.arguments[1] + n * sizeof(iovec));
    if (!piece) return -EFAULT;
    if (piece->iov_len != 0) return read(call, event, reinterpret_cast<u64>(piece->iov_base), piece->iov_len);
  }
  return 0;
}

ServedCalls::Answer ServedCalls::control(const Call& call, EventDescriptor& descriptor) {
  perf::PerfCore& perf = machine_.perf();
  perf::Event& event = descriptor.event();
  const u64 argument = call.arguments[2];
  const auto request = static_cast<u32>(call.arguments[1]);
  switch (request) {
    case FIOASYNC:
      switch_signals(descriptor, read_value<int>(call.tid, argument).value_or(0) != 0);
      return std::nullopt;
    case PERF_EVENT_IOC_ENABLE:
      return perf.enable(event, scope_of(argument)), 0;
    case PERF_EVENT_IOC_DISABLE:
      return perf.disable(event, scope_of(argument)), 0;
    case PERF_EVENT_IOC_RESET:
      return perf.reset(event, scope_of(argument)), 0;
    case PERF_EVENT_IOC_REFRESH:
      return result_of(perf.refresh(event, static_cast<i32>(argument)));
    case PERF_EVENT_IOC_PERIOD:
      return set_period(call, event);
    case PERF_EVENT_IOC_SET_OUTPUT:
      return set_output(call, event);
    case PERF_EVENT_IOC_ID:
      return tell_id(call, event);
    case PERF_EVENT_IOC_PAUSE_OUTPUT:
      return result_of(perf.pause_output(event, argument != 0));
    case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
      return modify_attributes(call, event);
    case PERF_EVENT_IOC_SET_FILTER:
    case PERF_EVENT_IOC_QUERY_BPF:
      return -EINVAL;  // of tracepoints, and there are none among these
    case PERF_EVENT_IOC_SET_BPF:
      return -EOPNOTSUPP;
    default:
      return is_of_every_file(request) ? Answer() : -ENOTTY;
  }
}

i64 ServedCalls::set_period(const Call& call, perf::Event& event) {
  const auto period = read_value<u64>(call.tid, call.arguments[2]);
  return period ? result_of(machine_.perf().set_period(event, *period)) : -EFAULT;
}

i64 ServedCalls::set_output(const Call& call, perf::Event& event) {
  if (static_cast<i32>(call.arguments[2]) == -1) return result_of(machine_.perf().set_output(event, nullptr));
  EventDescriptor* const to = descriptors_.find(call.tid, call.arguments[2]);
  return to != nullptr ? result_of(machine_.perf().set_output(event, &to->event())) : -EINVAL;
}

i64 ServedCalls::tell_id(const Call& call, const perf::Event& event) {
  const u64 id = event.original().id;
  return trace::write_memory(call.tid, call.arguments[2], std::as_bytes(std::span(&id, 1))) ? 0 : -EFAULT;
}

i64 ServedCalls::modify_attributes(const Call& call, perf::Event& event) {
  std::array<std::byte, sizeof(perf::Attr)> user{};
  const std::size_t bytes = trace::read_memory(call.tid, call.arguments[2], user);
  return result_of(machine_.perf().modify_attributes(event, std::span(user).first(bytes)));
}

ServedCalls::Answer ServedCalls::file_control(const Call& call, EventDescriptor& descriptor) {
  switch (call.arguments[1]) {
    case F_DUPFD:
      return duplicate(call, descriptor, call.arguments[2], AtExec::stays_open);
    case F_DUPFD_CLOEXEC:
      return duplicate(call, descriptor, call.arguments[2], AtExec::is_closed);
    case F_SETFL:
      switch_signals(descriptor, (call.arguments[2] & O_ASYNC) != 0);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

void ServedCalls::switch_signals(EventDescriptor& descriptor, bool on) {
  using Signals = perf::PerfCore::Signals;
  descriptor.signals = on;
  machine_.perf().set_signals(descriptor.event(), on ? Signals::each_overflow : Signals::none);
}

i64 ServedCalls::duplicate(const Call& call, const EventDescriptor& descriptor, u64 lowest, AtExec at_exec) {
  const FileDescriptor end = descriptor.read_end();
  if (!end) return -EMFILE;
  return listener_.give(call, end, free_number(call.tid, lowest), at_exec);
}

/// The kernel would map the pipe. So the call ends, and the caller maps the buffer's pages in its place.
void ServedCalls::map(const Call& call, EventDescriptor& descriptor) {
  const i64 file = file_to_map(call, descriptor);
  const bool held = file >= 0 && tasks_.hold(call.tid);
  listener_.finish(call, held ? 0 : file < 0 ? file : -EBUSY);
  if (!held) return;
  ForcedCall mapping{.number = SYS_mmap, .arguments = call.arguments};
  mapping.arguments[4] = static_cast<u64>(file);
  tasks_.call(call.tid,
              std::array{mapping, ForcedCall{.number = SYS_close, .arguments = {static_cast<u64>(file)}}});
}

/// What the caller is to map, under a number of its own; or a negative errno.
i64 ServedCalls::file_to_map(const Call& call, EventDescriptor& descriptor) {
  const auto [address, bytes, protection, flags, number, offset] = call.arguments;
  if (offset != 0 || bytes == 0 || bytes % page_bytes != 0) return -EINVAL;  // AUX areas lie behind
  if ((flags & MAP_TYPE) != MAP_SHARED && (flags & MAP_TYPE) != MAP_SHARED_VALIDATE) return -EINVAL;
  perf::Event& event = descriptor.event();
  Buffer* buffer = buffer_of(event);
  if (buffer != nullptr && event.mapped && !maps(call.tid, *buffer)) {
    machine_.perf().munmap(event);
    buffer = nullptr;
  }
  if (buffer == nullptr) {
    if (const i64 made = make_buffer(call, event); made < 0) return made;
  } else if (const auto mapped = machine_.perf().mmap(event, bytes / page_bytes - 1); !mapped.ok()) {
    return -mapped.error().error_number;
  }
  return listener_.give(call, buffer_of(event)->file, std::nullopt, AtExec::is_closed);
}

ServedCalls::Buffer* ServedCalls::buffer_of(const perf::Event& event) {
  std::erase_if(buffers_, [](const Buffer& buffer) { return buffer.ring.expired(); });
  for (Buffer& buffer : buffers_)
    if (event.ring != nullptr && buffer.ring.lock() == event.ring) return &buffer;
  return nullptr;
}

i64 ServedCalls::make_buffer(const Call& call, perf::Event& event) {
  constexpr u64 most_bytes = u64{1} << 32;
  const u64 bytes = call.arguments[1];
  if (bytes > most_bytes) return -ENOMEM;
  auto pages = make_shared_pages(bytes);
  if (!pages) return -ENOMEM;
  const auto access = (call.arguments[2] & PROT_WRITE) != 0 ? perf::PerfCore::Access::read_write
                                                            : perf::PerfCore::Access::read_only;
  const auto ring = machine_.perf().mmap(event, bytes / page_bytes - 1, access, std::move(pages->memory),
                                         mapper_of(call.tid));
  if (!ring.ok()) return -ring.error().error_number;
  // The program's own RDTSC is the real one.
  perf::ControlPage& page = (*ring)->control();
  page.capabilities &= ~(perf::ControlPage::cap_user_time | perf::ControlPage::cap_user_time_zero);
  (*ring)->on_wakeup([this, ring = *ring] { wake_readers(ring); });
  buffers_.push_back({event.ring, std::move(pages->file)});
  return 0;
}

bool ServedCalls::maps(u32 tid, const Buffer& buffer) const {
  struct stat file {};
  ::fstat(buffer.file.number(), &file);
  const std::string name = fmt::format(" {} ", file.st_ino), maps = trace::proc_file(tid, "maps");
  for (std::size_t at = maps.find(name); at != std::string::npos; at = maps.find(name, at + 1))
    if (maps.substr(at, maps.find('\n', at) - at).find("memfd:perf_event") != std::string::npos) return true;
  return false;
}

}  // namespace pmusim::live
