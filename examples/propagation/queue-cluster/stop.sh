#!/usr/bin/env bash
# Stops every member in FOLDER and their name service, and nothing else: stop.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || {
  echo "usage: $0 FOLDER" >&2
  exit 2
}
folder=$(cd "$1" && pwd)

# The processes of Erlang that were started with a folder as their home: the node, and what talks to it.
processes_of() {
  grep -lzxF -- "$1" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    [ "$(cat "${file%/*}/comm" 2>/dev/null)" != beam.smp ] || basename "${file%/*}"
  done
}

for file in "$folder"/*/ports; do
  [ -f "$file" ] || continue
  home=$(dirname "$file")
  signal=TERM
  for try in $(seq 300); do
    pids=$(processes_of "$home") || true
    [ -n "$pids" ] || break
    [ "$try" -lt 200 ] || signal=KILL
    # shellcheck disable=SC2086
    kill -s "$signal" $pids 2>/dev/null || true
    sleep 0.1
  done
  echo "$(basename "$home") stopped"
done
# It ends only where it knows of no member any more.
cat "$folder"/*/ports 2>/dev/null | cut -d' ' -f3 | sort -u | while read -r port; do
  ERL_EPMD_PORT=$port epmd -kill >/dev/null || true
done
