#!/bin/sh
# Starts the gateway: the installed version, or the update that replaced it. install.sh copies this file beside
# `current`; no update replaces it. docs/operations/updates.md describes its states.
# Each version brings this file too, and runs it `within` a launcher of an older installation, which knows only `trial`.
within=''
if [ "${HEDGEROW_LAUNCHER-}" = within ]; then
  within=yes
  root=$HEDGEROW_ROOT slot=$HEDGEROW_SLOT
else
  root=$(dirname "$(readlink -f "$0")")
fi
updates=$root/updates
# A new version has this time until the hub must answer its heartbeat through the tunnel.
trial_seconds=${HEDGEROW_TRIAL_SECONDS:-180}
# Then it must run for this time. It confirms itself; one that has not done so after twice this time hangs.
proving_seconds=${HEDGEROW_PROVING_SECONDS:-600}
# Node needs at most 20 s to stop.
kill_after_seconds=20
# The gateway asks for its next version with this exit code (EX_TEMPFAIL of sysexits.h).
again=75
# It cannot run with its settings, its data or this device (EX_CONFIG).
not_the_version=78
# Ends on trial that nobody asked for, until the version before returns.
trial_ends_max=3
# A power cut is no fault of a version, but one that takes the whole machine down is not tried for ever.
boots_max=30

# The directory that a pointer names, without a subprocess where there is no pointer.
pointer() {
  named=''
  if [ -L "$updates/$1" ]; then named=$(readlink "$updates/$1"); fi
  case $named in a | b) ;; *) named='' ;; esac
}
# A link is there whole or not at all.
point() { rm -f "$updates/.$1" && ln -s "$2" "$updates/.$1" && mv -fT "$updates/.$1" "$updates/$1"; }
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

# Each start is a directory in that of its version, made before the version runs: `.starts/BOOT/SECONDS-PID-N`, with
# `=CODE` after an end that nobody asked for; other ends remove it. Seconds since the machine started never leap.
# On trial it is on disk before the version runs, so that starts of the machine are counted too.
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
case $boot in '' | *[!0-9a-f-]*) boot=unknown ;; esac
seconds_since_boot() { cut -d . -f 1 /proc/uptime 2>/dev/null || date +%s; }
note_start() {
  started=$((started + 1))
  start=$updates/$slot/.starts/$boot/$(seconds_since_boot)-$$-$started
  if mkdir -p "$start" 2>/dev/null && { [ -z "$on_trial" ] || sync; }; then return 0; fi
  start=''
  return 1
}
# The slot that the pointers name for the next start.
next_slot() { (use_confirmed; pointer trial; echo "${named:-$slot}"); }
note_end() {
  is_asked_for=''
  case $1 in
    # A version that asks for itself again has just ended.
    "$again") if [ "$(next_slot)" != "$slot" ]; then is_asked_for=yes; fi ;;
    # Somebody stopped it. A process that was killed for lack of memory ends with another code.
    0 | 129 | 130 | 143) is_asked_for=$stopped ;;
    # On trial it counts: the version before ran with the same settings.
    "$not_the_version") if [ -z "$on_trial" ]; then is_asked_for=yes; fi ;;
  esac
  [ -n "$start" ] || return 0
  if [ -n "$is_asked_for" ]; then rmdir "$start"; else mv -fT "$start" "$start=$1"; fi 2>/dev/null
}
crashed() {
  why="crashed $1 times within $3, the last time $last"
  [ "$1" -ge "$2" ]
}
# Sets `why` for a version that ended too often. The text begins with `crashed` for one that was confirmed.
is_worn_out() {
  in_ten_minutes=0 in_an_hour=0 in_a_day=0 boots=0 newest=0 last_code=''
  at_now=$(seconds_since_boot)
  for start in "$updates/$slot/.starts/$boot"/*-*; do
    name=${start##*/}
    at=${name%%-*}
    case $at in '' | *[!0-9]*) continue ;; esac
    if [ $((at_now - at)) -ge 86400 ]; then rmdir "$start" 2>/dev/null && continue; fi
    in_a_day=$((in_a_day + 1))
    if [ $((at_now - at)) -lt 600 ]; then in_ten_minutes=$((in_ten_minutes + 1)); fi
    if [ $((at_now - at)) -lt 3600 ]; then in_an_hour=$((in_an_hour + 1)); fi
    if [ "$at" -ge "$newest" ]; then
      newest=$at last_code=''
      case $name in *=*) last_code=${name##*=} ;; esac
    fi
  done
  for start in "$updates/$slot/.starts"/*/; do boots=$((boots + 1)); done
  case $last_code in
    '' | *[!0-9]*) last='killed' ;;
    *)
      if [ "$last_code" -gt 128 ]; then last="by signal $((last_code - 128))"; else last="with exit code $last_code"; fi
      ;;
  esac
  if [ -n "$on_trial" ]; then
    why="ended $in_a_day times before it was confirmed, the last time $last"
    if [ "$in_a_day" -ge "$trial_ends_max" ]; then return 0; fi
    why="was not confirmed after $boots starts of the device"
    [ "$boots" -ge "$boots_max" ]
  else
    crashed "$in_ten_minutes" 5 '10 minutes' || crashed "$in_an_hour" 10 'an hour' || crashed "$in_a_day" 24 'a day'
  fi
}

# After this rename the previous version starts, whatever happens next.
give_up() {
  point why "$why" 2>/dev/null
  mv -fT "$updates/trial" "$updates/failed" 2>/dev/null
}
# Sets `program`. Fails when there is nothing to go back to.
find_before() {
  before=''
  if [ -L "$updates/before" ]; then before=$(readlink "$updates/before"); fi
  case $before in
    "$slot") return 1 ;;
    a | b) program_of "$before" ;;
    installed) program_of '' ;;
    *) return 1 ;;
  esac
  [ -x "$program" ]
}
# Fails also when the disk takes no changes; then this version stays.
go_back() {
  find_before && point why "$why" && point failed "$slot" || return 1
  # After this change the version before starts.
  if [ "$before" = installed ]; then rm -f "$updates/current"; else point current "$before"; fi || return 1
  rm -f "$updates/before" "$updates/proving"
}

# Whether `slot` is on trial: the hub has not answered it yet (`trial`), or it must still run for a while (`proving`).
look_whether_on_trial() {
  on_trial=''
  for phase in trial proving; do
    pointer "$phase"
    if [ -n "$named" ] && [ "$named" = "$slot" ]; then on_trial=$phase; fi
  done
}

choose() {
  use_confirmed
  start=''
  pointer trial
  if [ -n "$named" ] && [ "$named" != "$slot" ]; then
    slot=$named on_trial=trial
    program_of "$slot"
    why='has no program'
    if [ -x "$program" ] && ! is_worn_out; then
      if note_start; then return; fi
      why='could not be tried, because the disk takes no changes'
    fi
    give_up
    use_confirmed
  fi
  stay_or_go_back
}
stay_or_go_back() {
  look_whether_on_trial
  # There is nothing before the installed version.
  [ -n "$slot" ] || return 0
  if find_before; then
    if is_worn_out && go_back; then
      use_confirmed
      on_trial=''
      return
    fi
    if [ -z "$on_trial" ]; then
      for old in "$updates/$slot/.starts"/*/; do
        case $old in */"$boot"/) ;; *) rm -rf "$old" ;; esac
      done
    fi
    note_start
  else
    # Counted for ever, the starts of one that crashes would fill the disk.
    rm -rf "$updates/$slot/.starts"
  fi 2>/dev/null
  program_of "$slot"
}

# Within another launcher, which has chosen this version, and counts the starts of `trial` itself.
enter() {
  start='' on_trial=''
  program_of "$slot"
  pointer trial
  if [ -n "$named" ] && [ "$named" = "$slot" ]; then on_trial=trial && return; fi
  stay_or_go_back
  if [ "$slot" != "$HEDGEROW_SLOT" ]; then exit "$again"; fi
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
if [ -z "$within" ] && { [ -z "$is_start" ] || is_beside_another; }; then
  use_confirmed
  exec "$program" "$@"
fi

end_child() {
  kill -TERM "$child"
  sleep "$kill_after_seconds"
  kill -KILL "$child"
  exit
}
# Sleeps in short steps, so that no long `sleep` remains when this is killed, and ends with its launcher.
rest() {
  sleep 1
  kill -0 $$ || exit
  left=$((left - 1))
}
watch_trial() {
  left=$trial_seconds
  # The launcher around this one would leave the hanging version behind.
  if [ -n "$within" ]; then left=$((left * 9 / 10)); fi
  left=$((left - tried))
  while pointer trial && [ "$named" = "$slot" ]; do
    if [ "$left" -le 0 ]; then
      why='sent no heartbeat through the tunnel in time'
      give_up
      end_child
    fi
    rest
  done
  left=$((2 * proving_seconds))
  if [ "$on_trial" = proving ]; then left=$((left - tried)); fi
  while pointer proving && [ "$named" = "$slot" ]; do
    if [ "$left" -le 0 ]; then
      why="was not confirmed within $((2 * proving_seconds / 60)) minutes:"
      why="$why it hangs, crashes, or the hub did not answer it any more"
      go_back && end_child
      exit
    fi
    rest
  done
}

stopped='' child='' on_trial='' started=0 last_slot=none
trap 'stopped=yes; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' HUP INT TERM
while :; do
  if [ -n "$within" ]; then enter; else choose; fi
  # A version that ends and starts again has no more time on trial.
  if [ "$slot" != "$last_slot" ]; then last_slot=$slot tried=0; fi
  began=$(seconds_since_boot)
  HEDGEROW_LAUNCHER=yes HEDGEROW_ROOT=$root HEDGEROW_SLOT=$slot "$program" "$@" &
  child=$!
  watcher=''
  if [ -n "$on_trial" ]; then (watch_trial) 9<&- >/dev/null 2>&1 & watcher=$!; fi
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
  note_end "$code"
  tried=$((tried + $(seconds_since_boot) - began))
  # The launcher of an older installation would start it again without a pause.
  if [ "$code" -eq "$again" ] && [ -z "$is_asked_for" ]; then code=1; fi
  if [ -n "$stopped" ]; then exit "$code"; fi
  if [ "$code" -eq "$again" ]; then
    if [ -n "$within" ]; then exit "$code"; fi
  else
    # After a trial the next round decides; every other end is for the service, or the launcher around this one.
    case $within$on_trial in trial | proving | yesproving) ;; *) exit "$code" ;; esac
  fi
  sleep 2
done
