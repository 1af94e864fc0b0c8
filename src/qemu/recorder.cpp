// SPDX-License-Identifier: MIT
#include "pmusim/qemu/recorder.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "qemu/shared_slots.h"
#include "qemu/trace_builder.h"
#include "qemu/tracer.h"

namespace pmusim::qemu {
namespace {

namespace fs = std::filesystem;

constexpr const char* plugin_name = "libpmusim_qemu_plugin.so";
constexpr u64 progress_packets = 64;

std::optional<fs::path> in_path(std::string_view program) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const fs::path candidate = fs::path(folders.substr(0, end)) / program;
    if (end != 0 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return std::nullopt;
}

/// A pair of connected sockets that keep packets whole.
struct Channel {
  int here = -1, there = -1;
  Channel() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    here = ends[0];
    there = ends[1];
    const int bytes = 4 << 20;  // the kernel grants less where it is configured to
    ::setsockopt(there, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (here >= 0) ::close(here);
    if (there >= 0) ::close(there);
  }
};

/// The highest descriptor that programs may have: the first to be taken is the lowest.
int highest_descriptor() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536)) - 1;
}

void tell(int socket, wire::Kind kind, Tracer::Exit exit) {
  struct {
    wire::Header header;
    u64 status;
  } packet{{kind, exit.tid, exit.tid, 1}, static_cast<u32>(exit.status)};
  while (::send(socket, &packet, sizeof packet, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/// Receives packets until the last one, and makes the trace of them.
class Receiver {
 public:
  Receiver(trace::Writer& writer, const FastRecordingOptions& options, int socket, SharedSlots& slots)
      : builder_(writer, options.addresses, options.region),
        options_(options),
        socket_(socket),
        slots_(slots) {}

  void run() {
    std::vector<u64> packet((sizeof(wire::Header) + wire::max_words * sizeof(u64)) / sizeof(u64));
    for (u64 packets = 0; !last_; ++packets) {
      const ssize_t bytes = ::recv(socket_, packet.data(), packet.size() * sizeof(u64), 0);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < static_cast<ssize_t>(sizeof(wire::Header))) break;
      take(std::span(packet).first(static_cast<std::size_t>(bytes) / sizeof(u64)));
      if (options_.progress && packets % progress_packets == 0) options_.progress(builder_.instructions());
    }
  }

  /// The recording should end now, with enough instructions or an error: the processes were killed.
  bool wants_end() const { return wants_end_; }
  const std::optional<Error>& error() const { return error_; }
  const TraceBuilder& builder() const { return builder_; }

 private:
  void take(std::span<const u64> packet) {
    wire::Header header;
    std::memcpy(&header, packet.data(), sizeof header);
    last_ = header.kind == wire::Kind::done;
    if (error_ || builder_.is_over()) return;  // drained, so that nobody waits
    slots_.received(header);
    if (header.kind == wire::Kind::exit) take_remainder(header.tid);
    if (last_)
      for (const u32 tid : slots_.owners()) take_remainder(tid);
    const auto words = packet.subspan(sizeof header / sizeof(u64));
    build(header, words.first(std::min<std::size_t>(header.words, words.size())));
    if (builder_.is_over()) slots_.end_recording();
    const bool enough =
        options_.max_instructions != 0 && builder_.instructions() >= options_.max_instructions;
    if (!error_ && !enough) return;
    wants_end_ = true;
    for (const u32 pid : builder_.pids()) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }

  void build(const wire::Header& header, std::span<const u64> words) {
    const auto taken = builder_.take(header, words);
    if (!taken.ok()) error_ = taken.error();
  }
  // A killed thread has executed more than it sent.
  void take_remainder(u32 tid) {
    if (const auto remainder = slots_.take(tid)) build(remainder->header, remainder->words);
  }

  TraceBuilder builder_;
  const FastRecordingOptions& options_;
  int socket_;
  SharedSlots& slots_;
  bool last_ = false;
  std::atomic<bool> wants_end_ = false;
  std::optional<Error> error_;
};

Emulation emulation_of(const Installation& installation, const FastRecordingOptions& options,
                       int descriptor) {
  return {installation.qemu,
          {"-plugin",
           fmt::format("file={},fd={},memory={},addresses={}", installation.plugin.string(), descriptor,
                       descriptor - 1, options.addresses == RecordedAddresses::all ? 1 : 0)}};
}

}  // namespace

Result<Installation, Error> find_installation() {
  const auto qemu = in_path("qemu-x86_64");
  if (!qemu) return Failure(Error("no qemu-x86_64 in PATH: install it (Debian's package is qemu-user)"));
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const fs::path& plugin : {folder / plugin_name, folder / "../lib/pmusim" / plugin_name})
    if (fs::exists(plugin, failed)) return Installation{*qemu, fs::weakly_canonical(plugin, failed)};
  return Failure(Error(fmt::format("no {} beside this program in {}", plugin_name, folder.string())));
}

Result<FastRecordingSummary, Error> record(const Installation& installation,
                                           const std::vector<std::string>& command,
                                           const FastRecordingOptions& options) {
  if (command.empty()) return Failure(Error("no program to record"));
  auto writer = trace::Writer::create(
      options.output, {.addresses = options.addresses == RecordedAddresses::all, .registers = false});
  if (!writer.ok()) return Failure(writer.error());
  const Channel channel;
  if (channel.here < 0) return Failure(Error(fmt::format("cannot make a socket: {}", std::strerror(errno))));

  const trace::ProgramLimits limits = trace::take_limits_off();  // the memory, too, has the size of a file
  SharedSlots slots;
  Receiver receiver(*writer, options, channel.here, slots);
  Tracer tracer(emulation_of(installation, options, highest_descriptor()),
                [&](Tracer::Exit exit) { tell(channel.there, wire::Kind::exit, exit); });
  const auto started =
      tracer.start(command, limits, {channel.there, slots.descriptor()}, highest_descriptor());
  if (!started.ok()) return Failure(started.error());
  FastRecordingSummary summary;
  std::thread receiving([&] { receiver.run(); });
  while (tracer.follow()) {
    if (options.stop == nullptr || !*options.stop) continue;
    summary.trace.stopped_early = true;
    tracer.kill_all();
    break;
  }
  tell(channel.there, wire::Kind::done, {});
  receiving.join();
  summary.trace.stopped_early |= receiver.wants_end();
  if (receiver.error()) return Failure(*receiver.error());
  if (const int error_number = tracer.start_error(); error_number != 0)
    return Failure(
        Error(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(error_number))));
  const bool had_time = !summary.trace.stopped_early;
  if (had_time && receiver.builder().processes() == 0)
    return Failure(Error(fmt::format("{}: is not a 64-bit x86 program", command.front())));

  if (const auto nothing = receiver.builder().why_nothing_recorded(); had_time && !nothing.empty())
    return Failure(Error(fmt::format("{}: nothing was recorded: {}", command.front(), nothing)));
  const auto written = writer->finish();
  if (!written.ok()) return Failure(written.error());
  const TraceBuilder& builder = receiver.builder();
  summary.trace.instructions = builder.instructions();
  summary.trace.file_bytes = written->file_bytes;
  summary.trace.processes = builder.processes();
  summary.trace.threads = builder.threads();
  summary.trace.gaps = builder.gaps();
  summary.trace.status = summary.trace.stopped_early ? SIGKILL : tracer.status_of_first();
  summary.unrecorded_programs = tracer.unrecorded_programs();
  summary.unknown_addresses = builder.unknown_addresses();
  return summary;
}

}  // namespace pmusim::qemu
