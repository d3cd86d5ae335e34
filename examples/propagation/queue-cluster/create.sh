#!/usr/bin/env bash
# Makes the resources of this example, their connections and their events, by ./muster alone, and shows the plan that would follow:
#   create.sh [FOLDER [PORT]]
# The members run on the machine of the worker, in FOLDER, on PORT and the six ports after it, on 127.0.0.1. stop.sh FOLDER stops them.
set -euo pipefail
mkdir -p -m 0700 "${1:-/tmp/muster-queue}"
folder=$(cd "${1:-/tmp/muster-queue}" && pwd)
port=${2:-25700}
cd "$(dirname "$0")/../../.."
here=examples/propagation/queue-cluster

head -c 30 /dev/urandom | base64 | ./muster secret set propagation-queue cookie
./muster repository add queue "$here/definitions"
./muster resource create rmq.cluster queue/cluster
for number in 1 2 3; do
  ./muster resource create "rmq.$number" queue/member location_id=localhost "name=rmq$number" dir="$folder" \
    names_port="$port" port="$((port + number))" member_port="$((port + 3 + number))" \
    cookie='{"secret": "propagation-queue", "key": "cookie"}'
  # A member is in the list of the cluster, and has the list: two connections, and the events of both directions.
  ./muster connection add "rmq.$number" rmq.cluster 'name->members'
  ./muster connection add rmq.cluster "rmq.$number" members title
done
./muster event add -f - <<'EVENTS'
# The cluster is made and joined when the data changed, however it came to change.
on rmq.cluster.* changed rmq.1.cluster_create
on rmq.1.cluster_create changed rmq.2.cluster_join
on rmq.1.cluster_create changed rmq.3.cluster_join
# A failed join leaves the cluster and joins again.
on rmq.2.cluster_join failure rmq.2.cluster_leave
on rmq.2.cluster_leave success rmq.2.cluster_join
EVENTS
./muster change process --preview
