// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "annotate/sharing.h"
#include "base/base_name.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

using SharingJson = nlohmann::ordered_json;

std::string share(u64 part, u64 all) {
  return fmt::format("{:.2f}%",
                     all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string mean_latency(const AccessSamples& samples) {
  return samples.hitm() == 0 ? "-" : fmt::format("{}", samples.hitm_cycles / samples.hitm());
}

std::string place_text(const SharedAccess& access) {
  if (access.file.empty()) return fmt::format("({})", base_name(access.module));
  return fmt::format("{}:{}", base_name(access.file), access.line);
}

std::string list_text(const std::set<u32>& numbers) {
  return numbers.empty() ? "-" : fmt::format("{}", fmt::join(numbers, ","));
}

std::string lines_text(const SharingReport& report) {
  std::string text = fmt::format("{:>4}  {:>18} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "Line",
                                 "Address", "Process", "HITM", "Share", "Local", "Remote", "Loads", "Stores");
  for (std::size_t n = 0; n < report.lines.size(); ++n) {
    const ContendedLine& line = report.lines[n];
    const AccessSamples& s = line.samples;
    text += fmt::format("{:>4}  {:#18x} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", n, line.address,
                        line.pid, s.hitm(), share(s.hitm(), report.total.hitm()), s.local_hitm, s.remote_hitm,
                        s.loads, s.stores);
  }
  return text;
}

std::string accesses_text(const ContendedLine& line, std::size_t number) {
  std::string text = fmt::format("\nLine {}, {:#x}\n", number, line.address);
  text += fmt::format("{:>6} {:>8} {:>8} {:>8} {:>8}  {:<8} {:<12} {:<24} {}\n", "Offset", "HITM", "Cycles",
                      "Loads", "Stores", "CPUs", "Threads", "Symbol", "Source");
  for (const SharedAccess& access : line.accesses)
    text += fmt::format("{:#6x} {:>8} {:>8} {:>8} {:>8}  {:<8} {:<12} {:<24} {}\n", access.offset,
                        access.samples.hitm(), mean_latency(access.samples), access.samples.loads,
                        access.samples.stores, list_text(access.cpus), list_text(access.threads),
                        printable(access.symbol), printable(place_text(access)));
  return text;
}

SharingJson samples_json(const AccessSamples& samples) {
  return {{"hitm", samples.hitm()},
          {"local_hitm", samples.local_hitm},
          {"remote_hitm", samples.remote_hitm},
          {"hitm_cycles", samples.hitm_cycles},
          {"loads", samples.loads},
          {"stores", samples.stores}};
}

SharingJson access_json(const SharedAccess& access) {
  SharingJson json{{"offset", access.offset},
                   {"symbol", access.symbol},
                   {"module", access.module},
                   {"file", access.file.empty() ? SharingJson(nullptr) : SharingJson(access.file)},
                   {"line", access.line}};
  json.update(samples_json(access.samples));
  json["cpus"] = access.cpus;
  json["threads"] = access.threads;
  return json;
}

SharingJson line_json(const ContendedLine& line) {
  SharingJson json{{"address", line.address}, {"pid", line.pid}};
  json.update(samples_json(line.samples));
  json["accesses"] = SharingJson::array();
  for (const SharedAccess& access : line.accesses) json["accesses"].push_back(access_json(access));
  return json;
}

}  // namespace

std::string sharing_text(const SharingReport& report) {
  const AccessSamples& total = report.total;
  std::string text = fmt::format(
      "{} samples of loads, {} of stores; {} loads found their line modified by another core (HITM)\n",
      total.loads, total.stores, total.hitm());
  if (report.lines.empty()) return text;
  text += "\n" + lines_text(report);
  for (std::size_t n = 0; n < report.lines.size(); ++n) text += accesses_text(report.lines[n], n);
  return text;
}

std::string sharing_json(const SharingReport& report) {
  SharingJson json{{"input", report.input}, {"total", samples_json(report.total)}};
  json["lines"] = SharingJson::array();
  for (const ContendedLine& line : report.lines) json["lines"].push_back(line_json(line));
  json["notes"] = report.notes;
  return json.dump(2, ' ', false, SharingJson::error_handler_t::replace);
}

}  // namespace pmusim::annotate
