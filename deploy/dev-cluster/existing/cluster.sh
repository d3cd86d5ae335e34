# The cluster of a kubeconfig that the user names. It is asked whether it answers, and left as it is.
# shellcheck shell=bash disable=SC2154

named=${MUSTER_TEST_KUBECONFIG:-$KUBECONFIG}

existing_kubectl() {
  local kubectl
  kubectl=$(command -v kubectl) || kubectl=$(programs kubectl)/kubectl
  "$kubectl" --kubeconfig "$named" --request-timeout 10s "$@"
}

cluster_check() {
  [[ -r $named ]] && return
  echo "a kubeconfig at $named"
  return 3
}

cluster_up() {
  cluster_check >/dev/null || fail "there is no kubeconfig at $named"
  existing_kubectl get --raw /readyz >/dev/null || fail "the cluster of $named does not answer"
  echo "$named"
}

cluster_status() {
  local up=no
  existing_kubectl get --raw /readyz >/dev/null 2>&1 && up=yes
  printf '%s\n' "provider=existing" "up=$up" "kubeconfig=$named" "host=${MUSTER_TEST_CLUSTER_HOST:-}"
  [[ $up == yes ]] || return 3
}

cluster_image() { fail "load $1 into the cluster of $named yourself (ctr images import, docker load, or a registry)"; }
cluster_kill() { fail "the parts of the cluster of $named are not for this command"; }
cluster_down() { say "the cluster of $named is not stopped by this command"; }
