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
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
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
  const u64* cpu = nullptr;  // once a handler may have begun
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
u64 first_address = 0;  // of the program

// Handlers by signal; those that a call is about to set, too, since another thread may be in one before the
// call's end is reported.
constexpr std::size_t signal_count = 65;
std::array<std::atomic<u64>, signal_count> handlers, coming_handlers;
// A bit for each place_of() that a handler has or had. All of them until the first block is entered.
std::atomic<u64> handler_places = ~u64{0};

/// Handlers are few: blocks at places without one need no look at registers.
constexpr unsigned place_of(u64 address) {
  return static_cast<unsigned>(address * 0x9E37'79B9'7F4A'7C15 >> 58);
}

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
  place = new Buffer{take_slot(), nullptr, {}};
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
  first_address = address;
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

/// Whether all of this process's memory there could be read.
bool read_memory(u64 address, void* out, std::size_t bytes) {
  const iovec to{out, bytes}, from{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(static_cast<pid_t>(process), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes);
}

// qemu keeps the emulated CPU where RBP points in translated code. It begins with the general registers and
// RIP; version 1 of the plugin interface has no call that reads them.
enum Register : std::size_t { rdx = 2, rsp = 4, rdi = 7, rip = 16 };

/// What of the CPU's state a handler's beginning shows in.
struct Registers {
  u64 rdi = 0, rdx = 0, rsp = 0, rip = 0;
};

/// The state that the kernel saved on the stack for a handler: behind the return address the ucontext, in it
/// from its sixth word on R8 to R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP.
std::optional<Registers> saved_at(u64 frame) {
  enum Word : std::size_t { saved_rdi = 14, saved_rdx = 18, saved_rsp = 21, saved_rip, count };
  std::array<u64, Word::count> words;
  if (!read_memory(guest_base + frame, words.data(), sizeof words)) return std::nullopt;
  return Registers{words[saved_rdi], words[saved_rdx], words[saved_rsp], words[saved_rip]};
}

/// Whether a handler begins: its arguments are those that the kernel gives.
bool begins_handler(const Registers& registers) {
  if (registers.rdi == 0 || registers.rdi >= signal_count || registers.rip <= 1) return false;
  const bool is_handler =
      handlers[registers.rdi] == registers.rip || coming_handlers[registers.rdi] == registers.rip;
  return is_handler && registers.rdx == registers.rsp + sizeof(u64);
}

/// The handler of this signal that lies at such a place, if there is one.
u64 handler_at(u64 signal, unsigned place) {
  for (const auto& table : {&handlers, &coming_handlers})
    if (const u64 handler = signal < signal_count ? (*table)[signal].load() : 0;
        handler > 1 && place_of(handler) == place)
      return handler;
  return 0;
}

/// Sends the frames of the handler that may begin with this block, and of those that it interrupted before
/// their first instruction. Whether they were reported already is seen from where the thread was.
void tell_signals(Buffer& buffer, u64 number, unsigned place) {
  const u64* const cpu = buffer.cpu;
  Registers now{cpu[rdi], cpu[rdx], cpu[rsp], handler_at(cpu[rdi], place)};
  std::array<wire::SignalFrame, signal_count> frames;
  std::size_t first = frames.size();
  while (first != 0 && begins_handler(now)) {
    const auto saved = saved_at(now.rsp);
    if (!saved) break;
    frames[--first] = {now.rdi, now.rip, saved->rip, saved->rsp};
    now = *saved;
  }
  if (first == frames.size()) return;
  buffer.flush();
  Packet packet(wire::Kind::signals, buffer.slot->header.tid);
  packet.word(number);
  packet.bytes(&frames[first], (frames.size() - first) * sizeof frames[0]);
  packet.send();
}

/// The first block of the program shows whether the emulated CPU is where it is looked for.
void check_place_of_cpu(const Buffer& buffer) {
  handler_places = 0;
  u64 found = 0;
  if (read_memory(reinterpret_cast<u64>(buffer.cpu + rip), &found, sizeof found) && found == first_address)
    return;
  Packet(wire::Kind::unknown_cpu, buffer.slot->header.tid).send();
}

[[gnu::noinline]] void handler_may_begin(Buffer& buffer, u64 number, unsigned place, const u64* cpu) {
  static std::once_flag checked;
  buffer.cpu = cpu;
  std::call_once(checked, check_place_of_cpu, buffer);
  if (handler_places != 0) tell_signals(buffer, number, place);
}

/// What a block's callback is given: its number, and the place of its address.
constexpr unsigned place_shift = 32;
constexpr u64 callback_word(u64 number, u64 address) {
  return number | u64{place_of(address)} << place_shift;
}

void entered(unsigned vcpu, void* callback_word) {
  const auto word = reinterpret_cast<u64>(callback_word);
  const u64 number = word & 0xFFFF'FFFF;
  const auto place = static_cast<unsigned>(word >> place_shift);
  Buffer& buffer = buffer_of(vcpu);
  if ((handler_places.load(std::memory_order_relaxed) >> place & 1) != 0) {
    // The frame of this function begins with the caller's RBP.
    const auto* const caller_rbp = static_cast<const u64* const*>(__builtin_frame_address(0));
    handler_may_begin(buffer, number, place, *caller_rbp);
  }
  buffer.add(wire::run_bit | number);
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
  qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_R_REGS,
                                       reinterpret_cast<void*>(callback_word(number, address)));
}

/// rt_sigaction is called: the first word of its structure is the handler.
void handler_comes(const Call& call) {
  const u64 signal = call.arguments[0], action = call.arguments[1];
  u64 handler = 0;
  if (signal >= signal_count || action == 0) return;
  if (!read_memory(guest_base + action, &handler, sizeof handler)) return;
  coming_handlers[signal] = handler;
  if (handler > 1) handler_places |= u64{1} << place_of(handler);
}

/// rt_sigaction returns.
void handler_is_set(const Call& call, bool accepted) {
  const u64 signal = call.arguments[0], action = call.arguments[1];
  if (signal < signal_count && action != 0 && accepted) handlers[signal] = coming_handlers[signal].load();
}

/// Where rt_sigreturn goes on: its stack pointer is behind the frame's return address.
Registers return_of_signal(const Buffer& buffer) {
  if (buffer.cpu == nullptr) return {};
  return saved_at(buffer.cpu[rsp] - sizeof(u64)).value_or(Registers{});
}

void call_begins(qemu_plugin_id_t, unsigned vcpu, int64_t number, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4,
                 u64 a5, u64, u64) {
  Buffer& buffer = buffer_of(vcpu);
  buffer.flush();
  buffer.call = {static_cast<u64>(number), {a0, a1, a2, a3, a4, a5}};
  Packet packet(wire::Kind::call, buffer.slot->header.tid);
  packet.word(buffer.call.number);
  for (const u64 argument : buffer.call.arguments) packet.word(argument);
  if (number == SYS_rt_sigaction) handler_comes(buffer.call);
  const Registers to = number == SYS_rt_sigreturn ? return_of_signal(buffer) : Registers{};
  packet.word(to.rip);
  packet.word(to.rsp);
  packet.send();
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
  const u64* const cpu = buffer_of(vcpu).cpu;
  for (std::atomic<Buffer*>& buffer : buffers) buffer = nullptr;
  buffers[vcpu % buffers.size()] = new Buffer{take_slot(), cpu, {}};
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
  if (number == SYS_rt_sigaction) handler_is_set(call, result == 0);
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
