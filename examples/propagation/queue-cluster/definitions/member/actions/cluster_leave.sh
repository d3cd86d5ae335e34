# Makes a node and the cluster forget one another, whatever each of them believes.
set -eu
. templates/node.sh
ctl stop_app
if knows "$first" "$node"; then
  of "$first" forget_cluster_node "$node"
fi
ctl force_reset
ctl start_app
