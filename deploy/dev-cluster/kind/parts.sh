# The parts of the cluster inside its node.
# shellcheck shell=bash disable=SC2153

PARTS=(etcd apiserver controller-manager scheduler containerd kubelet proxy dns)
# Where kubelet finds the parts that it starts by itself, and where those wait that were killed.
MANIFESTS=/etc/kubernetes/manifests KILLED=/etc/kubernetes/killed-manifests

program_of() {
  case $1 in
    etcd | containerd | kubelet) echo "$1" ;;
    dns) echo coredns ;;
    *) echo "kube-$1" ;;
  esac
}

# The kernel keeps 15 characters of a process's name.
process_of() {
  local program
  program=$(program_of "$1")
  echo "${program:0:15}"
}

running_parts() {
  local part names running=()
  names=" $(in_node ps -e -o comm= 2>/dev/null | tr '\n' ' ')"
  for part in "${PARTS[@]}"; do
    if [[ $names == *" $(process_of "$part") "* ]]; then running+=("$part"); fi
  done
  echo "${running[*]}"
}

node_kubectl() { in_node kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout 10s "$@" 2>/dev/null; }
node_is_ready() { [[ $(node_kubectl get node "$KIND_NODE" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == True ]]; }
kind_is_up() { [[ $(running_parts) == "${PARTS[*]}" ]] && node_kubectl get --raw /readyz >/dev/null && node_is_ready; }

# Its supervisor would start it again, so that is told at once not to: a killed part stays away until `up`. But proxy and dns are
# pods like any other, which kubelet always starts again.
cluster_kill() {
  local part=$1 program process
  [[ " ${PARTS[*]} " == *" $part "* ]] || fail "there is no part $part; parts: ${PARTS[*]}"
  [[ " $(running_parts) " == *" $part "* ]] || fail "$part does not run"
  program=$(program_of "$part")
  process=$(process_of "$part")
  case $part in
    containerd | kubelet) in_node sh -c "pkill -9 -x $process && systemctl stop $program" ;;
    proxy | dns) in_node pkill -9 -x "$process" ;;
    *) in_node sh -c "mkdir -p $KILLED && pkill -9 -x $process && mv $MANIFESTS/$program.yaml $KILLED/" ;;
  esac
}

start_parts() {
  # A node that has just been started has no systemd yet.
  wait_until 60 "the node has started" in_node systemctl start containerd kubelet || exit 1
  in_node mkdir -p "$KILLED"
  in_node find "$KILLED" -type f -exec mv {} "$MANIFESTS/" ';'
  if kind_is_up; then return; fi
  # An API server whose store is away answers no request and refuses none, which would hold a kubelet that begins for minutes.
  [[ " $(running_parts) " == *" etcd "* ]] || in_node pkill -9 -x kube-apiserver || true
  # One that has run for some time waits the longer, up to minutes, the more often a part has ended.
  in_node systemctl restart kubelet
}
