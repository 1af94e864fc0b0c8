// The page of annotate and report as a browser shows it: what stands in its DOM is what --json says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A profile of `branches` with branch stacks, its JSON, and its page as Chromium has laid it out.
class Page {
 public:
  Page() {
    const std::string data = directory_.file("perf.data"), html = directory_.file("page.html");
    EXPECT_EQ(run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "1009", "-b", "-o", data,
                   recorded("branches", {"10000"})})
                  .status,
              0);
    report = json::parse(run({pmusim(), "annotate", "-i", data, "--json"}).out);
    EXPECT_EQ(run({pmusim(), "annotate", "-i", data, "--html", html}).status, 0);
    dom = run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--user-data-dir=" + directory_.file("browser"), "--virtual-time-budget=5000", "--dump-dom",
               "file://" + html})
              .out;
  }

  /// The row of the instruction at an address.
  std::string row(u64 address) const {
    const std::size_t at = dom.find(fmt::format("<tr data-address=\"{:x}\"", address));
    return at == std::string::npos ? "" : dom.substr(at, dom.find("</tr>", at) - at);
  }
  std::size_t count(const std::string& text) const {
    std::size_t found = 0;
    for (std::size_t at = dom.find(text); at != std::string::npos; at = dom.find(text, at + 1)) ++found;
    return found;
  }

  json report;
  std::string dom;

 private:
  ScratchDirectory directory_;
};

std::string percent(double value) { return fmt::format("{:.2f}%", value); }

TEST(AnnotatedPage, SaysInTheBrowserWhatTheJsonSays) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const Page page;
  ASSERT_FALSE(page.dom.empty());
  const json& hottest = page.report["symbols"][0];
  const json& function = page.report["functions"][hottest["function"].get<std::size_t>()];
  const double total = page.report["events"][0]["period"];

  // The ranking, and the code of its first function.
  EXPECT_THAT(page.dom, HasSubstr(percent(100 * hottest["weights"][0]["period"].get<double>() / total)));
  EXPECT_EQ(page.count("<tr data-address="), function["instructions"].size());
  EXPECT_THAT(page.dom, HasSubstr("<svg"));  // the arrows of its jumps

  double whole = 0;
  for (const json& instruction : function["instructions"])
    whole += instruction["weights"][0]["period"].get<double>();
  for (const json& instruction : function["instructions"]) {
    const std::string row = page.row(instruction["address"]);
    const double share = 100 * instruction["weights"][0]["period"].get<double>() / whole;
    if (share > 0) {
      EXPECT_THAT(row, HasSubstr(percent(share)));
    }
    if (instruction.contains("leave") && instruction["leave"]["percent"] > 0.1) {
      EXPECT_THAT(row, HasSubstr(fmt::format("-{} (p:{})", percent(instruction["leave"]["percent"]),
                                             percent(instruction["leave"]["predicted_percent"]))));
    }
    if (instruction.contains("join") && instruction["join"]["percent"] > 0.1) {
      EXPECT_THAT(row, HasSubstr(fmt::format("+{}", percent(instruction["join"]["percent"]))));
    }
  }
}

}  // namespace
}  // namespace pmusim::test
