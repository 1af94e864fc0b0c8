// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_ROOT_H
#define PMUSIM_MACHINE_HOST_ROOT_H

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pmusim::machine {

/// The guest's root: an archive that its kernel unpacks into memory. Files stand where they do on the host,
/// so that a profile names them as the host has them. Times are 0, by which the guest knows what has been
/// written since.
class Root {
 public:
  /// With folders, busybox and its commands, and `init`. Refusal: no busybox.
  explicit Root(const std::filesystem::path& init);

  /// A file, or a folder with all that is in it. Programs come with their libraries, scripts with their
  /// interpreter. Refusal: it cannot be read.
  void add(const std::filesystem::path& path);
  /// A file of ours.
  void add_text(const std::string& path, std::string text);
  void add_folder(const std::string& path);

  /// The archive (cpio, "newc").
  std::string archive() const;

 private:
  void add_link(const std::string& path, const std::string& target);
  void add_contents(const std::string& path, const std::filesystem::path& source);
  void add_libraries(const std::filesystem::path& program);

  struct Entry {
    unsigned mode = 0;
    std::string contents;
  };
  std::map<std::string, Entry> entries_;  // folders before what is in them
  std::set<std::filesystem::path> libraries_of_;
};

/// Where a program of this name is: itself if it has a slash, else the first along PATH; empty if there is
/// none.
std::filesystem::path find_program(const std::string& name);

}  // namespace pmusim::machine

#endif
