# The bridge between the machine and the pods, and the settings of the machine that the parts change.
# shellcheck shell=bash disable=SC2034,SC2154

CNI_PLUGINS=/usr/lib/cni
CNI_NETWORK=muster-dev
# Goes with the chains of kube-proxy.
REFUSALS=KUBE-DEV-REFUSALS
# kubelet and kube-proxy set these; `down` sets them back.
SETTINGS=(net/ipv4/ip_forward net/ipv4/conf/all/route_localnet vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops)

network_up() {
  remember_settings
  # The first pod would make the bridge, but servers on the machine want its address before.
  # It gets a hardware address for good: else it takes the lowest of its pods', and with each change the others cannot
  # reach the machine for half a minute.
  # shellcheck disable=SC2086
  ip link show "$BRIDGE" >/dev/null 2>&1 ||
    ip link add "$BRIDGE" address "$(printf '0a:58:%02x:%02x:%02x:%02x' ${HOST//./ })" type bridge
  ip addr replace "$HOST/${POD_NETWORK#*/}" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  echo 1 >/proc/sys/net/ipv4/ip_forward
  refuse_unknown_services
}

# kube-proxy says where an address of a Service leads. Until it has, and once it is gone, what is sent there would leave the
# machine, where somebody else may answer it.
refuse_unknown_services() {
  local hook
  {
    echo '*filter'
    echo ":$REFUSALS - [0:0]"
    echo "-A $REFUSALS -d $SERVICE_NETWORK -j REJECT"
    for hook in OUTPUT FORWARD; do
      iptables -w -C "$hook" -j "$REFUSALS" 2>/dev/null || echo "-A $hook -j $REFUSALS"
    done
    echo COMMIT
  } | iptables-restore --noflush --wait
}

network_down() {
  local link
  for link in $(ip -o link show master "$BRIDGE" 2>/dev/null | sed 's/^[0-9]*: \([^@:]*\).*/\1/'); do
    ip link del "$link" 2>/dev/null || true
  done
  ip link del "$BRIDGE" 2>/dev/null || true
  rm -rf "/var/lib/cni/networks/$CNI_NETWORK"
  for link in /var/lib/cni/results/"$CNI_NETWORK"-*; do rm -f "$link"; done
  remove_rules
  restore_settings
}

# Chains of kube-proxy and kubelet begin with KUBE-; so do the rules that lead there.
remove_rules() {
  local command table rules
  for command in iptables ip6tables; do
    for table in mangle filter nat; do
      rules=$("$command-save" -t "$table" 2>/dev/null) || continue
      [[ $rules == *KUBE-* ]] || continue
      {
        echo "*$table"
        # Empty first, because a chain that a rule leads to cannot go.
        sed -n 's/^:\(KUBE-[^ ]*\).*/-F \1/p' <<<"$rules"
        sed -n '/^-A KUBE-/d; /KUBE-/s/^-A /-D /p' <<<"$rules" | grep '^-D' || true
        sed -n 's/^:\(KUBE-[^ ]*\).*/-X \1/p' <<<"$rules"
        echo COMMIT
      } | "$command-restore" --noflush --wait || say "rules of $command in the table $table are left"
    done
  done
}

remember_settings() {
  local name
  [[ -f $RUN/settings ]] && return
  for name in "${SETTINGS[@]}"; do
    if [[ -r /proc/sys/$name ]]; then echo "$name $(<"/proc/sys/$name")"; fi
  done >"$RUN/settings.new"
  mv "$RUN/settings.new" "$RUN/settings"
}

restore_settings() {
  local name value
  [[ -f $RUN/settings ]] || return 0
  while read -r name value; do
    [[ $(<"/proc/sys/$name") == "$value" ]] || echo "$value" >"/proc/sys/$name" || true
  done <"$RUN/settings"
}
