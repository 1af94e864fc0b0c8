// SPDX-License-Identifier: MIT
#include "qemu/exec_rewrite.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/limits.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "base/input_file.h"

namespace pmusim::qemu {
namespace {

// A guest thread's stack in qemu has 256 KiB; this much of it below the stack pointer is taken.
constexpr std::size_t room_bytes = 96 * 1024;
constexpr u64 red_zone_bytes = 128;
constexpr int max_interpreters = 4;  // as the kernel's limit on scripts that name scripts

bool read_remote(u32 tid, u64 address, void* to, std::size_t bytes) {
  iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_remote(u32 tid, u64 address, std::span<const std::byte> bytes) {
  iovec local{const_cast<std::byte*>(bytes.data()), bytes.size()};
  iovec remote{reinterpret_cast<void*>(address), bytes.size()};
  return ::process_vm_writev(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes.size());
}

std::string string_at(u32 tid, u64 address) {
  std::string text;
  std::array<char, 64> piece;
  while (text.size() < PATH_MAX) {
    const std::size_t bytes = piece.size() - address % piece.size();  // never over a page's end
    if (!read_remote(tid, address, piece.data(), bytes)) return text;
    const std::size_t length = ::strnlen(piece.data(), bytes);
    text.append(piece.data(), length);
    if (length < bytes) return text;
    address += bytes;
  }
  return text;
}

// Up to as many pointers as fit into the room; nothing if there are more.
std::optional<std::vector<u64>> pointers_at(u32 tid, u64 address) {
  std::vector<u64> pointers;
  for (u64 value = 0; pointers.size() < room_bytes / 2 / sizeof(u64); pointers.push_back(value)) {
    if (!read_remote(tid, address + pointers.size() * sizeof(u64), &value, sizeof value)) return std::nullopt;
    if (value == 0) return pointers;
  }
  return std::nullopt;
}

/// The path as this process can open it: the other one may have another working directory.
std::string seen_from_here(u32 tid, i64 directory, const std::string& path) {
  if (path.starts_with('/')) return path;
  if (directory == AT_FDCWD) return fmt::format("/proc/{}/cwd/{}", tid, path);
  return path.empty() ? fmt::format("/proc/{}/fd/{}", tid, directory)
                      : fmt::format("/proc/{}/fd/{}/{}", tid, directory, path);
}

/// What the kernel puts in front of a script's path: interpreter and argument.
std::vector<std::string> interpreter_of(std::string_view first_line) {
  first_line = first_line.substr(0, first_line.find('\n'));
  const auto trim = [](std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
    return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
  };
  first_line = trim(first_line.substr(2));
  const std::size_t space = first_line.find_first_of(" \t");
  std::vector<std::string> words{std::string(first_line.substr(0, space))};
  if (space != first_line.npos) words.emplace_back(trim(first_line.substr(space)));
  return words;
}

/// What a path that is to be executed turns out to be.
struct Program {
  enum class Kind : u8 { missing, foreign, x86_64 } kind = Kind::missing;
  std::vector<std::string> in_front;  ///< of the path: interpreters and their arguments, outermost first
};

Program look_at(u32 tid, i64 directory, std::string path) {
  Program program;
  for (int depth = 0; depth < max_interpreters; ++depth) {
    const std::string here = seen_from_here(tid, directory, path);
    if (::access(here.c_str(), X_OK) != 0) return {};
    const auto file = InputFile::open(here);
    if (!file.ok()) return {};
    std::array<char, 256> head{};
    if (!file->read_start(std::as_writable_bytes(std::span(head).first(head.size() - 1))).ok()) return {};
    if (!std::string_view(head.data(), head.size()).starts_with("#!")) {
      const bool elf = std::memcmp(head.data(), ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64;
      u16 machine = 0;
      std::memcpy(&machine, &head[offsetof(Elf64_Ehdr, e_machine)], sizeof machine);
      program.kind = elf && machine == EM_X86_64 ? Program::Kind::x86_64 : Program::Kind::foreign;
      return program;
    }
    std::vector<std::string> words = interpreter_of(head.data());
    path = words.front();
    directory = AT_FDCWD;
    program.in_front.insert(program.in_front.begin(), words.begin(), words.end());
  }
  return {};
}

/// Strings and pointers on their way into the stack of the other process.
class Image {
 public:
  explicit Image(u64 base) : base_(base) {}
  u64 text(const std::string& value) {
    const u64 at = base_ + bytes_.size();
    const auto* const data = reinterpret_cast<const std::byte*>(value.c_str());
    bytes_.insert(bytes_.end(), data, data + value.size() + 1);
    return at;
  }
  u64 pointers(std::span<const u64> values) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const u64 at = base_ + bytes_.size();
    const auto data = std::as_bytes(values);
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return at;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  u64 base_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Rewritten rewrite_exec(u32 tid, const Emulation& emulation) {
  user_regs_struct r{};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &r) != 0) return Rewritten::as_it_is;
  const bool at = r.orig_rax == SYS_execveat;
  const i64 directory = at ? static_cast<i32>(r.rdi) : AT_FDCWD;
  const std::string path = string_at(tid, at ? r.rsi : r.rdi);
  const auto given = pointers_at(tid, at ? r.rdx : r.rsi);
  const u64 environment = at ? r.r10 : r.rdx;
  if (path.empty() || !given) return Rewritten::as_it_is;
  const Program program = look_at(tid, directory, path);
  if (program.kind == Program::Kind::missing) return Rewritten::will_fail;
  if (program.kind == Program::Kind::foreign) return Rewritten::as_it_is;

  Image image((r.rsp - red_zone_bytes - room_bytes) / 16 * 16);
  std::vector<u64> arguments{image.text(emulation.qemu)};
  for (const std::string& option : emulation.options) arguments.push_back(image.text(option));
  if (program.in_front.empty()) {  // a script's interpreter is argv[0] itself
    arguments.push_back(image.text("-0"));
    arguments.push_back(given->empty() ? image.text("") : given->front());
  }
  for (const std::string& word : program.in_front) arguments.push_back(image.text(word));
  arguments.push_back(image.text(directory == AT_FDCWD ? path : seen_from_here(tid, directory, path)));
  if (!given->empty()) arguments.insert(arguments.end(), given->begin() + 1, given->end());
  arguments.push_back(0);
  r.rsi = image.pointers(arguments);
  r.rdi = arguments.front();
  r.rdx = environment;
  r.orig_rax = r.rax = SYS_execve;
  if (image.bytes().size() > room_bytes) return Rewritten::as_it_is;
  if (!write_remote(tid, (r.rsp - red_zone_bytes - room_bytes) / 16 * 16, image.bytes()))
    return Rewritten::as_it_is;
  return ::ptrace(PTRACE_SETREGS, tid, nullptr, &r) == 0 ? Rewritten::under_qemu : Rewritten::as_it_is;
}

}  // namespace pmusim::qemu
