# Starts the node where it does not run, and again where its ports or its cookie are others.
set -eu
umask 077
. templates/node.sh
mkdir -p "$home"
is_changed=
tr -d '\n' <"$cookie" >cookie
echo {{ port }} {{ member_port }} {{ names_port }} >ports
if ! cmp -s cookie "$home/.erlang.cookie" || ! cmp -s ports "$home/ports"; then
  stop
fi
if [ -z "$(node_pid)" ]; then
  is_changed=true
  install -m 0600 cookie "$home/.erlang.cookie"
  install -m 0600 ports templates/rabbitmq.conf "$home"
  erlang setsid rabbitmq-server >"$home/output" 2>&1 </dev/null &
  while kill -0 $! 2>/dev/null && [ -z "$(node_pid)" ]; do sleep 0.1; done
  # At first the nodes come up side by side: making the cluster and joining wait for them.
  {% if action != 'run' %}
  wait_for_node
  {% endif %}
elif ! cmp -s templates/rabbitmq.conf "$home/rabbitmq.conf"; then
  is_changed=true
  ctl set_vm_memory_high_watermark absolute "$memory"
  install -m 0600 templates/rabbitmq.conf "$home"
fi
# What clients may talk to.
if ! cmp -s templates/members "$home/members"; then
  is_changed=true
  install -m 0600 templates/members "$home"
fi
[ -n "$is_changed" ] || echo MUSTER_OUTCOME=ok
