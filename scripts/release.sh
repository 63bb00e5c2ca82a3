#!/bin/sh
# Installs, upgrades and rolls back a hub: each version in a folder of its own, and a link to the one that runs.
#   ROOT/releases/VERSION   whole versions, with their own Node
#   ROOT/current            the link that systemd, people and commands use
#   ROOT/previous           the version that `back` returns to, and the backup that was made before it was replaced
#   ROOT/former             `previous` from before an upgrade, until that has succeeded
#   ROOT/switching          the version that is being switched to; what finds it finishes that first
# docs/operations/upgrade.md explains each command; test/system/upgrade.test.ts follows that page.
set -eu
umask 022

usage() {
  cat <<'TEXT'
Usage: release.sh install SOURCE   install a version beside the others; the first one becomes the current one
       release.sh upgrade SOURCE   install, back up, switch and start; return to the old version if it does not start
       release.sh update [FOLDER]  upgrade to the newest signed release, if there is a newer one
       release.sh back             return to the previous version; restore the backup if the database has changed
       release.sh list             list the installed versions

SOURCE is an archive of a release (.tar.xz), a Git address or folder, with #NAME for a branch or tag, or an archive of
the sources (.tar.gz). FOLDER contains a release; without it, the release comes from HUB_UPDATES_URL.

ROOT/release.conf (shell) or the environment may set:
  HEDGEROW_ROOT     /opt/hedgerow
  HEDGEROW_SETTINGS /etc/hedgerow/hub.env, where `update` reads HUB_UPDATES_URL and HUB_UPDATES_KEY
  HEDGEROW_STOP     systemctl stop hedgerow
  HEDGEROW_START    systemctl start hedgerow
  HEDGEROW_HUB      the command that runs hub commands: /usr/local/sbin/hedgerow, or else the current version itself
  HEDGEROW_READY    http://127.0.0.1:8080/readyz
  HEDGEROW_READY_SECONDS  60, how long a new version may take to answer there
  HEDGEROW_BACKUPS  /var/backups/hedgerow
TEXT
}

say() { printf '%s\n' "$*"; }
fail() {
  printf 'release: %s\n' "$*" >&2
  exit 1
}

root=${HEDGEROW_ROOT:-/opt/hedgerow}
# Root would run what another user has written there.
for owned in "$root" "$root/release.conf"; do
  if [ -e "$owned" ] && ! [ -O "$owned" ]; then
    fail "$owned belongs to another user: run this as that user, or give it to the user who runs this."
  fi
done
if [ -f "$root/release.conf" ]; then . "$root/release.conf"; fi
backups=${HEDGEROW_BACKUPS:-/var/backups/hedgerow}
ready=${HEDGEROW_READY:-http://127.0.0.1:8080/readyz}
ready_seconds=${HEDGEROW_READY_SECONDS:-60}
settings=${HEDGEROW_SETTINGS:-/etc/hedgerow/hub.env}
releases_kept=3

# Only one release.sh may run: two would switch the same link. The lock ends with this process, however it ends.
lock() {
  command -v flock >/dev/null || fail "this needs flock, of util-linux."
  mkdir -p "$root/releases"
  exec 9>"$root/.lock"
  flock --nonblock 9 || fail "another release.sh is running."
  unfinished=$root/releases/.unfinished
  fetched=$root/releases/.fetched
  rm -rf "$unfinished" "$fetched"
  # Of an upgrade that was interrupted before it began to switch.
  [ -f "$root/switching" ] || rm -f "$root/former"
  trap 'rm -rf "$unfinished" "$fetched"' EXIT
  trap 'exit 1' HUP INT TERM
}

hub() {
  if [ -n "${HEDGEROW_HUB:-}" ]; then
    sh -c "$HEDGEROW_HUB \"\$@\"" hub "$@"
  elif [ -x /usr/local/sbin/hedgerow ]; then
    /usr/local/sbin/hedgerow "$@"
  else
    run "$root/current" "$@"
  fi
}

# A version is an archive of a release, or sources with their packages. Both bring their own Node.
run() {
  at=$1
  shift
  if [ -x "$at/bin/hedgerow-hub" ]; then
    "$at/bin/hedgerow-hub" "$@"
  else
    (cd "$at" && exec "$(node_of "$at")" apps/hub/src/main.ts "$@")
  fi
}
# npm up to version 10 makes no link to it in node_modules/.bin.
node_of() {
  for node in "$1"/bin/node "$1"/node_modules/node-*-*/bin/node; do
    if [ -x "$node" ]; then say "$node" && return; fi
  done
  fail "$1 has no Node: npm could not install it."
}

current_version() { basename "$(readlink "$root/current" 2>/dev/null || say none)"; }

# On a full disk tar says so for every file.
unpack() {
  errors=$(tar -x -f "$@" -C "$unfinished" --no-same-owner 2>&1) ||
    fail "$1 could not be unpacked: $(say "$errors" | head -n 1). Nothing was changed."
}

# Leaves the source in $unfinished and its name in $version.
fetch() {
  say "Fetching $1."
  case $1 in
    *.tar | *.tar.xz)
      mkdir "$unfinished"
      unpack "$1" --strip-components=1
      version=$(sed -n 's/.*"version":"\([^"/]*\)".*/\1/p' "$unfinished/version.json" 2>/dev/null || true)
      [ -n "$version" ] && [ -x "$unfinished/bin/hedgerow-hub" ] || fail "$1 is not an archive of the hub."
      return
      ;;
    *.tar.gz | *.tgz)
      mkdir "$unfinished"
      unpack "$1" --gzip
      if [ ! -f "$unfinished/package.json" ]; then
        mv "$unfinished" "$unfinished.outer"
        mv "$unfinished.outer"/* "$unfinished" 2>/dev/null || true
        rm -rf "$unfinished.outer"
      fi
      version=$(basename "$1" | sed 's/\.tar\.gz$//; s/\.tgz$//')
      ;;
    *)
      name=
      address=$1
      case $1 in *'#'*) name=${1##*#} address=${1%#*} ;; esac
      git -c advice.detachedHead=false clone --quiet ${name:+--branch "$name"} -- "$address" "$unfinished" ||
        fail "$1 could not be fetched."
      version=$(git -C "$unfinished" describe --tags --always | tr / -)
      ;;
  esac
  [ -f "$unfinished/package-lock.json" ] || fail "$1 is not this project: it has no package-lock.json."
}

# Creates releases/$version, complete or not at all.
install_version() {
  fetch "$1"
  if [ -d "$root/releases/$version" ]; then
    say "Version $version is already installed."
    rm -rf "$unfinished"
    return
  fi
  say "Installing version $version; the hub keeps running."
  if [ -f "$unfinished/package-lock.json" ]; then
    (cd "$unfinished" && npm ci && npm run --silent build) ||
      fail "version $version could not be installed. Nothing was switched."
  fi
  # npm does not report an optional package that it could not fetch, and Node is one.
  run "$unfinished" --help >/dev/null || fail "version $version does not start. Nothing was switched."
  mv "$unfinished" "$root/releases/$version"
}

# Renames the link, so that there is a current version at every moment. A full disk is found before the hub is stopped.
prepare_switch() {
  rm -f "$root/.current"
  ln -s "releases/$1" "$root/.current"
}
switch() { mv -fT "$root/.current" "$root/current"; }

stop_hub() {
  sh -c "${HEDGEROW_STOP:-systemctl stop hedgerow}" 9>&- || fail "the hub could not be stopped (HEDGEROW_STOP)."
  if is_ready 0; then fail "a hub still answers on $ready after HEDGEROW_STOP. Nothing was switched."; fi
}
# The hub does not inherit the lock.
start_hub() {
  sh -c "${HEDGEROW_START:-systemctl start hedgerow}" 9>&- ||
    say "The command that starts the hub failed (HEDGEROW_START)."
}

# Waits until a hub answers that it is ready, for $1 seconds at most.
is_ready() {
  "$(node_of "$root/current")" -e '
    const [address, seconds] = process.argv.slice(1)
    const end = Date.now() + seconds * 1000
    const ask = async () => {
      const answer = await fetch(address, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
      if (answer?.ok) process.exit(0)
      if (Date.now() > end) process.exit(1)
      setTimeout(ask, 100)
    }
    ask()' "$ready" "${1:-$ready_seconds}"
}

make_backup() {
  if [ ! -d "$backups" ]; then
    mkdir -p -m 700 "$backups"
    if [ "$(id -u)" = 0 ] && id hedgerow >/dev/null 2>&1; then chown hedgerow "$backups"; fi
  fi
  backup=$backups/$1-$(date +%Y%m%d-%H%M%S)
  hub backup "$backup"
}

# Removes old versions, except the current one, the one that `back` returns to, and the newest few.
prune() {
  way_back=$(sed -n 1p "$root/previous" 2>/dev/null || true)
  ls -1t "$root/releases" | tail -n "+$((releases_kept + 1))" | while read -r old; do
    if [ "$old" = "$(current_version)" ] || [ "$old" = "$way_back" ]; then continue; fi
    say "Removing version $old."
    rm -rf "${root:?}/releases/$old"
  done
}

go_back() {
  leaving=$(current_version)
  previous=$(sed -n 1p "$root/previous")
  copy=$(sed -n 2p "$root/previous")
  [ -d "$root/releases/$previous" ] || fail "version $previous is no longer installed."
  prepare_switch "$previous"
  say "Stopping version $leaving and starting version $previous."
  stop_hub
  # Keeps what was written since the upgrade, if the database can be read at all.
  make_backup "left-$leaving" || say "The database of version $leaving could not be backed up."
  switch
  if hub doctor | grep 'of a newer hub' >/dev/null; then
    say "Version $leaving has changed the database: the backup from before the upgrade is restored."
    if ! hub restore "$copy"; then
      prepare_switch "$leaving"
      switch
      start_hub
      fail "the backup could not be restored. Version $leaving is started again."
    fi
  fi
  start_hub
  # After an upgrade that failed, the way back is the one from before it.
  if [ -f "$root/former" ]; then mv -f "$root/former" "$root/previous"; else rm -f "$root/previous"; fi
  rm -f "$root/switching"
  is_ready 120 || fail "version $previous does not answer on $ready. See its log."
  say "Version $previous is running."
}

upgrade() {
  old=$(current_version)
  install_version "$1"
  [ "$version" != "$old" ] || { say "Version $version is already the current one."; return; }
  say "Backing up the database."
  make_backup "before-$version" || fail "the backup failed. Nothing was switched."
  prepare_switch "$version"
  printf '%s\n%s\n' "$old" "$backup" >"$root/.previous"
  say "$version" >"$root/.switching"
  if [ -f "$root/previous" ]; then cp "$root/previous" "$root/.former" && mv -f "$root/.former" "$root/former"; fi
  mv -f "$root/.previous" "$root/previous"
  mv -f "$root/.switching" "$root/switching"
  finish_upgrade
  prune
}

# From here on the hub may be down, so whatever ends this script, its next run begins here. Each step may be repeated.
finish_upgrade() {
  version=$(cat "$root/switching")
  old=$(sed -n 1p "$root/previous")
  stopped_at=$(date +%s)
  say "Stopping the hub and starting version $version, which has $ready_seconds s to answer on $ready."
  stop_hub
  if [ "$(current_version)" != "$version" ]; then switch; fi
  start_hub
  if is_ready; then
    rm -f "$root/switching" "$root/former"
    say "Version $version is running. The hub was down for $(($(date +%s) - stopped_at)) s."
  else
    say "Version $version does not answer on $ready: returning to version $old."
    go_back
    exit 1
  fi
}

finish_what_was_interrupted() {
  [ -f "$root/switching" ] || return 0
  say "The upgrade to version $(cat "$root/switching") was interrupted. It is finished first."
  prepare_switch "$(cat "$root/switching")"
  finish_upgrade
}

# Reads a variable of the hub's settings, which are not a shell script.
setting() { sed -n "s/^$1=[\"']\{0,1\}\([^\"']*\)[\"']\{0,1\}\$/\1/p" "$settings" 2>/dev/null | tail -n 1; }

# Leaves the archive of the newest release in $file, empty when there is no newer one. The version that runs checks its
# signatures, with the root key that came with it.
fetch_update() {
  [ -x "$root/current/bin/hedgerow-hub" ] ||
    fail "$root/current is not an archive of a release: use upgrade with an address."
  address=${HUB_UPDATES_URL:-$(setting HUB_UPDATES_URL)}
  [ -z "$1" ] || address=file://$(cd "$1" && pwd)
  key=${HUB_UPDATES_KEY:-$(setting HUB_UPDATES_KEY)}
  mkdir "$fetched"
  # What was seen of releases is kept in $root, where the hub may make no traps.
  file=$(HUB_DATA_DIR=$root HUB_UPDATES_URL=$address HUB_UPDATES_KEY=$key \
    run "$root/current" fetch-update "$fetched") ||
    fail "no release could be fetched. Nothing was changed."
}

case ${1:-} in
  install)
    [ $# = 2 ] || { usage >&2; exit 2; }
    lock
    install_version "$2"
    if [ ! -e "$root/current" ]; then prepare_switch "$version" && switch; fi
    say "Version $version is in $root/releases/$version; the current one is $(current_version)."
    ;;
  upgrade)
    [ $# = 2 ] || { usage >&2; exit 2; }
    [ -e "$root/current" ] || fail "there is no $root/current to upgrade. Use install."
    lock
    finish_what_was_interrupted
    upgrade "$2"
    ;;
  update)
    [ $# -le 2 ] || { usage >&2; exit 2; }
    lock
    finish_what_was_interrupted
    fetch_update "${2:-}"
    if [ -n "$file" ]; then upgrade "$file"; else say "Version $(current_version) is the newest."; fi
    ;;
  back)
    [ -f "$root/previous" ] || fail "there is no version to go back to."
    lock
    go_back
    ;;
  list)
    for release in "$root"/releases/*/; do
      [ -d "$release" ] || continue
      name=$(basename "$release")
      [ "$name" = "$(current_version)" ] && say "$name (current)" || say "$name"
    done
    ;;
  *)
    usage
    [ $# = 0 ] || exit 2
    ;;
esac
