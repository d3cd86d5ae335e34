#!/usr/bin/env bash
# Makes the kinds of the example in a cluster and runs the operator until it is stopped. See README.md.
#
#   start.sh [FLAG...]   flags of `muster operator run`
#
# The cluster is that of KUBECONFIG, else the development cluster, which is started.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$example/../.." && pwd)

if [ -z "${KUBECONFIG:-}" ]; then
  KUBECONFIG=$("$root/deploy/dev-cluster/cluster.sh" up)
  export KUBECONFIG
fi
kubectl=$(command -v kubectl || echo "$(node "$root/bootstrap/run.mjs" cluster-programs kubectl)/kubectl")
"$kubectl" apply -f "$example/kinds.yaml"
"$kubectl" wait --for condition=established --timeout=60s crd/sites.demo.example.com crd/teams.demo.example.com
cat <<WORDS

In another terminal:

    export KUBECONFIG=$KUBECONFIG
    $kubectl apply -f $example/resources
    $kubectl wait --for condition=Successful --timeout=120s site/shop team/red

WORDS
cd "$example"
exec "$root/muster" operator run "$@"
