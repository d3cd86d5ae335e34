# How each part is called.
# shellcheck shell=bash disable=SC2154

kube() { "$BIN/kubectl" --kubeconfig "$KUBECONFIG_FILE" --request-timeout 30s "$@"; }
api_answers() { kube get --raw /readyz; }
# Of its state Ready, as kubelet last told it.   node_says FIELD
node_says() { kube get node "$NODE" -o "jsonpath={.status.conditions[?(@.type=='Ready')].$1}" 2>/dev/null; }
# What was told before kubelet was started last is of another one, whose word the new one may take back.
node_is_ready() { [[ $(node_says lastHeartbeatTime) != "$(cat "$RUN/kubelet.before" 2>/dev/null)" && $(node_says status) == True ]]; }
# It answers before it can do what kubelet asks, which ends when it is refused; it says when all of it is ready.
containerd_is_ready() { [[ $(tail -c "+$(($(<"$RUN/containerd.begins") + 1))" "$LOG/containerd.log") == *"containerd successfully booted"* ]]; }

# By kube-proxy, which has to be asked for last: it ends by itself when it cannot go on.
services_are_reachable() { [[ $(iptables -w -t nat -S KUBE-SERVICES 2>/dev/null) == *"-d $FIRST_SERVICE/32"* ]] && runs proxy; }

start_part() {
  case $1 in
    etcd)
      # It is thrown away with the cluster, so it need not wait for the disk.
      launch etcd --data-dir "$STATE/etcd" --name "$NODE" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" \
        --listen-peer-urls "$ETCD_PEER" --initial-advertise-peer-urls "$ETCD_PEER" --initial-cluster "$NODE=$ETCD_PEER"
      ;;
    apiserver)
      launch apiserver --etcd-servers "$ETCD" --bind-address "$HOST" --advertise-address "$HOST" --secure-port "$API_PORT" \
        --tls-cert-file "$PKI/apiserver.crt" --tls-private-key-file "$PKI/apiserver.key" --client-ca-file "$PKI/ca.crt" \
        --authorization-mode RBAC --allow-privileged=true --service-cluster-ip-range "$SERVICE_NETWORK" \
        --service-account-issuer https://kubernetes.default.svc \
        --service-account-key-file "$PKI/accounts.pub" --service-account-signing-key-file "$PKI/accounts.key" \
        --kubelet-client-certificate "$PKI/admin.crt" --kubelet-client-key "$PKI/admin.key" \
        --kubelet-preferred-address-types InternalIP
      ;;
    controller-manager)
      launch controller-manager --kubeconfig "$KUBECONFIG_FILE" --leader-elect=false \
        --service-account-private-key-file "$PKI/accounts.key" --root-ca-file "$PKI/ca.crt" \
        --controllers '*,-nodeipam,-cloud-node-lifecycle-controller'
      ;;
    scheduler) launch scheduler --kubeconfig "$KUBECONFIG_FILE" --leader-elect=false ;;
    containerd)
      runs containerd || stat -c %s "$LOG/containerd.log" >"$RUN/containerd.begins" 2>/dev/null || echo 0 >"$RUN/containerd.begins"
      # It finds its shim by PATH.
      PATH=$BIN:$PATH launch containerd --config "$CONF/containerd.toml"
      ;;
    kubelet)
      runs kubelet || node_says lastHeartbeatTime >"$RUN/kubelet.before" || true
      launch kubelet --config "$CONF/kubelet.yaml" --kubeconfig "$KUBECONFIG_FILE" --root-dir "$STATE/kubelet" \
        --hostname-override "$NODE" --node-ip "$HOST"
      ;;
    proxy) launch proxy --config "$CONF/proxy.yaml" ;;
    dns) launch dns -conf "$CONF/Corefile" ;;
  esac
}
