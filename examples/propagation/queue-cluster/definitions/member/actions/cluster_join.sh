# Joins the first node, unless it is there already.
set -eu
. templates/node.sh
wait_for_node
if knows "$node" "$first"; then
  echo MUSTER_OUTCOME=ok
  exit 0
fi
ctl stop_app
ctl join_cluster "$first" || is_refused=true
ctl start_app
[ -z "${is_refused:-}" ]
