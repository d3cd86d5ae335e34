# Images in the node. They go with it, so what was loaded is remembered for the next one.
# shellcheck shell=bash disable=SC2153

# Paths of archives; the one used last comes last.
KIND_IMAGES=$KIND_KUBECONFIG.images
KEPT_IMAGES=8

cluster_image() {
  local archive=$1 name=${2:-}
  node_runs || fail "the cluster is not up"
  if [[ -z $name ]] || ! has_image "$name"; then
    [[ -r $archive ]] || fail "there is no file $archive"
    load_image "$archive"
  fi
  if [[ -r $archive ]]; then keep_image "$(realpath "$archive")"; fi
}

node_runs() { [[ $(docker container inspect --format '{{.State.Running}}' "$KIND_NODE" 2>/dev/null) == true ]]; }
has_image() { [[ -n $(in_node ctr --namespace k8s.io images ls -q "name==$1") ]]; }
load_image() { kind load image-archive "$1" --name "$KIND_NAME" >&2 </dev/null; }

keep_image() {
  {
    grep -vxF "$1" "$KIND_IMAGES" 2>/dev/null | tail -n "$((KEPT_IMAGES - 1))" || true
    echo "$1"
  } >"$KIND_IMAGES.new"
  mv "$KIND_IMAGES.new" "$KIND_IMAGES"
}

# An archive may be gone by now, or spoilt: then who needs the image loads it.
load_kept_images() {
  local archive
  [[ -f $KIND_IMAGES ]] || return 0
  while read -r archive; do
    [[ ! -r $archive ]] || load_image "$archive" || say "not loaded again: $archive"
  done <"$KIND_IMAGES"
}
