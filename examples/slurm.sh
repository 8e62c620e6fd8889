#!/bin/bash
# prorl's cluster engine under SLURM: four nodes of eight GPUs. Untested on GPUs (docs/guides/cluster.md says what is).
#   sbatch examples/slurm.sh --preset prorl-v2 --steps 3000          a new run
#   sbatch examples/slurm.sh --resume RUN                            go on with one
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8 --cpus-per-task=96 --exclusive --time=24:00:00
#SBATCH --signal=B:USR1@1800
set -euo pipefail

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
srun --overlap --nodes=1 --ntasks=1 -w "$head" ray start --head --port 6379 --block &
sleep 20
others=$((SLURM_JOB_NUM_NODES - 1))
srun --overlap --nodes="$others" --ntasks="$others" --exclude "$head" ray start --address "$head:6379" --block &
sleep 20

layout=()
if [[ " $* " != *" --resume "* ]]; then
    layout=(--engine openrlhf --set "openrlhf.nodes=$SLURM_JOB_NUM_NODES" --set openrlhf.ray_address=auto)
fi
srun --overlap --nodes=1 --ntasks=1 -w "$head" prorl train "$@" "${layout[@]}" &
run=$!
# half an hour before the time is up: what Ctrl-C does, the step is finished and saved
trap 'kill -TERM $run; wait $run' USR1
wait $run
