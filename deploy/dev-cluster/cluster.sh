#!/usr/bin/env bash
# A Kubernetes cluster of one node for development and tests, on a Linux machine.
#
#   cluster.sh up          start what does not run; when the node is ready, print the kubeconfig's path
#   cluster.sh status      what runs, as key=value; exit status 3 when the cluster is not up
#   cluster.sh image TAR [NAME]   load an image archive into the node, unless it has an image of that name
#   cluster.sh kill NAME   kill -9 one part; `up` starts it again
#   cluster.sh down        end all pods, stop everything, take network and mounts away; images stay for the next `up`
#   cluster.sh check       what is missing on this machine for `up`, a line each; exit status 3 when something is
#   cluster.sh provider    which cluster it is: existing, kind or own; asks no cluster
#
# Which cluster: that of MUSTER_TEST_KUBECONFIG or KUBECONFIG when one is set; else `kind` when it is installed and a
# Docker engine answers; else one of parts built with Go (own/), of which a machine has one, whatever checkout starts it.
# docs/development.md says what it needs. With MUSTER_DEV_CLUSTER_FOR set, a cluster that `up` has to start remembers the value
# (`for=` of `status`) until an `up` without it: so that tests take down what tests have started.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$(dirname "$HERE")")

# Everything the machine's own cluster keeps; below no user's folder, because all checkouts and users share it.
STATE=/var/lib/muster-dev-cluster
# Gone when the machine restarts, as the processes are.
RUN=/run/muster-dev-cluster
KIND_KUBECONFIG=${MUSTER_CACHE_DIR:-~/.cache/muster}/dev-cluster-kind.kubeconfig

say() { echo "dev-cluster: $*" >&2; }
fail() { say "$@"; exit 1; }

# Tries a command every 0.2 s.   wait_until SECONDS WHAT COMMAND...
wait_until() {
  local seconds=$1 what=$2 deadline=$((SECONDS + $1))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      say "$what: not after $seconds s"
      return 1
    fi
    sleep 0.2
  done
}

# Folder of the programs built with Go; builds what is missing.   programs NAME...
programs() { node "$ROOT/bootstrap/run.mjs" cluster-programs "$@"; }

provider() {
  local named=${MUSTER_TEST_KUBECONFIG:-${KUBECONFIG:-}}
  case $named in
    # What `up` has printed.
    "$STATE/kubeconfig") echo own ;;
    "$KIND_KUBECONFIG") echo kind ;;
    "") if [[ ! -e $RUN/etcd.pid ]] && command -v kind >/dev/null && docker_answers; then echo kind; else echo own; fi ;;
    *) echo existing ;;
  esac
}

# The client alone, without an engine, is no Docker.
docker_answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# One command at a time on a cluster, until this one ends.   lock FILE
lock() {
  exec 9>"$1"
  flock -n 9 && return
  say "waiting for another command on this cluster"
  flock -w 900 9 || fail "another command on this cluster does not end"
}

# After `up`, whether for whom it was started is to be remembered: WAS_UP, FILE.
remember_purpose() {
  if [[ -z ${MUSTER_DEV_CLUSTER_FOR:-} ]]; then
    rm -f "$2"
  elif [[ $1 == no ]]; then
    echo "$MUSTER_DEV_CLUSTER_FOR" >"$2"
  fi
}

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

command=${1:-}
case $command in
  up | status | down | check | provider) (($# == 1)) || usage ;;
  kill) (($# == 2)) || usage ;;
  image) (($# == 2 || $# == 3)) || usage ;;
  *) usage ;;
esac
PROVIDER=$(provider)
if [[ $command == provider ]]; then
  echo "$PROVIDER"
  exit
fi
# shellcheck source=/dev/null
source "$HERE/$PROVIDER/cluster.sh"
"cluster_$command" "${@:2}"
