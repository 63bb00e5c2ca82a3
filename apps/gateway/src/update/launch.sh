#!/bin/sh
# Starts the gateway: the installed version, or the update that replaced it. install.sh copies this file beside
# `current`; no update replaces it. docs/operations/updates.md describes its states.
root=$(dirname "$(readlink -f "$0")")
updates=$root/updates
# A new version has this time until the hub must answer its heartbeat through the tunnel.
trial_seconds=${HEDGEROW_TRIAL_SECONDS:-180}
# Node needs at most 20 s to stop.
kill_after_seconds=20
# The gateway asks for its next version with this exit code (EX_TEMPFAIL of sysexits.h).
again=75

# The directory that a pointer names, without a subprocess where there is no pointer.
pointer() {
  named=''
  if [ -L "$updates/$1" ]; then named=$(readlink "$updates/$1"); fi
  case $named in a | b) ;; *) named='' ;; esac
}
program_of() {
  if [ -n "$1" ]; then program=$updates/$1/bin/hedgerow-gateway; else program=$root/current/bin/hedgerow-gateway; fi
}
use_confirmed() {
  pointer current
  slot=$named
  program_of "$slot"
  # If the program of the update is missing, the installed version starts.
  if [ ! -x "$program" ]; then slot='' && program_of ''; fi
}
# Each start of a trial creates one of three directories, which is on disk before the version runs.
take_try() {
  for number in 1 2 3; do
    if mkdir "$updates/$1/.try$number" 2>/dev/null; then sync && return 0; fi
  done
  return 1
}
# After this rename the previous version starts, whatever happens next.
give_up() { mv -fT "$updates/trial" "$updates/failed" 2>/dev/null; }

choose() {
  use_confirmed
  on_trial=''
  pointer trial
  if [ -z "$named" ] || [ "$named" = "$slot" ]; then return; fi
  program_of "$named"
  if [ -x "$program" ] && take_try "$named"; then
    slot=$named
    on_trial=yes
  else
    give_up
    use_confirmed
  fi
}

# This lock is held by a running launcher and its gateway; the kernel releases it with the last of them.
is_beside_another() {
  if [ ! -r "$updates" ] || ! command -v flock >/dev/null; then return 1; fi
  exec 9<"$updates"
  ! flock -n 9
}

# What the gateway has fetched is for its own user: root would start what somebody who broke into it has written.
if [ -d "$updates" ] && ! [ -O "$updates" ]; then exec "$root/current/bin/hedgerow-gateway" "$@"; fi

case ${1-} in
  --help | -h | --version | [!-]*) is_start='' ;;
  *) is_start=yes ;;
esac
# A start by hand beside the service is no try of a new version either.
if [ -z "$is_start" ] || is_beside_another; then
  use_confirmed
  exec "$program" "$@"
fi

# Sleeps in short steps, so that no long `sleep` remains when this is killed.
watch_trial() {
  left=$trial_seconds
  while [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
    pointer trial
    [ "$named" = "$slot" ] || exit 0
  done
  give_up
  kill -TERM "$child"
  sleep "$kill_after_seconds"
  kill -KILL "$child"
}

stopped='' child=''
trap 'stopped=yes; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' HUP INT TERM
while :; do
  choose
  HEDGEROW_ROOT=$root HEDGEROW_SLOT=$slot "$program" "$@" &
  child=$!
  watcher=''
  if [ -n "$on_trial" ]; then watch_trial >/dev/null 2>&1 9<&- & watcher=$!; fi
  # Forwards a signal that came before the process existed.
  if [ -n "$stopped" ]; then kill -TERM "$child" 2>/dev/null; fi
  # A signal ends `wait` before the process ends, so wait again.
  while :; do
    wait "$child"
    code=$?
    if [ "$code" -le 128 ] || ! kill -0 "$child" 2>/dev/null; then break; fi
  done
  child=''
  if [ -n "$watcher" ]; then kill -KILL "$watcher" 2>/dev/null; fi
  if [ -n "$stopped" ]; then exit "$code"; fi
  if [ "$code" -eq "$again" ]; then continue; fi
  # After a trial the next round decides; every other end is the supervisor's to handle.
  [ -n "$on_trial" ] || exit "$code"
  sleep 2
done
