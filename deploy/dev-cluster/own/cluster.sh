# The machine's own cluster: real parts of Kubernetes as ordinary processes, without a container engine.
# shellcheck shell=bash disable=SC1091,SC2034

export PATH=$PATH:/usr/sbin:/sbin
LOG=$STATE/log PKI=$STATE/pki CONF=$STATE/conf KUBECONFIG_FILE=$STATE/kubeconfig
CONTAINERD=$STATE/containerd CONTAINERD_SOCKET=$RUN/containerd.sock
# The programs that the running cluster was started with, which another checkout may not have: a link.
BIN=$STATE/bin
NODE=dev
BRIDGE=musterdev0
# The machine as pods see it; the API server and the name server listen there and nowhere else.
HOST=10.88.0.1
POD_NETWORK=10.88.0.0/16 SERVICE_NETWORK=10.96.0.0/16 FIRST_SERVICE=10.96.0.1
# One command at a time on this machine. The parts that are started do not inherit the lock.
LOCK=/run/lock/muster-dev-cluster.lock
PAUSE_IMAGE=localhost/muster-dev/pause:1
# Parts that other parts need come first.
PARTS=(etcd apiserver controller-manager scheduler containerd kubelet proxy dns)
PROGRAMS=(etcd kube-apiserver kube-controller-manager kube-scheduler containerd containerd-shim-runc-v2 ctr kubelet kube-proxy coredns kubectl)

source "$HERE/own/processes.sh"
source "$HERE/own/certificates.sh"
source "$HERE/own/configuration.sh"
source "$HERE/own/network.sh"
source "$HERE/own/containers.sh"
source "$HERE/own/parts.sh"

cluster_check() {
  local missing=() program
  [[ $(uname -s) == Linux ]] || missing+=("Linux")
  ((EUID == 0)) || missing+=("root")
  declare -A package=([runc]=runc [iptables]=iptables [conntrack]=conntrack [ip]=iproute2 [openssl]=openssl [flock]=util-linux)
  for program in "${!package[@]}"; do
    command -v "$program" >/dev/null || missing+=("$program (package: ${package[$program]})")
  done
  [[ -x $CNI_PLUGINS/bridge ]] || missing+=("plugins for container networks (package: containernetworking-plugins)")
  busybox_is_static || missing+=("a static busybox (package: busybox-static)")
  command -v go >/dev/null || [[ -x $BIN/kubelet ]] || missing+=("Go >= 1.26 to build its programs (package: golang-go)")
  ((${#missing[@]} == 0)) && return
  printf '%s\n' "${missing[@]}"
  return 3
}

require() {
  local missing
  missing=$(cluster_check) || fail "missing on this machine: ${missing//$'\n'/, }"
}

any_part_runs() {
  local part
  for part in "${PARTS[@]}"; do
    runs "$part" && return
  done
  return 1
}

cluster_up() {
  require
  lock "$LOCK"
  mkdir -p "$RUN" "$LOG" "$PKI" "$CONF/cni" "$CONTAINERD"
  chmod 700 "$PKI"
  local folder was_up=yes
  if ! any_part_runs; then
    was_up=no
    folder=$(programs "${PROGRAMS[@]}")
    ln -sfn "$folder" "$BIN"
  fi
  make_certificates
  write_configuration
  network_up
  start_part etcd
  start_part apiserver
  wait_until 300 "the API server is ready" api_answers || show_logs etcd apiserver
  start_part controller-manager
  start_part scheduler
  start_part containerd
  wait_until 300 "containerd is ready" containerd_is_ready || show_logs containerd
  ensure_pause_image
  start_part kubelet
  start_part proxy
  start_part dns
  wait_until 300 "the node is ready" node_is_ready || show_logs kubelet containerd
  wait_until 180 "Services are reachable" services_are_reachable || show_logs proxy
  wait_until 180 "there is a default service account" kube get serviceaccount default || show_logs controller-manager
  remember_purpose "$was_up" "$RUN/for"
  echo "$KUBECONFIG_FILE"
}

cluster_status() {
  local part up=yes parts=()
  for part in "${PARTS[@]}"; do
    if runs "$part"; then parts+=("$part"); else up=no; fi
  done
  if [[ $up == yes ]]; then node_is_ready || up=no; fi
  printf '%s\n' "provider=own" "up=$up" "kubeconfig=$KUBECONFIG_FILE" "host=$HOST" "for=$(cat "$RUN/for" 2>/dev/null)" \
    "parts=${parts[*]}" "programs=$(readlink "$BIN")"
  [[ $up == yes ]] || return 3
}

cluster_image() {
  runs containerd || fail "the cluster is not up"
  [[ -n ${2:-} ]] && has_image "$2" && return
  [[ -r $1 ]] || fail "there is no file $1"
  containerd_ctl images import "$1" >/dev/null
}

cluster_kill() {
  [[ " ${PARTS[*]} " == *" $1 "* ]] || fail "there is no part $1; parts: ${PARTS[*]}"
  runs "$1" || fail "$1 does not run"
  kill -9 "$(<"$RUN/$1.pid")"
}

cluster_down() {
  [[ -d $STATE ]] || return 0
  ((EUID == 0)) || fail "only root can take the cluster down"
  lock "$LOCK"
  local index
  # First those that would replace the pods that end.
  stop_part controller-manager
  stop_part scheduler
  end_pods
  for ((index = ${#PARTS[@]} - 1; index >= 0; index--)); do stop_part "${PARTS[index]}"; done
  end_shims
  unmount_all
  network_down
  remove_control_groups
  # What the cluster held goes; containerd's images stay.
  rm -rf "$STATE/etcd" "$STATE/kubelet" "$RUN" "$KUBECONFIG_FILE"
}
