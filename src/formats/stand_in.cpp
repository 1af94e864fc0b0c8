// SPDX-License-Identifier: MIT
#include "formats/stand_in.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <span>

namespace pmusim::formats {
namespace {

using Bytes = boost::container::static_vector<u8, max_instruction_bytes>;

/// A CS prefix means nothing in 64-bit mode.
constexpr u8 padding = 0x2E;

/// Encodings by the bytes that they access, widest first.
struct Sized {
  u16 bytes;
  std::initializer_list<u8> code;
};

const std::array<Sized, 7> loads{{{32, {0xC5, 0xFC, 0x28, 0x01}},  // vmovaps ymm0, [rcx]
                                  {16, {0x0F, 0x28, 0x01}},
                                  {8, {0x48, 0x8B, 0x01}},
                                  {8, {0x58}},  // pop rax
                                  {4, {0x8B, 0x01}},
                                  {2, {0x66, 0x8B, 0x01}},
                                  {1, {0x8A, 0x01}}}};
const std::array<Sized, 7> stores{{{32, {0xC5, 0xFC, 0x29, 0x01}},  // vmovaps [rcx], ymm0
                                   {16, {0x0F, 0x29, 0x01}},
                                   {8, {0x48, 0x89, 0x01}},
                                   {8, {0x50}},  // push rax
                                   {4, {0x89, 0x01}},
                                   {2, {0x66, 0x89, 0x01}},
                                   {1, {0x88, 0x01}}}};
const std::array<Sized, 4> modifications{{{8, {0x48, 0x01, 0x01}},  // add [rcx], rax
                                          {4, {0x01, 0x01}},
                                          {2, {0x66, 0x01, 0x01}},
                                          {1, {0x00, 0x01}}}};

/// As wide as asked for, else narrower, else what is short enough.
Bytes sized(std::span<const Sized> encodings, const Shape& shape, std::size_t room) {
  for (const bool any_width : {false, true})
    for (const Sized& one : encodings)
      if ((any_width || one.bytes <= shape.access_bytes) && one.code.size() <= room) return {one.code};
  return {};
}

Bytes string_instruction(const Shape& shape, u8 opcode) {
  Bytes code;
  const bool whole_words = shape.access_bytes >= 4;
  const std::size_t most = shape.length != 0 ? shape.length : shape.room;
  if (shape.repeats && most > 1) code.push_back(0xF3);
  if (shape.access_bytes == 8 && most > code.size() + 1) code.push_back(0x48);
  code.push_back(whole_words ? opcode + 1 : opcode);
  return code;
}

Bytes data_instruction(const Shape& shape, std::size_t room) {
  const unsigned load = shape.loads, store = shape.stores;
  if (shape.repeats && load + store + shape.modifications != 0)
    return string_instruction(shape, load > 1 ? 0xA6 : load == 0 ? 0xAA : store == 0 ? 0xAC : 0xA4);
  if (load > 1) return string_instruction(shape, 0xA6);                 // cmps
  if (load != 0 && store != 0) return string_instruction(shape, 0xA4);  // movs
  if (shape.modifications != 0)
    if (Bytes code = sized(modifications, shape, room); !code.empty()) return code;
  if (load + shape.modifications != 0)
    if (Bytes code = sized(loads, shape, room); !code.empty()) return code;
  if (store != 0)
    if (Bytes code = sized(stores, shape, room); !code.empty()) return code;
  return room == 1 ? Bytes{0x90} : Bytes{0x8B, 0xC1};  // nop; mov eax, ecx
}

/// A relative branch: the short form where there is one, and it is long enough to reach. The displacement
/// counts from the instruction's end, which padding moves.
Bytes relative(u64 ip, const Shape& shape, std::size_t room, u8 short_opcode,
               std::initializer_list<u8> near_opcode) {
  const std::size_t near_length = near_opcode.size() + 4;
  const auto displacement = [&](std::size_t natural) {
    const std::size_t length = shape.length != 0 ? std::max<std::size_t>(shape.length, natural) : natural;
    return shape.target == 0 ? i64{0} : static_cast<i64>(shape.target - ip - length);
  };
  const i64 near = displacement(2), far = displacement(near_length);
  const bool is_short =
      short_opcode != 0 && (room < near_length || (near >= std::numeric_limits<signed char>::min() &&
                                                   near <= std::numeric_limits<signed char>::max()));
  Bytes code;
  if (is_short) {
    code = {short_opcode, static_cast<u8>(near)};
  } else {
    code.assign(near_opcode);
    for (unsigned n = 0; n < 4; ++n) code.push_back(static_cast<u8>(static_cast<u64>(far) >> (8 * n)));
  }
  return code;
}

Bytes instruction(u64 ip, const Shape& shape, std::size_t room) {
  const bool from_memory = shape.loads + shape.modifications != 0;
  switch (shape.kind) {
    case BranchKind::conditional:
      return relative(ip, shape, room, 0x74, {0x0F, 0x84});
    case BranchKind::direct_jump:
      return relative(ip, shape, room, 0xEB, {0xE9});
    case BranchKind::direct_call:
      if (room < 5) return {0xFF, 0xD0};  // no relative call is so short
      return relative(ip, shape, room, 0, {0xE8});
    case BranchKind::indirect_call:
      return {0xFF, from_memory ? u8{0x10} : u8{0xD0}};
    case BranchKind::near_return:
      return {0xC3};
    case BranchKind::none:
      return data_instruction(shape, room);
    default:
      return {0xFF, from_memory ? u8{0x20} : u8{0xE0}};
  }
}

}  // namespace

Code stand_in(u64 ip, const Shape& shape) {
  const std::size_t room = shape.length != 0 ? shape.length : shape.room;
  const Bytes bytes = instruction(ip, shape, std::max<std::size_t>(room, 1));
  Code code;
  while (code.size() + bytes.size() < shape.length) code.push_back(std::byte{padding});
  for (const u8 byte : bytes) code.push_back(std::byte{byte});
  return code;
}

}  // namespace pmusim::formats
