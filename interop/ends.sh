# SPDX-License-Identifier: Apache-2.0
#
# What interop/run and interop/endings have in common: the two ends of the wire, who listens there, and the guest that
# one run has for itself. Sourced; the caller has set `set -uo pipefail`.

# shellcheck disable=SC2034 # the callers use them
{
  interop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
  root=$(dirname "$interop")
  guest=$interop/guest
  here_v4=10.77.0.1 guest_v4=10.77.0.2 here_v6=fd77::1 guest_v6=fd77::2
  passed=0 failed=0
}
listen_timeout=20

die() { printf 'interop: %s\n' "$*" >&2; exit 1; }

# run_there SECONDS COMMANDLINE / run_here SECONDS COMMANDLINE: run it at an end of the wire, with a limit.
run_there() { timeout -k 5 $(($1 + 10)) "$guest" exec "timeout -k 5 $1 $2" </dev/null 2>&1; }
# shellcheck disable=SC2086 # the command line is split into words
run_here() { timeout -k 5 "$1" "$guest" ns $2 </dev/null 2>&1; }

# wait_for there|here COMMANDLINE WANTED: until the output of the command has a line like the extended expression.
wait_for() {
  local deadline=$((SECONDS + listen_timeout))
  while ((SECONDS < deadline)); do
    [ -n "$("run_$1" 10 "$2" | grep -E "$3")" ] && return
    sleep 0.2
  done
  return 1
}

# wait_managed there|here PORT LOG: until somebody listens by the connection manager, which has no sockets: the kernel
# lists its ids, and Verbena says in LOG when it listens.
wait_managed() {
  case $1 in
    there) wait_for there 'rdma resource show cm_id' "LISTEN.*:$2 " ;;
    here) wait_for here "cat $3" '(listening|waiting for a client) on' ;;
  esac
}

outcome() {
  case $1 in
    124 | 137) echo "no end within its time" ;;
    *) echo "exit code $1" ;;
  esac
}

# seconds_since EPOCHREALTIME
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.1f s", b - a}'; }

# take_guest KEEP: one run at a time has the guest, which is started if need be, and ended with the run unless KEEP.
take_guest() {
  exec 9>"/tmp/verbena-interop.$UID.lock"
  flock -n 9 || die "another run is under way"
  "$root/verbena" --help >/dev/null || die "verbena does not run"
  "$guest" up 9>&- || exit 1
  [ -n "$1" ] || trap '"$guest" down' EXIT
  trap 'exit 130' INT TERM
}

# closing_line NAME: the sum, and the exit code.
closing_line() {
  printf '%s: %d passed, %d failed\n' "$1" "$passed" "$failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
