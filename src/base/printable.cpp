// SPDX-License-Identifier: MIT
#include "base/printable.h"

#include <fmt/format.h>

#include "pmusim/base/types.h"

namespace pmusim {
namespace {

u8 byte_at(std::string_view text, std::size_t n) {
  return n < text.size() ? static_cast<u8>(text[n]) : u8{0};
}

// Bytes of the UTF-8 character that `text` begins with; 0 where it is none (Unicode 15, table 3-7).
std::size_t character_bytes(std::string_view text) {
  const u8 first = byte_at(text, 0), second = byte_at(text, 1);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const u8 lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const u8 highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (first < 0xC2 || first > 0xF4 || second < lowest || second > highest) return 0;
  for (std::size_t n = 2; n < bytes; ++n) {
    if ((byte_at(text, n) & 0xC0) != 0x80) return 0;
  }
  return bytes;
}

// C0, DEL, and C1, whose 0x9B begins a command of the terminal as ESC [ does.
bool is_control(std::string_view character) {
  const u8 first = byte_at(character, 0);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

std::string escaped(std::string_view text, std::string_view backslash) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    if (character == "\\") {
      result += backslash;
    } else if (bytes != 0 && !is_control(character)) {
      result += character;
    } else {
      for (char c : character) result += fmt::format("\\x{:02x}", static_cast<u8>(c));
    }
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view name) { return escaped(name, "\\\\"); }
std::string printable_sentence(std::string_view sentence) { return escaped(sentence, "\\"); }

}  // namespace pmusim
