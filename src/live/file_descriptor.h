// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_FILE_DESCRIPTOR_H
#define PMUSIM_SRC_LIVE_FILE_DESCRIPTOR_H

#include <unistd.h>

#include <utility>

namespace pmusim::live {

/// An open file of this process, closed with the object.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace pmusim::live

#endif
