# Removes the node with its files, and takes it out of its cluster.
set -eu
. templates/node.sh
stop
if [ "$other" != @127.0.0.1 ] && knows "$other" "$node"; then
  of "$other" forget_cluster_node "$node"
fi
rm -rf "$home"
