# The parts as processes: a pid file and a log each.
# shellcheck shell=bash disable=SC2154

# Whether a part runs. The number in the file may belong to a stranger by now, whose program is another one.
runs() {
  local pid
  pid=$(cat "$RUN/$1.pid" 2>/dev/null) && [[ $(readlink "/proc/$pid/exe") == "$(readlink -f "$BIN")/$(program_of "$1")" ]]
}

program_of() {
  case $1 in
    etcd | containerd | kubelet) echo "$1" ;;
    dns) echo coredns ;;
    *) echo "kube-$1" ;;
  esac
}

# Starts a part unless it runs: in a session of its own, so that Ctrl-C on the terminal is not meant for it.   launch NAME ARGUMENT...
launch() {
  local name=$1
  shift
  runs "$name" && return
  setsid "$(readlink -f "$BIN")/$(program_of "$name")" "$@" </dev/null >>"$LOG/$name.log" 2>&1 9>&- &
  echo $! >"$RUN/$name.pid"
  disown
  # A shell that has not become the program yet would count as not running.
  wait_until 60 "$name has started" runs "$name" || show_logs "$name"
}

stop_part() {
  local pid
  if runs "$1"; then
    pid=$(<"$RUN/$1.pid")
    kill "$pid" 2>/dev/null || true
    wait_until 15 "$1 has ended" eval "! runs $1" || kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$RUN/$1.pid"
}

# The ends of some logs, then the end of this command.
show_logs() {
  local name
  for name in "$@"; do
    say "the end of $LOG/$name.log:"
    tail -n 15 "$LOG/$name.log" >&2 || true
  done
  exit 1
}
