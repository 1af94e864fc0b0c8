# SPDX-License-Identifier: MIT
# Sourced by what fetches packages of suites of Debian that need not be the machine's:
#
#   use_suites FOLDER TYPES SUITE...     TYPES is deb, or "deb deb-src". Sets `apt` to options by which apt-get and apt-cache
#                                        see these suites alone, and `mirror` to where they are fetched from
#   first_error LOG                      why apt-get has failed, of what it said
#
# Lists are FOLDER's own: neither the machine's sources nor its packages change.

use_suites() {
  local folder=$1 types=$2
  shift 2
  # The mirror that the machine takes its own packages from.
  mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p;s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | sed -n 1p || true)
  mirror=${mirror:-http://deb.debian.org/debian}
  mkdir -p "$folder/apt/sources" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
  cat >"$folder/apt/sources/suites.sources" <<EOF
Types: $types
URIs: $mirror
Suites: $*
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
  apt=(-o "Dir::Etc::SourceParts=$folder/apt/sources" -o Dir::Etc::SourceList=/dev/null -o "Dir::State::Lists=$folder/apt/lists"
    -o "Dir::Cache=$folder/apt/cache" -o APT::Get::List-Cleanup=false -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root
    -o APT::Update::Error-Mode=any) # else an update without network is none that failed
}

first_error() { sed -n 's/^E: //p' "$1" | sed -n 1p; }
