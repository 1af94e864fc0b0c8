// SPDX-License-Identifier: MIT
// Build ids in ELF images that are made here.
#include "trace/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace pmusim::trace {
namespace {

struct Note {
  Elf64_Nhdr header{4, 4, NT_GNU_BUILD_ID};
  std::array<char, 4> owner{'G', 'N', 'U', '\0'};
  std::array<u8, 4> id{};
};

/// Two segments with a note in each.
struct Image {
  Elf64_Ehdr header{};
  std::array<Elf64_Phdr, 2> segments{};
  std::array<Note, 2> notes{};
};

std::vector<u8> build_id(std::array<u32, 2> segment_types) {
  Image image;
  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_ident[EI_VERSION] = EV_CURRENT;
  image.header.e_type = ET_DYN;
  image.header.e_machine = EM_X86_64;
  image.header.e_version = EV_CURRENT;
  image.header.e_ehsize = sizeof(Elf64_Ehdr);
  image.header.e_phoff = offsetof(Image, segments);
  image.header.e_phentsize = sizeof(Elf64_Phdr);
  image.header.e_phnum = 2;
  image.notes[0].id = {1, 2, 3, 4};
  image.notes[1].id = {5, 6, 7, 8};
  for (std::size_t n = 0; n < 2; ++n) {
    image.segments[n].p_type = segment_types[n];
    image.segments[n].p_offset = offsetof(Image, notes) + n * sizeof(Note);
    image.segments[n].p_filesz = image.segments[n].p_memsz = sizeof(Note);
    image.segments[n].p_align = 4;
  }
  return build_id_of_image(std::as_bytes(std::span(&image, 1)));
}

TEST(BuildId, IsThatOfTheFirstSegmentOfNotes) {
  EXPECT_EQ(build_id({PT_NOTE, PT_NOTE}), (std::vector<u8>{1, 2, 3, 4}));
  EXPECT_EQ(build_id({PT_LOAD, PT_NOTE}), (std::vector<u8>{5, 6, 7, 8})) << "data may look like a note";
  EXPECT_EQ(build_id({PT_LOAD, PT_LOAD}), std::vector<u8>{});
}

}  // namespace
}  // namespace pmusim::trace
