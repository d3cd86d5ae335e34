#!/usr/bin/env bash
# Starts one sshd per node on 127.0.1.1, 127.0.1.2, ... and writes what Muster needs to reach them. See README.md.
set -euo pipefail

usage() {
  echo "usage: $0 [-n NODES] [-p PORT] [-k PUBLIC_KEY_FILE] FOLDER" >&2
  exit 2
}

nodes=3
port=
public_key=
while getopts n:p:k: option; do
  case $option in
    n) nodes=$OPTARG ;;
    p) port=$OPTARG ;;
    k) public_key=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] && [[ $nodes =~ ^[1-9][0-9]?$ ]] || usage

example=$(cd "$(dirname "$0")" && pwd)
sshd=$(PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v sshd) || {
  echo "sshd is missing (Debian package openssh-server)" >&2
  exit 1
}
# The interpreter itself: what `python3` on PATH runs may be a wrapper that does not work in a session of sshd.
python=$(python3 -c 'import sys; print(sys.executable)')
umask 077
mkdir -p "$1"
folder=$(cd "$1" && pwd)

answers() { (exec 3<>"/dev/tcp/127.0.1.$1/$2") 2>/dev/null; }

# The first port from 2222 on which no address of the fleet answers, unless one is given.
free_port() {
  local candidate node
  for candidate in $(seq 2222 2299); do
    for node in $(seq "$nodes"); do answers "$node" "$candidate" && continue 2; done
    echo "$candidate"
    return
  done
  echo "no free port between 2222 and 2299" >&2
  return 1
}

"$example/stop.sh" "$folder" >/dev/null
port=${port:-$(free_port)}

if [ -z "$public_key" ]; then
  [ -f "$folder/id_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C muster-ssh-fleet -f "$folder/id_ed25519"
  public_key=$folder/id_ed25519.pub
fi
cp "$public_key" "$folder/authorized_keys"
# sshd as root wants its empty folder; the file system of a container may lack it.
[ "$(id -u)" -ne 0 ] || mkdir -p -m 0755 /run/sshd

: >"$folder/known_hosts"
for node in $(seq "$nodes"); do
  home=$folder/node$node
  mkdir -p "$home/root"
  [ -f "$home/host_key" ] || ssh-keygen -q -t ed25519 -N '' -C "node$node" -f "$home/host_key"
  cat >"$home/sshd_config" <<CONFIG
ListenAddress 127.0.1.$node:$port
HostKey $home/host_key
PidFile $home/sshd.pid
AuthorizedKeysFile $folder/authorized_keys
AllowUsers $(id -un)
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
SetEnv FLEET_NODE_ROOT=$home/root
Subsystem sftp internal-sftp
CONFIG
  "$sshd" -f "$home/sshd_config" -E "$home/sshd.log"
  echo "[127.0.1.$node]:$port $(cut -d' ' -f1,2 "$home/host_key.pub")" >>"$folder/known_hosts"
  for _ in $(seq 300); do answers "$node" "$port" && break || sleep 0.1; done
  answers "$node" "$port" || {
    echo "sshd of node$node does not answer:" >&2
    cat "$home/sshd.log" >&2
    exit 1
  }
done

{
  echo '['
  for node in $(seq "$nodes"); do
    role=$([ "$node" -eq 1 ] && echo login || echo compute)
    printf '  { "id": "node%s", "desired_config": "ssh-fleet", "tags": ' "$node"
    printf '{ "ansible_host": "127.0.1.%s", "ansible_port": "%s", "ansible_user": "%s", ' "$node" "$port" "$(id -un)"
    printf '"ansible_python_interpreter": "%s", "role": "%s" } }' "$python" "$role"
    [ "$node" -eq "$nodes" ] && echo || echo ,
  done
  echo ']'
} >"$folder/components.json"

echo "$nodes nodes on 127.0.1.1-$nodes port $port; components, known_hosts and key are in $folder"
