#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kernel with a bug in it: a file of what build-kernel.sh has compiled in FOLDER, changed by a sed script of a file.
#
#   plant.sh FOLDER FILE.c SCRIPT.sed KERNEL.o
set -euo pipefail
folder=$(realpath "$1")
file=$2
script=$(realpath "$3")
result=$(realpath -m "$4")
here=$(cd "$(dirname "$0")/.." && pwd)
object=${file%.c}.o
command=$(sed -n 's/^\(savedcmd\|cmd\)_[^ ]* := \(.*gcc .*\) -c -o .*/\2/p' "$folder/kbuild/$(dirname "$file")/.$(basename "$object").cmd" | sed 's/-Wp,-MMD,[^ ]*//')
source=$(grep -o '[^ ]*/'"$file" "$folder/kbuild/$(dirname "$file")/.$(basename "$object").cmd" | sed -n 1p)
planted=$result.planted
# Beside the others, of which it includes some by their place.
sed -f "$script" "$source" >"$planted.c"
! cmp -s "$source" "$planted.c" || { echo "plant: $file has nothing that $script changes" >&2; exit 1; }
cd "$folder/kbuild"
bash -c "$command -I'$(dirname "$source")' -iquote '$(dirname "$source")' -c -o '$planted.o' '$planted.c'"
"$here/link-kernel.sh" "$folder" "$result" "kbuild/$object=$planted.o"
