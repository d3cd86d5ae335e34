# The files that the parts read.
# shellcheck shell=bash disable=SC2034,SC2154

API_PORT=6443 ETCD=http://127.0.0.1:12379 ETCD_PEER=http://127.0.0.1:12380

write_configuration() {
  write_kubeconfig
  write_containerd
  write_kubelet
  write_proxy_and_names
}

# Writes what comes in to a file, unless it says that already: a part that watches its file ends, or starts anew, when it is written.
put() {
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# All of it inline, so that a copy of the file works elsewhere on this machine.
write_kubeconfig() {
  (umask 077 && put "$KUBECONFIG_FILE") <<X
apiVersion: v1
kind: Config
current-context: muster-dev
contexts: [{name: muster-dev, context: {cluster: muster-dev, user: admin}}]
clusters: [{name: muster-dev, cluster: {server: "https://$HOST:$API_PORT", certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")}}]
users: [{name: admin, user: {client-certificate-data: $(base64 -w0 "$PKI/admin.crt"), client-key-data: $(base64 -w0 "$PKI/admin.key")}}]
X
}

write_containerd() {
  put "$CONF/containerd.toml" <<X
version = 3
root = '$CONTAINERD'
state = '$RUN/containerd'

[grpc]
  address = '$CONTAINERD_SOCKET'

[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '$PAUSE_IMAGE'

[plugins.'io.containerd.cri.v1.runtime']
  # A root that is itself confined may not make a process less likely to be killed for memory; no pod would start.
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['$CNI_PLUGINS']
  conf_dir = '$CONF/cni'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
X
  # Pods reach the machine and each other. Their addresses are not translated, so nothing else answers them.
  put "$CONF/cni/10-$CNI_NETWORK.conflist" <<X
{
  "cniVersion": "1.0.0",
  "name": "$CNI_NETWORK",
  "plugins": [{
    "type": "bridge", "bridge": "$BRIDGE", "isGateway": true, "ipMasq": false,
    "ipam": {"type": "host-local", "ranges": [[{"subnet": "$POD_NETWORK"}]], "routes": [{"dst": "0.0.0.0/0"}]}
  }]
}
X
}

write_kubelet() {
  # For pods that do not ask the cluster for names: a refusal at once in place of 20 s of silence.
  put "$CONF/resolv.conf" <<<"nameserver 127.0.0.1"
  put "$CONF/kubelet.yaml" <<X
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$CONTAINERD_SOCKET
address: $HOST
healthzBindAddress: 127.0.0.1
clusterDNS: [$HOST]
clusterDomain: cluster.local
resolvConf: $CONF/resolv.conf
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: AlwaysAllow}
# Limits of containers hold; groups of pods are left out, which not every machine lets be made.
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
# Pods are evicted when the machine is really full, not by the shares that suit a node of its own.
evictionHard: {nodefs.available: "1%", imagefs.available: "1%", memory.available: "50Mi"}
# Images that tests have loaded come from no registry, so none may be thrown away to make room.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
X
}

write_proxy_and_names() {
  put "$CONF/proxy.yaml" <<X
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: $NODE
clusterCIDR: $POD_NETWORK
clientConnection: {kubeconfig: $KUBECONFIG_FILE}
conntrack: {maxPerCore: 0, min: 0}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
X
  put "$CONF/Corefile" <<X
.:53 {
  bind $HOST
  errors
  kubernetes cluster.local {
    kubeconfig $KUBECONFIG_FILE muster-dev
  }
}
X
}
