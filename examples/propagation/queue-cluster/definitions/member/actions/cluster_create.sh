# The first node is the cluster that the others join.
set -eu
. templates/node.sh
wait_for_node
ctl set_cluster_name "$title"
# What clients may talk to: a member that is gone stands in it no more, before the others hear of it.
install -m 0600 templates/members "$home"
