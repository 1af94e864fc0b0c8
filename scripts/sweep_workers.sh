#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How well a sweep uses several workers: 200 jobs (ten traces on twenty models), alone, with 2 and 4 threads (-j), and
# with 2 and 4 tasks of a Slurm job array on a cluster of one node, where Slurm is installed. Results must be the same.
#
#   scripts/sweep_workers.sh [PMUSIM [COUNT]]     COUNT: instructions of each trace (default 2000000)
#
# Efficiency is the time of one worker over the time of the workers times their number, or the number of processors if
# there are fewer of these. Of Slurm it is the time from the first task's begin to the last result: sbatch looks some
# times a minute whether there is something to begin or to end.
set -euo pipefail
case "${1:-}" in -*) sed -n '3,12s/^# \?//p' "$0" >&2; exit 2 ;; esac
sources=$(cd "$(dirname "$0")/.." && pwd)
. "$sources/scripts/slurm_node.sh"
pmusim=${1:-$sources/build/release/bin/pmusim}
pmusim=$(realpath "$(command -v "$pmusim")")
count=${2:-2000000}
work=$(mktemp -d)
slurm_daemons=()
trap 'slurm_stop; rm -rf "$work"' EXIT
cd "$work"
PATH="$(dirname "$pmusim"):$PATH"

# Parts of one program, which differ in where they begin.
python3 "$sources/scripts/program_inputs.py" .
traces=""
for n in 0 1 2 3 4 5 6 7 8 9; do
  pmusim trace record -q --fast --skip $((n * 3000000)) --count "$count" -o "part$n.pmutrace" -- gzip -kfc text >/dev/null
  traces+="${traces:+, }\"part$n.pmutrace\""
done
models=$(pmusim models --json | python3 -c 'import json, sys
names = [model["name"] for model in json.load(sys.stdin)]
print(json.dumps(names[::max(1, len(names) // 20)][:20]))')
echo "{\"traces\": [$traces], \"models\": $models, \"events\": {\"all\": \"cycles,instructions,branches\"}}" >sweep.json

alone=0
# row NAME WORKERS BEGUN ENDED: in seconds; the results are in the folder results.
row() {
  pmusim sweep sweep.json -o results --merge >merged.csv
  if [ "$alone" = 0 ]; then cp merged.csv expected.csv; else cmp expected.csv merged.csv; fi
  local used=$(($2 < $(nproc) ? $2 : $(nproc))) seconds
  seconds=$(echo "$4 $3" | awk '{ print $1 - $2 }')
  [ "$alone" = 0 ] && alone=$seconds
  printf '| %s | %d | %.1f s | %.0f %% |\n' "$1" "$2" "$seconds" "$(echo "$alone $seconds $used" | awk '{ print 100 * $1 / $2 / $3 }')"
  rm -rf results
}
run() { "$@" >log 2>&1 || { cat log >&2; exit 1; }; }
by_threads() {
  local begun
  begun=$(date +%s.%N)
  run pmusim sweep sweep.json -o results -j "$1" --quiet
  row threads "$1" "$begun" "$(date +%s.%N)"
}
by_slurm() {
  rm -f slurm-*.out
  run sbatch --wait "--array=1-$1" --cpus-per-task=1 --mem-per-cpu=200M --time=60 sweep.sbatch
  row Slurm "$1" "$(stat -c %.9W slurm-*.out | sort -n | sed -n 1p)" "$(stat -c %.9Y results/*.json | sort -n | tail -1)"
}

echo "| | Workers | Time of 200 jobs | Efficiency |"
echo "|---|---:|---:|---:|"
for workers in 1 2 4; do by_threads $workers; done
if missing=$(slurm_installed); then
  mkdir node
  slurm_start "$work/node" 4
  sweep_batch_script "$sources" >sweep.sbatch
  for workers in 2 4; do by_slurm $workers; done
else
  echo "without Slurm: $missing" >&2
fi
