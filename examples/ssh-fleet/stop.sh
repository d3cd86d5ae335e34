#!/usr/bin/env bash
# Stops the sshd of every node in FOLDER, and nothing else: a pid counts only while it runs with that node's configuration.
set -euo pipefail

[ $# -eq 1 ] || {
  echo "usage: $0 FOLDER" >&2
  exit 2
}
folder=$(cd "$1" && pwd)

for file in "$folder"/node*/sshd.pid; do
  [ -f "$file" ] || continue
  pid=$(cat "$file")
  if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "-f $(dirname "$file")/sshd_config"; then
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    echo "$(basename "$(dirname "$file")") stopped"
  fi
  rm -f "$file"
done
