#!/usr/bin/env bash
# Makes the resources of this example, their connections and their events, and shows the plan that would follow.
# Everything is data: the handler `none` executes nothing, so no machine is needed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=examples/propagation/queue-cluster

./muster repository add queue "$here/definitions"
./muster resource create rmq.cluster queue/cluster
for number in 1 2 3; do
  ./muster resource create "rmq.$number" queue/member "name=rmq$number"
  # A member is in the list of the cluster, and has the list: two connections, and the events of both directions.
  ./muster connection add "rmq.$number" rmq.cluster 'name->members'
  ./muster connection add rmq.cluster "rmq.$number" members
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
