#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pages of docs/ as a site with search, into build/site. A link that leads nowhere, or a page that no menu has, ends it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/packages.sh site
pages=build/site-pages
rm -rf "$pages" build/site
mkdir -p "$pages"
cp -r docs CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE examples "$pages"
cp README.md "$pages/index.md"
# Links to the sources lead out of the site: their names stay.
find "$pages" -name '*.md' -exec sed -i -E \
  -e 's,\[([^]]*)\]\(\.\./(include|src|tests|tools|scripts|linux)/[^)]*\),\1,g' -e 's,\.\./README\.md,../index.md,g' {} +

missing=$(find docs -name '*.md' -not -path 'docs/notes/*' | while read -r page; do
  grep -qF ": $page" mkdocs.yml || echo "$page"
done)
if [ -n "$missing" ]; then
  printf 'site: mkdocs.yml has no entry for\n%s\n' "$missing" >&2
  exit 1
fi
mkdocs build --quiet
echo "build/site/index.html"
