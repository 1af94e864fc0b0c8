#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How well a sweep uses several workers: 200 jobs (ten traces on twenty models), alone, with 2 and 4 threads (-j), and
# with 2 and 4 tasks of a Slurm job array on a cluster of one node, where Slurm is installed. Results must be the same.
#
#   scripts/sweep_workers.sh [PMUSIM [COUNT]]     COUNT: instructions of each trace (default 2000000)
#
# Efficiency is the time of one worker over the time of the workers times their number, or the number of processors if
# there are fewer of these.
set -euo pipefail
case "${1:-}" in -*) sed -n '3,10s/^# \?//p' "$0" >&2; exit 2 ;; esac
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
names = [model["name"] for model in json.load(sys.stdin)["models"]]
print(json.dumps(names[::max(1, len(names) // 20)][:20]))')
echo "{\"traces\": [$traces], \"models\": $models, \"events\": {\"all\": \"cycles,instructions,branches\"}}" >sweep.json

alone=0
# timed NAME WORKERS COMMAND...: the command leaves its results in the folder results.
timed() {
  local name=$1 workers=$2 began ended seconds used
  shift 2
  rm -rf results
  began=$(date +%s.%N)
  "$@" >log 2>&1 || { cat log >&2; exit 1; }
  ended=$(date +%s.%N)
  pmusim sweep sweep.json -o results --merge >merged.csv
  if [ "$alone" = 0 ]; then cp merged.csv expected.csv; else cmp expected.csv merged.csv; fi
  used=$((workers < $(nproc) ? workers : $(nproc)))
  seconds=$(echo "$ended $began" | awk '{ printf "%.1f", $1 - $2 }')
  [ "$alone" = 0 ] && alone=$seconds
  echo "$name $workers $seconds $alone $used" | awk -F' ' '{ printf "| %s | %d | %.1f s | %.0f %% |\n", $1, $2, $3, 100 * $4 / $3 / $5 }'
}

echo "| | Workers | Time of 200 jobs | Efficiency |"
echo "|---|---:|---:|---:|"
for workers in 1 2 4; do timed "threads" $workers pmusim sweep sweep.json -o results -j $workers --quiet; done
if missing=$(slurm_installed); then
  mkdir node
  slurm_start "$work/node" 4
  sweep_batch_script "$sources" >sweep.sbatch
  for workers in 2 4; do
    timed "Slurm" $workers sbatch --wait --array=1-$workers --cpus-per-task=1 --mem-per-cpu=200M --time=60 sweep.sbatch
  done
else
  echo "without Slurm: $missing" >&2
fi
