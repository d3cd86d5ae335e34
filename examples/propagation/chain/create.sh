#!/bin/sh
# The model of the chain: four services on the machine of the worker, each with a configuration file in a folder.
#   examples/propagation/chain/create.sh [FOLDER]
set -eu
here=$(dirname "$0")
muster=$here/../../../muster
folder=${1:-/tmp/muster-chain}

"$muster" repository add chain "$here/definitions"
port=3306
for name in mariadb keystone keystone_config haproxy; do
  "$muster" resource create "$name" chain/service location_id=localhost dir="$folder" port="$port"
  port=$((port + 1))
done
"$muster" event add 'on mariadb.run changed keystone.run'
"$muster" event add 'on keystone.run changed keystone_config.run'
"$muster" event add 'on keystone_config.run changed haproxy.reload'
"$muster" change stage
