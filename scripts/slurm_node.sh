# SPDX-License-Identifier: MIT
# Sourced, not run: a Slurm cluster of one node, this machine, with its own folder, ports and keys. It belongs to who starts
# it. Needs Debian's packages slurmctld, slurmd, slurm-client and munge.

slurm_installed() {
  local program
  for program in munged slurmctld slurmd sbatch sinfo; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || {
      echo "there is no $program; Debian's packages slurmctld, slurmd, slurm-client and munge have it"
      return 1
    }
  done
}

# slurm_start FOLDER CPUS: returns when the node takes jobs; sbatch then finds it by SLURM_CONF.
slurm_start() {
  local dir=$1 cpus=$2 node port user state=unknown
  user=$(id -un) node=$(hostname -s) port=$((20000 + $$ % 20000))
  export SLURM_CONF="$dir/slurm.conf" PATH="$PATH:/usr/sbin"
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
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=1024 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
  munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --seed-file="$dir/munge.seed" \
    --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" >"$dir/munged.log" 2>&1 &
  slurm_daemons=($!)
  slurmctld -D >"$dir/slurmctld.log" 2>&1 &
  slurm_daemons+=($!)
  slurmd -D >"$dir/slurmd.log" 2>&1 &
  slurm_daemons+=($!)
  for _ in $(seq 300); do
    state=$(sinfo -h -o %t 2>/dev/null || true)
    [ "$state" = idle ] && return
    sleep 0.2
  done
  echo "the node is '$state', not idle" >&2
  return 1
}

slurm_stop() {
  local daemon
  for daemon in "${slurm_daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
  wait
}

# The batch script of docs/sweep.md, on standard output.
sweep_batch_script() { sed -n '/^#!\/bin\/bash$/,/^```$/{/^```$/d;p}' "$1/docs/sweep.md"; }
