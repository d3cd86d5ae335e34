# A cluster in containers, by https://kind.sigs.k8s.io, where a Docker engine is there anyway.
# shellcheck shell=bash disable=SC1091,SC2153

KIND_NAME=muster-dev
KIND_NODE=$KIND_NAME-control-plane
# kind has a lock of its own beside the kubeconfig, which ends in .lock.
KIND_LOCK=${KIND_KUBECONFIG%.kubeconfig}.busy
KIND_PURPOSE=$KIND_KUBECONFIG.for
# There while a node is being made: one that was broken off never gets ready.
KIND_BEGUN=$KIND_KUBECONFIG.begun

source "$HERE/kind/parts.sh"
source "$HERE/kind/images.sh"

cluster_check() {
  local missing=()
  command -v kind >/dev/null || missing+=("kind")
  docker_answers || missing+=("a Docker engine that answers")
  ((${#missing[@]} == 0)) && return
  printf '%s\n' "${missing[@]}"
  return 3
}

in_node() { docker exec "$KIND_NODE" "$@"; }

kind_exists() { [[ $'\n'$(kind get clusters 2>/dev/null)$'\n' == *$'\n'$KIND_NAME$'\n'* ]]; }

cluster_up() {
  local was_up=yes
  kind_lock
  if [[ -e $KIND_BEGUN ]]; then
    kind delete cluster --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" >&2
    # Docker may still be at what kind had asked of it, and lists a node for a moment more.
    wait_until 60 "what is left of a node is gone" eval "! kind_exists" || exit 1
    rm "$KIND_BEGUN"
  fi
  if kind_exists; then
    [[ $(docker container inspect --format '{{.State.Running}}' "$KIND_NODE") == true ]] || was_up=no
    docker start "$KIND_NODE" >/dev/null
    kind export kubeconfig --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" >/dev/null 2>&1 ||
      fail "kind does not say how to reach the cluster $KIND_NAME"
    start_parts
  else
    was_up=no
    touch "$KIND_BEGUN"
    kind create cluster --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" --wait 120s >&2
    rm "$KIND_BEGUN"
    load_kept_images
  fi
  wait_until 180 "every part runs and the node is ready" kind_is_up || exit 1
  remember_purpose "$was_up" "$KIND_PURPOSE"
  echo "$KIND_KUBECONFIG"
}

cluster_status() {
  local up=no host
  if kind_is_up; then up=yes; fi
  host=$(docker network inspect kind --format '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' 2>/dev/null | grep -m1 -F . || true)
  printf '%s\n' "provider=kind" "up=$up" "kubeconfig=$KIND_KUBECONFIG" "host=$host" "for=$(cat "$KIND_PURPOSE" 2>/dev/null)" \
    "parts=$(running_parts)"
  [[ $up == yes ]] || return 3
}

cluster_down() {
  kind_lock
  if kind_exists; then kind delete cluster --name "$KIND_NAME" --kubeconfig "$KIND_KUBECONFIG" >&2; fi
  rm -f "$KIND_PURPOSE" "$KIND_BEGUN" "$KIND_KUBECONFIG"
}

kind_lock() {
  local missing
  missing=$(cluster_check) || fail "missing on this machine: ${missing//$'\n'/, }"
  mkdir -p "$(dirname "$KIND_KUBECONFIG")"
  lock "$KIND_LOCK"
  # Left by a kind that was killed; no other one works on this file while the lock is held.
  rm -f "$KIND_KUBECONFIG.lock"
}
