# containerd's images, and what containers leave on the machine.
# shellcheck shell=bash disable=SC2154

containerd_ctl() { CONTAINERD_SUPPRESS_DEPRECATION_WARNINGS=1 "$BIN/ctr" --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"; }

has_image() { containerd_ctl images ls -q "name==$1" | grep -q .; }

busybox_is_static() {
  local busybox
  # A program that needs libraries names their loader near its beginning.
  busybox=$(command -v busybox) && ! head -c 4096 "$busybox" | grep -qa '/ld-'
}

# Each pod has one container that holds its namespaces open and does nothing else.
ensure_pause_image() {
  has_image "$PAUSE_IMAGE" && return
  local work layer
  work=$(mktemp -d "$STATE/pause.XXXXXX")
  mkdir -p "$work/root/bin"
  cp "$(command -v busybox)" "$work/root/bin/sleep"
  tar -C "$work/root" --owner=0 --group=0 -cf "$work/layer.tar" .
  layer=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
  cat >"$work/config.json" <<X
{"architecture": "$(go_architecture)", "os": "linux", "config": {"Entrypoint": ["/bin/sleep", "2147483647"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$layer"]}}
X
  echo "[{\"Config\": \"config.json\", \"RepoTags\": [\"$PAUSE_IMAGE\"], \"Layers\": [\"layer.tar\"]}]" >"$work/manifest.json"
  tar -C "$work" -cf "$work/pause.tar" manifest.json config.json layer.tar
  containerd_ctl images import "$work/pause.tar" >/dev/null
  rm -r "$work"
}

go_architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}

# Pods end cleanly only while kubelet is there to end them.
end_pods() {
  if runs apiserver && runs kubelet && runs containerd; then
    kube delete pods --all --all-namespaces --force --grace-period=0 --wait=false >/dev/null 2>&1 || true
  fi
  if runs containerd; then
    wait_until 20 "all pods have ended" no_tasks || true
    # Of a container that is left, the next cluster would know nothing.
    local container
    for container in $(containerd_ctl tasks ls -q 2>/dev/null); do containerd_ctl tasks rm -f "$container" >/dev/null 2>&1 || true; done
    for container in $(containerd_ctl containers ls -q 2>/dev/null); do containerd_ctl containers rm "$container" >/dev/null 2>&1 || true; done
  fi
}

no_tasks() { [[ -z $(containerd_ctl tasks ls -q) ]]; }

# The keeper of each pod's containers outlives containerd, by design, and its containers outlive the keeper.
end_shims() {
  local process shim children
  shim=$(readlink -f "$BIN")/containerd-shim-runc-v2
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/exe" 2>/dev/null) == "$shim" ]] || continue
    children=$(cat "$process"/task/*/children 2>/dev/null || true)
    # shellcheck disable=SC2086
    kill -9 $children "${process#/proc/}" 2>/dev/null || true
  done
}

unmount_all() {
  local folder
  awk -v state="$STATE/" -v run="$RUN/" 'index($2, state) == 1 || index($2, run) == 1 { print $2 }' /proc/mounts | sort -r | while read -r folder; do
    umount -l "$folder" 2>/dev/null || true
  done
  # Network namespaces of pods.
  awk '$2 ~ "^(/var)?/run/netns/cni-" { print $2 }' /proc/mounts | sort -u | while read -r folder; do
    umount -l "$folder" 2>/dev/null || true
    rm -f "$folder"
  done
}

remove_control_groups() {
  find /sys/fs/cgroup -mindepth 1 -depth -type d \( -path '*/k8s.io' -o -path '*/k8s.io/*' -o -path '*/kubepods' -o -path '*/kubepods/*' \) -exec rmdir {} + 2>/dev/null || true
}
