// SPDX-License-Identifier: MIT
// The recorder's plugin: qemu loads it beside a program and calls it for each block that the program enters,
// each access, each system call. It buffers per virtual CPU and sends full buffers to the recorder.
//
// Arguments: fd=N, the recorder's socket; memory=N, what wire::Shared lies in; addresses=1 to report accesses
// (those of REP instructions always are: they tell its iterations).
#include <fcntl.h>
#include <linux/limits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "qemu/plugin/qemu_api.h"
#include "qemu/wire.h"

extern "C" {
// What qemu looks for: the interface version, and where to begin.
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info,
                                                               int argc, char** argv);
}

namespace {

using namespace pmusim;
using namespace pmusim::qemu;

struct Call {
  u64 number = 0;
  std::array<u64, 6> arguments{};
};

/// What one virtual CPU has executed and not sent yet.
struct Buffer {
  wire::Slot* slot = nullptr;
  Call call;

  void add(u64 word);
  void flush();
};

int recorder = -1;
bool with_addresses = false;
u32 process = 0;
u64 guest_base = 0;  // host address of guest address 0
std::atomic<u64> next_block = 0;
std::array<std::atomic<Buffer*>, 65536> buffers;
wire::Shared* shared = nullptr;
qemu_plugin_id_t plugin = 0;

void send_all(const void* packet, std::size_t bytes) {
  while (::send(recorder, packet, bytes, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// Whoever looks at a killed thread's slot sees the stores up to some point, in the order in which they stand.
void in_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }

bool recording_is_over() { return shared != nullptr && shared->over != 0; }

/// The program goes on as it does without a plugin: its code is translated anew.
void leave() {
  qemu_plugin_reset(plugin, [](qemu_plugin_id_t) {});
}

/// Called from translated code only, where qemu can be left.
void Buffer::add(u64 word) {
  u32& count = slot->header.words;
  if (count == slot->words.size()) {
    flush();
    if (recording_is_over()) leave();
  }
  slot->words[count] = word;
  in_order();
  ++count;
}

void Buffer::flush() {
  wire::Header& header = slot->header;
  if (header.words == 0) return;
  send_all(&header, sizeof header + header.words * sizeof(u64));
  in_order();
  header.words = 0;
  in_order();
  slot->sent.store(slot->sent.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

wire::Slot* free_slot() {
  for (std::size_t n = 0; shared != nullptr && n < shared->slots.size(); ++n) {
    u32 free = 0;
    if (shared->slots[n].taken.compare_exchange_strong(free, 1)) return &shared->slots[n];
  }
  return new wire::Slot;
}

/// For the calling thread.
wire::Slot* take_slot() {
  wire::Slot* const slot = free_slot();
  slot->header = {wire::Kind::runs, process, static_cast<u32>(::gettid()), 0};
  slot->sent = 0;
  return slot;
}

void give_back_shared(wire::Slot& slot) {
  slot.header.tid = 0;
  slot.taken = 0;
}

void give_back(wire::Slot* slot) {
  const bool is_shared = shared != nullptr && slot >= shared->slots.begin() && slot < shared->slots.end();
  if (!is_shared) return delete slot;
  give_back_shared(*slot);
}

/// Before it executed this program the process had slots, too.
void give_back_slots_of_former_program() {
  for (wire::Slot& slot : shared->slots)
    if (slot.taken != 0 && slot.header.pid == process) give_back_shared(slot);
}

Buffer& buffer_of(unsigned vcpu) {
  std::atomic<Buffer*>& place = buffers[vcpu % buffers.size()];
  if (Buffer* known = place.load(std::memory_order_relaxed)) return *known;
  place = new Buffer{take_slot(), {}};
  return *place;
}

/// A packet of another kind than runs, made where it is needed.
class Packet {
 public:
  Packet(wire::Kind kind, u32 tid) : header_{kind, process, tid, 0} {}
  void word(u64 value) { words_[header_.words++] = value; }
  void bytes(const void* data, std::size_t size) {
    if (size == 0) return;
    words_[header_.words + (size - 1) / sizeof(u64)] = 0;
    std::memcpy(&words_[header_.words], data, size);
    header_.words += static_cast<u32>((size + sizeof(u64) - 1) / sizeof(u64));
  }
  void text(std::string_view value) {
    word(value.size());
    bytes(value.data(), value.size());
  }
  void send() { send_all(this, sizeof header_ + header_.words * sizeof(u64)); }

 private:
  wire::Header header_;
  std::array<u64, 2048> words_;
};

/// Keeps the lines of /proc/self/maps that are files below qemu's own.
std::size_t guest_files(char* maps, std::size_t bytes) {
  std::string_view rest(maps, bytes);
  std::size_t kept = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (std::strtoull(line.data(), nullptr, 16) >= wire::guest_end || line.find('/') == line.npos) continue;
    std::memmove(maps + kept, line.data(), line.size());
    kept += line.size();
  }
  return kept;
}

/// The process before its first instruction: what qemu has mapped for it is the program and its interpreter.
void announce(const qemu_plugin_insn* first, u64 address) {
  guest_base = reinterpret_cast<u64>(qemu_plugin_insn_haddr(first)) - address;
  std::array<char, 12288> maps{};
  std::size_t bytes = 0;
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t got = 1; got > 0 && bytes < maps.size() - 1; bytes += static_cast<std::size_t>(got))
    if ((got = ::read(file, &maps[bytes], maps.size() - 1 - bytes)) < 0) got = 0;
  ::close(file);
  const char* path = qemu_plugin_path_to_binary();
  Packet start(wire::Kind::start, static_cast<u32>(::gettid()));
  start.text(path != nullptr ? std::string_view(path).substr(0, PATH_MAX - 1) : "");
  start.text({maps.data(), guest_files(maps.data(), bytes)});
  start.send();
}

void entered(unsigned vcpu, void* number) {
  buffer_of(vcpu).add(wire::run_bit | reinterpret_cast<u64>(number));
}

void accessed(unsigned vcpu, qemu_plugin_meminfo_t info, u64 address, void* instruction) {
  buffer_of(vcpu).add(wire::Access::encode(address, static_cast<unsigned>(reinterpret_cast<u64>(instruction)),
                                           qemu_plugin_mem_size_shift(info),
                                           qemu_plugin_mem_is_store(info) ? 1 : 0));
}

/// String instructions: A4 A5 A6 A7 AA..AF behind F2 or F3 and other prefixes.
bool repeats(std::string_view code) {
  bool rep = false;
  for (const char c : code) {
    const auto byte = static_cast<u8>(c);
    if (byte == 0xF2 || byte == 0xF3) {
      rep = true;
    } else if (byte >= 0xA4 && byte <= 0xAF && byte != 0xA8 && byte != 0xA9) {
      return rep;
    } else if (byte != 0x66 && byte != 0x67 && (byte & 0xF0) != 0x40 && (byte & 0xE7) != 0x26 &&
               (byte & 0xFE) != 0x64) {
      return false;
    }
  }
  return false;
}

void translated(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  const std::size_t count = qemu_plugin_tb_n_insns(tb);
  const u64 address = qemu_plugin_tb_vaddr(tb);
  if (count == 0 || count > wire::max_block_instructions) return;
  static std::once_flag announced;
  std::call_once(announced, announce, qemu_plugin_tb_get_insn(tb, 0), address);

  std::array<char, wire::max_block_instructions> lengths;
  std::array<char, wire::max_block_instructions * 15> code;
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < count; ++n) {
    qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, n);
    const std::size_t length = qemu_plugin_insn_size(insn);
    std::memcpy(&code[bytes], qemu_plugin_insn_data(insn), length);
    if (with_addresses || repeats({&code[bytes], length})) {
      qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       reinterpret_cast<void*>(n));
    }
    lengths[n] = static_cast<char>(length);
    bytes += length;
  }
  const u64 number = next_block++;
  Packet block(wire::Kind::block, static_cast<u32>(::gettid()));
  for (const u64 word : {address, number, u64{count}, u64{bytes}}) block.word(word);
  block.bytes(lengths.data(), count);
  block.bytes(code.data(), bytes);
  block.send();
  qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS, reinterpret_cast<void*>(number));
}

void call_begins(qemu_plugin_id_t, unsigned vcpu, int64_t number, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4,
                 u64 a5, u64, u64) {
  Buffer& buffer = buffer_of(vcpu);
  buffer.flush();
  buffer.call = {static_cast<u64>(number), {a0, a1, a2, a3, a4, a5}};
  Packet packet(wire::Kind::call, buffer.slot->header.tid);
  packet.word(buffer.call.number);
  for (const u64 argument : buffer.call.arguments) packet.word(argument);
  packet.send();
}

/// The handler that rt_sigaction has set: the first word of the structure.
u64 handler_of(const Call& call) {
  u64 handler = 0;
  if (call.arguments[1] != 0)
    std::memcpy(&handler, reinterpret_cast<const void*>(guest_base + call.arguments[1]), sizeof handler);
  return handler;
}

std::string_view path_of_descriptor(u64 descriptor, std::array<char, PATH_MAX>& space) {
  std::array<char, 64> link{"/proc/self/fd/"};
  std::size_t digits = std::strlen(link.data());
  for (u64 scale = 1'000'000'000; scale != 0; scale /= 10)
    if (descriptor >= scale || scale == 1) link[digits++] = static_cast<char>('0' + descriptor / scale % 10);
  const ssize_t size = ::readlink(link.data(), space.data(), space.size());
  return {space.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// In a forked process: the buffers are the parent's.
void forget_parent(unsigned vcpu) {
  process = static_cast<u32>(::getpid());
  for (std::atomic<Buffer*>& buffer : buffers) buffer = nullptr;
  buffers[vcpu % buffers.size()] = new Buffer{take_slot(), {}};
}

void call_ends(qemu_plugin_id_t, unsigned vcpu, int64_t number, int64_t result) {
  const bool forked =
      (number == SYS_fork || number == SYS_vfork || number == SYS_clone || number == SYS_clone3) &&
      result == 0;
  const Call call = buffer_of(vcpu).call;
  const u32 parent = process;  // not getppid(): the parent may have ended by now
  if (forked) forget_parent(vcpu);
  Packet packet(wire::Kind::result, buffer_of(vcpu).slot->header.tid);
  packet.word(static_cast<u64>(number));
  for (const u64 argument : call.arguments) packet.word(argument);
  packet.word(static_cast<u64>(result));
  packet.word(forked ? parent : 0);
  packet.word(number == SYS_rt_sigaction && result == 0 ? handler_of(call) : 0);
  std::array<char, PATH_MAX> space;
  const bool maps_file = number == SYS_mmap && result > 0 && (call.arguments[3] & MAP_ANONYMOUS) == 0;
  packet.text(maps_file ? path_of_descriptor(call.arguments[4], space) : std::string_view());
  packet.send();
}

void thread_ends(qemu_plugin_id_t, unsigned vcpu) {
  Buffer* const buffer = buffers[vcpu % buffers.size()].exchange(nullptr);
  if (buffer == nullptr) return;
  buffer->flush();
  give_back(buffer->slot);
  delete buffer;
}

void process_ends(qemu_plugin_id_t, void*) {
  for (std::atomic<Buffer*>& buffer : buffers)
    if (Buffer* const known = buffer) known->flush();
}

void share(int memory) {
  void* const mapped = ::mmap(nullptr, sizeof(wire::Shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) return;
  shared = static_cast<wire::Shared*>(mapped);
  give_back_slots_of_former_program();
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
  int memory = -1;
  for (int n = 0; n < argc; ++n) {
    const std::string_view argument(argv[n]);
    if (argument.starts_with("fd=")) recorder = std::atoi(argv[n] + 3);
    if (argument.starts_with("memory=")) memory = std::atoi(argv[n] + 7);
    if (argument == "addresses=1") with_addresses = true;
  }
  if (recorder < 0) return 1;
  process = static_cast<u32>(::getpid());
  plugin = id;
  share(memory);
  if (recording_is_over()) return 0;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, call_begins);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, call_ends);
  qemu_plugin_register_vcpu_exit_cb(id, thread_ends);
  qemu_plugin_register_atexit_cb(id, process_ends, nullptr);
  return 0;
}
