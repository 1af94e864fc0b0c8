#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PROGRAM PAGE: runs the program, whose output is the first block of the page that has no language.
set -euo pipefail
expected=$(awk '/^```/ { if (inside) exit; if (language) { language = 0; next } if ($0 == "```") inside = 1; else language = 1; next } inside' "$2")
[ -n "$expected" ]
diff <(printf '%s\n' "$expected") <("$1")
