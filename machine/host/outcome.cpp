// SPDX-License-Identifier: MIT
#include "host/outcome.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "guest/channel.h"
#include "host/errors.h"

namespace pmusim::machine {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_frames() {
  throw Refusal(
      "the guest hands out what is no frame: its memory was overwritten, or its /init is another "
      "program's");
}

std::uint32_t word(std::string_view bytes) {
  std::uint32_t value = 0;
  if (bytes.size() < sizeof value) refuse_frames();
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

fs::path unfinished(const fs::path& path) { return path.string() + ".unfinished"; }

}  // namespace

Outcome::Outcome(fs::path folder, fs::path destination)
    : folder_(std::move(folder)), destination_(std::move(destination)) {}

Outcome::~Outcome() {
  std::error_code error;
  if (!file_path_.empty()) fs::remove(unfinished(file_path_), error);
}

void Outcome::take(std::string_view bytes) {
  waiting_ += bytes;
  std::string_view left = waiting_;
  while (left.size() >= CHANNEL_HEADER_BYTES) {
    const std::size_t length = word(left.substr(1));
    if (length > CHANNEL_OUT_BYTES) refuse_frames();
    if (left.size() - CHANNEL_HEADER_BYTES < length) break;
    frame(left.front(), left.substr(CHANNEL_HEADER_BYTES, length));
    left.remove_prefix(CHANNEL_HEADER_BYTES + length);
  }
  waiting_.erase(0, waiting_.size() - left.size());
}

void Outcome::frame(char kind, std::string_view contents) {
  const bool of_a_file = kind == CHANNEL_DATA || kind == CHANNEL_FILE_END;
  if (file_.is_open() ? kind == CHANNEL_FILE : of_a_file) refuse_frames();
  switch (kind) {
    case CHANNEL_STARTED:
      started_ = true;
      break;
    case CHANNEL_OUTPUT:
      if (std::fwrite(contents.data(), 1, contents.size(), stdout) != contents.size() ||
          std::fflush(stdout) != 0)
        throw Refusal(std::string("standard output cannot be written: ") + std::strerror(errno));
      break;
    case CHANNEL_ERROR:
      std::fwrite(contents.data(), 1, contents.size(), stderr);
      break;
    case CHANNEL_FILE:
      begin_file(contents);
      break;
    case CHANNEL_DATA:
      file_.write(contents.data(), static_cast<std::streamsize>(contents.size()));
      break;
    case CHANNEL_FILE_END:
      end_file();
      break;
    case CHANNEL_NOTES:
      notes_ += contents;
      break;
    case CHANNEL_SYMBOLS:
      symbols_ += contents;
      break;
    case CHANNEL_FAILED:
      failure_ = contents;
      break;
    case CHANNEL_EXITED:
      exit_status_ = static_cast<int>(word(contents));
      break;
    default:
      refuse_frames();
  }
}

void Outcome::begin_file(std::string_view contents) {
  file_mode_ = word(contents);
  const fs::path path(contents.substr(sizeof file_mode_));
  const fs::path within = path.lexically_normal().lexically_relative(folder_);
  if (within.empty() || *within.begin() == ".." || *within.begin() == ".")
    throw Refusal("the guest hands out " + path.string() + ", which is no file of its folder " +
                  folder_.string());
  file_path_ = destination_ / within;
  std::error_code error;
  fs::create_directories(file_path_.parent_path(), error);
  file_.open(unfinished(file_path_), std::ios::binary | std::ios::trunc);
  if (!file_)
    throw Refusal(file_path_.string() +
                  ": cannot be written, though the guest has made it: " + std::strerror(errno));
}

void Outcome::end_file() {
  file_.close();
  if (!file_) throw Refusal(file_path_.string() + ": cannot be written to its end: " + std::strerror(errno));
  fs::permissions(unfinished(file_path_), static_cast<fs::perms>(file_mode_));
  fs::rename(unfinished(file_path_), file_path_);
  files_.push_back(file_path_);
  file_path_.clear();
}

}  // namespace pmusim::machine
