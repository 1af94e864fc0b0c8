// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_PAGE_WIDTHS_H
#define PMUSIM_TESTS_SUPPORT_PAGE_WIDTHS_H

#include <fmt/format.h>

#include <array>
#include <string>

namespace pmusim::test {

/// Of a phone, a tablet, a laptop and a screen, in CSS pixels.
inline constexpr std::array page_widths{390, 768, 1280, 1920};

/// Goes through all views of a page, and tells the page around it, for each, a line
/// "WIDTH VIEW NUMBER SIDEWAYS": how many elements reach beyond the window (but for those that scroll or are
/// cut off), and whether the page scrolls sideways. Of functions that is of the code of the ten hottest.
inline constexpr const char* measure_widths = R"(<script>setTimeout(() => {
  const cut = (e) => e.closest('.scroll, nav, svg, .unseen, .skip, .flame, .short, .list ol') || getComputedStyle(e.parentElement).overflow === 'hidden';
  const wide = () => [...document.querySelectorAll('body *')].filter((e) => !cut(e) && e.getBoundingClientRect().right > innerWidth + 1).length;
  const sideways = () => document.documentElement.scrollWidth > innerWidth;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    tab.click();
    let number = wide(), scrolls = sideways();
    for (let n = 0; n < 10; ++n) {
      const choice = document.querySelectorAll('.list li button')[n];
      if (!choice) break;
      choice.click();
      number += wide();
      scrolls ||= sideways();
    }
    parent.postMessage(`${innerWidth} ${tab.dataset.view} ${number} ${scrolls}`, '*');
  }
}, 500);</script>)";

/// A page with `page` in a frame of each width, and what the frames tell in <pre id="log">. A window has a
/// least width, which a frame has not.
inline std::string frames_of_widths(const std::string& page) {
  std::string html = "<html><body><pre id=\"log\"></pre>";
  for (const int width : page_widths)
    html += fmt::format("<iframe src=\"file://{}\" style=\"border:0;width:{}px;height:900px\"></iframe>",
                        page, width);
  return html +
         "<script>onmessage = (e) => { document.getElementById('log').textContent += `${e.data}\\n`; "
         "};</script>"
         "</body></html>";
}

}  // namespace pmusim::test

#endif
