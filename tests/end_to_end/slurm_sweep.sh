#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A sweep as a Slurm job array, by the batch script of docs/sweep.md, on a cluster of one node that is this machine:
# its merged results are those of a sweep without Slurm.
#
#   tests/end_to_end/slurm_sweep.sh PMUSIM      exit status 77 where Slurm's daemons (slurmctld, slurmd, munge) are not installed
set -euo pipefail
[ $# -eq 1 ] && [ -x "$1" ] || { sed -n '3,6s/^# \?//p' "$0" >&2; exit 2; }
pmusim=$(realpath "$1")
sources=$(cd "$(dirname "$0")/../.." && pwd)
. "$sources/scripts/slurm_node.sh"
missing=$(slurm_installed) || { echo "skipped: $missing"; exit 77; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/pmusim-slurm-XXXXXX")
slurm_daemons=()
tear_down() {
  local status=$?
  [ $status -eq 0 ] || tail -n 20 "$dir"/*.log >&2
  slurm_stop
  rm -rf "$dir"
}
trap tear_down EXIT
PATH="$(dirname "$pmusim"):$PATH"
slurm_start "$dir" 2

cd "$dir"
for name in one two; do pmusim trace record -o "$name.pmutrace" /bin/echo "$name" >/dev/null 2>&1; done
cat >sweep.json <<END
{"traces": ["one.pmutrace", "two.pmutrace"], "models": ["skylake", "lioncove"],
 "events": {"branches": "branches,branch-misses", "time": "cycles,instructions"}}
END
pmusim sweep sweep.json -o alone --quiet
pmusim sweep sweep.json -o alone --merge >expected.csv

sweep_batch_script "$sources" >sweep.sbatch
grep -q SLURM_ARRAY_TASK_ID sweep.sbatch
sbatch --wait --array=1-3 --cpus-per-task=1 --mem-per-cpu=256M --time=5 sweep.sbatch
pmusim sweep sweep.json -o results --merge >merged.csv
cmp expected.csv merged.csv
shards=$(ls slurm-*_*.out | wc -l)
[ "$shards" = 3 ] || { echo "$shards of 3 parts ran" >&2; exit 1; }
echo "a job array of $shards parts: $(($(wc -l <merged.csv) - 1)) rows, the same as without Slurm"
