# SPDX-License-Identifier: MIT
# Sourced by what fetches packages of another suite than the machine's:
#
#   use_suites "$folder" "$what" SUITE...     makes FOLDER, and sets `folder` to its full path and `apt` to options of
#                                             apt-get and apt-cache by which they see the suites alone
#
# With lists of its own: neither the machine's sources nor its packages change. Packages come from the mirror that the
# machine takes its own from. `none SENTENCE` ends with exit status 3.

none() { echo "$(basename "$0" .sh): $1" >&2; exit 3; }

use_suites() {
  local what=$2 mirror
  mkdir -p "$1"
  folder=$(realpath "$1")
  shift 2
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || none "this machine has no apt-get and dpkg-deb to fetch $what with"
  mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p;s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1 || true)
  mkdir -p "$folder/apt/sources" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
  cat >"$folder/apt/sources/newest.sources" <<EOF
Types: deb
URIs: ${mirror:-http://deb.debian.org/debian}
Suites: $*
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
  apt=(-o "Dir::Etc::SourceParts=$folder/apt/sources" -o Dir::Etc::SourceList=/dev/null -o "Dir::State::Lists=$folder/apt/lists"
    -o "Dir::Cache=$folder/apt/cache" -o APT::Get::List-Cleanup=false -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root)
}
