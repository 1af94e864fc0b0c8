// SPDX-License-Identifier: MIT
#include "live/shared_pages.h"

#include <fcntl.h>
#include <sys/mman.h>

namespace pmusim::live {

std::optional<SharedPages> make_shared_pages(std::size_t bytes) {
  FileDescriptor file(::memfd_create("perf_event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) return std::nullopt;
  if (::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return std::nullopt;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(mapped),
                                    [bytes](std::byte* pages) { ::munmap(pages, bytes); });
  return SharedPages{std::move(file), std::move(memory)};
}

}  // namespace pmusim::live
