// SPDX-License-Identifier: MIT
#include "host/root.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "host/errors.h"

namespace pmusim::machine {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw Refusal(path.string() + ": cannot be read; expected a file for the guest");
  return text.str();
}

/// What a program prints, whatever its exit status; nothing passes through a shell.
std::string output_of(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Refusal("no pipe to " + words.front());
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(127);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t length = 0; (length = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(length));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

constexpr std::array merged{"/bin", "/sbin", "/lib", "/lib64", "/lib32"};  // links to folders of /usr

/// Where a path leads if it begins with such a link.
std::string placed(const std::string& path) {
  for (const std::string folder : merged)
    if (path.starts_with(folder + "/") && fs::is_symlink(folder)) return "/usr" + path;
  return path;
}

void append_padded(std::string& archive, const std::string& bytes) {
  archive += bytes;
  archive.append((4 - archive.size() % 4) % 4, '\0');
}

void append_entry(std::string& archive, unsigned number, const std::string& name, unsigned mode,
                  const std::string& contents) {
  std::array<char, 111> header{};
  std::snprintf(header.data(), header.size(), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
                number, mode, 0u, 0u, 1u, 0u, static_cast<unsigned>(contents.size()), 0u, 0u, 0u, 0u,
                static_cast<unsigned>(name.size() + 1), 0u);
  archive += header.data();
  append_padded(archive, name + '\0');
  append_padded(archive, contents);
}

}  // namespace

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? fs::path(name) : fs::path();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (std::error_code no_name; fs::is_regular_file(program, no_name) && access(program.c_str(), X_OK) == 0)
      return program;
  }
  return {};
}

Root::Root(const fs::path& init) {
  for (const char* folder : {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/etc", "/proc",
                             "/sys", "/dev", "/tmp", "/run", "/root"})
    add_folder(folder);
  for (const std::string folder : merged)
    if (fs::is_symlink(folder)) add_link(folder, "usr" + folder);
  const fs::path busybox = find_program("busybox");
  if (busybox.empty())
    throw Refusal(
        "no busybox on PATH, of which the guest's root is made; Debian's package busybox-static has it");
  add_contents("/usr/bin/busybox", busybox);
  add_libraries(busybox);
  std::istringstream commands(output_of({busybox.string(), "--list"}));
  for (std::string command; std::getline(commands, command);)
    if (command != "busybox") add_link("/usr/bin/" + command, "busybox");
  add_contents("/init", init);
  add_text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
  add_text("/etc/group", "root:x:0:\n");
  if (fs::exists("/etc/ld.so.cache")) add_contents("/etc/ld.so.cache", "/etc/ld.so.cache");
}

void Root::add_folder(const std::string& name) {
  const std::string path = placed(name);
  for (std::size_t end = 1; end != std::string::npos;) {
    end = path.find('/', end);
    entries_.try_emplace(path.substr(0, end), Entry{S_IFDIR | 0755, ""});
    if (end != std::string::npos) ++end;
  }
}

void Root::add_link(const std::string& path, const std::string& target) {
  entries_[path] = {S_IFLNK | 0777, target};
}

void Root::add_text(const std::string& path, std::string text) {
  entries_[path] = {S_IFREG | 0644, std::move(text)};
}

void Root::add_contents(const std::string& name, const fs::path& source) {
  const std::string path = placed(name);
  const fs::path folder = fs::path(path).parent_path();
  if (folder != "/") add_folder(folder);
  const bool executable = access(source.c_str(), X_OK) == 0;
  entries_[path] = {S_IFREG | (executable ? 0755u : 0644u), contents_of(source)};
}

void Root::add_libraries(const fs::path& program) {
  if (!libraries_of_.insert(program).second) return;
  std::ifstream file(program, std::ios::binary);
  std::string magic(4, '\0');
  file.read(magic.data(), 4);
  if (magic.starts_with("#!")) {
    std::string line = magic.substr(2), rest;
    std::getline(file, rest);
    std::istringstream words(line + rest);
    std::string word;
    while (words >> word)  // of "#!/usr/bin/env NAME" the name, too
      if (const fs::path interpreter = find_program(word); !interpreter.empty()) add(interpreter);
    return;
  }
  if (magic !=
      "\x7F"
      "ELF")
    return;
  // "NAME => PATH (ADDRESS)", "PATH (ADDRESS)".
  std::istringstream lines(output_of({"ldd", program.string()}));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find("=> "),
                      from = arrow != std::string::npos ? arrow + 3 : line.find('/'), to = line.find(" (0x");
    if (from == std::string::npos || to == std::string::npos || to <= from || line[from] != '/') continue;
    const std::string library = line.substr(from, to - from);
    if (!entries_.contains(placed(library))) add_contents(library, library);
  }
}

void Root::add(const fs::path& path) {
  const fs::path absolute = fs::absolute(path).lexically_normal();
  std::error_code no_name;
  if (fs::is_directory(absolute, no_name)) {
    add_folder(absolute);
    for (const fs::directory_entry& entry : fs::directory_iterator(absolute)) add(entry.path());
    return;
  }
  if (!fs::is_regular_file(absolute, no_name)) throw Refusal(path.string() + ": no such file or folder");
  add_contents(absolute, absolute);
  if (access(absolute.c_str(), X_OK) == 0) add_libraries(absolute);
}

std::string Root::archive() const {
  std::string archive;
  unsigned number = 1;
  // What stands in a folder that is a link goes where that leads.
  for (const auto& [path, entry] : entries_)
    if (S_ISDIR(entry.mode) || S_ISLNK(entry.mode))
      append_entry(archive, number++, path.substr(1), entry.mode, entry.contents);
  for (const auto& [path, entry] : entries_)
    if (S_ISREG(entry.mode)) append_entry(archive, number++, path.substr(1), entry.mode, entry.contents);
  append_entry(archive, number, "TRAILER!!!", 0, "");
  return archive;
}

}  // namespace pmusim::machine
