#!/usr/bin/env bash
# Makes the resources of this example on three nodes of examples/ssh-fleet, by ./muster alone: create.sh FOLDER [PORT]
# FOLDER is the folder of the fleet. The services listen on PORT (default: 8180), the load balancer on the port after it.
set -euo pipefail
[ $# -ge 1 ] || {
  echo "usage: $0 FOLDER [PORT]" >&2
  exit 2
}
folder=$(cd "$1" && pwd)
port=${2:-8180}
example=$(cd "$(dirname "$0")" && pwd)
muster() { "$example/../../../muster" "$@"; }

muster secret set propagation-fleet key <"$folder/id_ed25519"
muster repository add balanced "$example/definitions"

# Each node has a login of its own, with the key of its host.
number=0
while read -r place type key <&3; do
  number=$((number + 1))
  address=${place#[}
  muster resource create "node.$number" muster/node ip="${address%%]*}"
  muster resource create "login.$number" muster/transport_ssh user="$(id -un)" port="${place##*:}" \
    key='{"secret": "propagation-fleet", "key": "key"}' host_key="$type $key"
  muster connection add "login.$number" "node.$number" '{}' --events none
done 3<"$folder/known_hosts"

root() { echo "$folder/node$1/root"; }
muster resource create k balanced/service name=k root="$(root 1)" address=127.0.1.1 port="$port"
muster resource create kc balanced/service_config text=first
muster resource create g balanced/service name=g root="$(root 2)" address=127.0.1.2 port="$port"
muster resource create gc balanced/service_config text=second asks=/k/index.html
muster resource create ha balanced/balancer name=ha root="$(root 3)" address=127.0.1.3 port="$((port + 1))"

# Where each of them runs: what is connected to a node runs there, and so does what is configured for a service.
muster connection add node.1 k '{}'
muster connection add node.2 g '{}'
muster connection add node.3 ha '{}'
muster connection add k kc name root
muster connection add g gc name root

# The load balancer stands before both services. It reads its configuration after each of them has something to say.
for service in k g; do
  muster connection add "$service" ha 'name->names' 'address->addresses' 'port->ports'
  muster connection add "${service}c" ha 'text->texts'
done

# The second service asks the first through the load balancer: this connection closes the loop.
muster connection add ha gc 'address->balancer_address' 'port->balancer_port'
