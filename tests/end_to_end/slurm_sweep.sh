#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A sweep as a Slurm job array, by the batch script of docs/sweep.md, on a cluster of one node that is this machine:
# its merged results are those of a sweep without Slurm. The cluster has its own folder, ports and keys, belongs to
# who runs this, and is gone afterwards.
#
#   tests/end_to_end/slurm_sweep.sh PMUSIM      exit status 77 where Slurm's daemons (slurmctld, slurmd, munge) are not installed
set -euo pipefail
[ $# -eq 1 ] && [ -x "$1" ] || { sed -n '3,7s/^# \?//p' "$0" >&2; exit 2; }
pmusim=$(realpath "$1")
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/sweep.md
for program in munged slurmctld slurmd sbatch sinfo; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
    { echo "skipped: there is no $program; Debian's packages slurmctld, slurmd, slurm-client and munge have it"; exit 77; }
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/pmusim-slurm-XXXXXX")
export PATH="$(dirname "$pmusim"):$PATH:/usr/sbin" SLURM_CONF="$dir/slurm.conf"
daemons=()
tear_down() {
  local status=$?
  [ $status -eq 0 ] || tail -n 20 "$dir"/*.log >&2
  for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
  wait
  rm -rf "$dir"
}
trap tear_down EXIT

user=$(id -un) node=$(hostname -s) port=$((20000 + $$ % 20000))
mkdir -m 700 "$dir/state" "$dir/spool"
head -c 1024 /dev/urandom >"$dir/munge.key"
chmod 600 "$dir/munge.key"
cat >"$SLURM_CONF" <<END
ClusterName=one
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthInfo=socket=$dir/munge.socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=1024 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END

munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --seed-file="$dir/munge.seed" \
  --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" >"$dir/munged.log" 2>&1 &
daemons+=($!)
slurmctld -D >"$dir/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D >"$dir/slurmd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 300); do
  state=$(sinfo -h -o %t 2>/dev/null || true)
  [ "$state" = idle ] && break
  sleep 0.2
done
[ "$state" = idle ] || { echo "the node is '$state', not idle" >&2; exit 1; }

cd "$dir"
for name in one two; do pmusim trace record -o "$name.pmutrace" /bin/echo "$name" >/dev/null 2>&1; done
cat >sweep.json <<END
{"traces": ["one.pmutrace", "two.pmutrace"], "models": ["skylake", "lioncove"],
 "events": {"branches": "branches,branch-misses", "time": "cycles,instructions"}}
END
pmusim sweep sweep.json -o alone --quiet
pmusim sweep sweep.json -o alone --merge >expected.csv

# The page's script, on the CPUs that there are.
sed -n '/^#!\/bin\/bash$/,/^```$/{/^```$/d;p}' "$page" >sweep.sbatch
grep -q SLURM_ARRAY_TASK_ID sweep.sbatch
sbatch --wait --array=1-3 --cpus-per-task=1 --mem-per-cpu=256M --time=5 sweep.sbatch
pmusim sweep sweep.json -o results --merge >merged.csv
cmp expected.csv merged.csv
shards=$(ls slurm-*_*.out | wc -l)
[ "$shards" = 3 ] || { echo "$shards of 3 parts ran" >&2; exit 1; }
echo "a job array of $shards parts: $(($(wc -l <merged.csv) - 1)) rows, the same as without Slurm"
