# A cluster in containers, by https://kind.sigs.k8s.io, where a Docker engine is there anyway.
# shellcheck shell=bash

KIND_NAME=muster-dev
KIND_KUBECONFIG=${MUSTER_CACHE_DIR:-$HOME/.cache/muster}/dev-cluster-kind.kubeconfig
KIND_PURPOSE=$KIND_KUBECONFIG.for
KIND_NODE=$KIND_NAME-control-plane

cluster_check() { :; }

kind_exists() { kind get clusters 2>/dev/null | grep -qx "$KIND_NAME"; }

cluster_up() {
  local was_up=yes
  mkdir -p "$(dirname "$KIND_KUBECONFIG")"
  exec 9>"$KIND_KUBECONFIG.lock"
  flock 9
  if kind_exists; then
    docker start "$KIND_NODE" >/dev/null
    docker exec "$KIND_NODE" systemctl start containerd kubelet
    kind export kubeconfig --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" 2>/dev/null
  else
    was_up=no
    kind create cluster --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" --wait 120s >&2
  fi
  wait_until 120 "the node is ready" kind_ready || exit 1
  remember_purpose "$was_up" "$KIND_PURPOSE"
  echo "$KIND_KUBECONFIG"
}

kind_ready() {
  docker exec "$KIND_NODE" kubectl --kubeconfig /etc/kubernetes/admin.conf wait --for=condition=Ready "node/$KIND_NODE" --timeout=5s
}

cluster_status() {
  local up=no host
  kind_ready >/dev/null 2>&1 && up=yes
  host=$(docker network inspect kind --format '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' 2>/dev/null | grep -m1 -F . || true)
  printf '%s\n' "provider=kind" "up=$up" "kubeconfig=$KIND_KUBECONFIG" "host=$host" "for=$(cat "$KIND_PURPOSE" 2>/dev/null)"
  [[ $up == yes ]] || return 3
}

cluster_image() {
  [[ -n ${2:-} && -n $(docker exec "$KIND_NODE" ctr -n k8s.io images ls -q "name==$2") ]] && return
  kind load image-archive "$1" --name "$KIND_NAME" >&2
}

cluster_kill() {
  local program=$1
  case $1 in
    apiserver | controller-manager | scheduler | proxy) program=kube-$1 ;;
    dns) program=coredns ;;
    etcd | kubelet | containerd) ;;
    *) fail "there is no part $1" ;;
  esac
  # Its own supervisor starts it again.
  docker exec "$KIND_NODE" pkill -9 -x "${program:0:15}"
}

cluster_down() {
  kind_exists || return 0
  kind delete cluster --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" >&2
  rm -f "$KIND_PURPOSE"
}
