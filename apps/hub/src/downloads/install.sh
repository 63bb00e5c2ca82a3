#!/bin/sh
# Installs the Hedgerow gateway on this device, or updates it to the version of its hub. It may run again at any time.
# The hub fills in the lines with @, also other scripts; docs/operations/install-gateway.md explains the options.
set -eu
umask 022

HUB_URL=@HUB_URL@
HUB_FINGERPRINT=@HUB_FINGERPRINT@
# SHA-256 of the key of the hub's certificate, where no well-known CA signed it.
HUB_PIN=@HUB_PIN@
VERSION=@VERSION@
# The key that updates must be signed with. It is pinned here; the hub cannot change it later.
ROOT_KEY=@ROOT_KEY@
# One line for each platform: platform, file, SHA-256.
FILES=@FILES@

# The braces make the shell read all of the script before it does anything: a connection may break off in the middle.
{
ROOT=/opt/hedgerow-gateway
DATA=/var/lib/hedgerow-gateway
ETC=/etc/hedgerow
OWN=$ETC/gateway
PACKAGED=/usr/lib/hedgerow-gateway
COMMAND=/usr/local/bin/hedgerow-gateway
UNIT=/etc/systemd/system/hedgerow-gateway.service
PERSON=hedgerow-gateway

usage() {
  cat <<'TEXT'
Usage: install.sh [options]
  --invitation CODE   approves this device without a person, where the hub's rules allow it
  --name NAME         the name the hub shows (this host's name)
  --location TEXT     where the device stands
  --uninstall         removes the program; keys, pictures and settings stay
  --purge             with --uninstall: removes those too; for the hub this is then a new device
TEXT
}

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
# The options of curl for this hub.
pin() { if [ -n "$HUB_PIN" ]; then printf '%s' "--insecure --pinnedpubkey sha256//$HUB_PIN"; fi; }

invitation='' name='' location='' uninstall='' purge=''
parse() {
  while [ $# -gt 0 ]; do
    case $1 in
      --invitation | --name | --location)
        [ $# -ge 2 ] || fail "$1 needs a value."
        case $2 in
          *'
'*) fail "$1 must be one line." ;;
        esac
        case $1 in --invitation) invitation=$2 ;; --name) name=$2 ;; --location) location=$2 ;; esac
        shift 2
        ;;
      --uninstall) uninstall=1 && shift ;;
      --purge) purge=1 && shift ;;
      --help) usage && exit 0 ;;
      *) usage >&2 && exit 2 ;;
    esac
  done
}
parse "$@"

if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 || fail "only root can do this: become root (su -), and run the line again."
  say "Only root can do this: sudo may ask for your password."
  # This process has read its own text, and cannot hand it on.
  # shellcheck disable=SC2046 # the words of the pin
  script=$(curl -fsSL $(pin) "$HUB_URL/install.sh") || fail "$HUB_URL/install.sh could not be fetched."
  # sudo passes no variables on.
  proxy=${https_proxy:-${HTTPS_PROXY:-}}
  printf '%s\n' "$script" | sudo ${proxy:+"https_proxy=$proxy"} sh -s -- "$@"
  exit
fi
has_systemd() { [ -d /run/systemd/system ]; }

if [ -n "$uninstall" ]; then
  [ -z "$purge" ] || [ ! -e "$PACKAGED" ] ||
    fail "the package hedgerow-gateway uses the same data: apt-get purge hedgerow-gateway."
  if has_systemd; then systemctl disable --now hedgerow-gateway 2>/dev/null || true; fi
  rm -rf "$ROOT" "$COMMAND" "$UNIT"
  if has_systemd; then systemctl daemon-reload; fi
  if [ -n "$purge" ]; then
    rm -rf "$DATA" "$ETC/gateway.env" "$ETC/gateway.yaml" "$OWN"
    rmdir "$ETC" 2>/dev/null || true
    if id "$PERSON" >/dev/null 2>&1; then userdel "$PERSON"; fi
    say "The gateway and all its data are removed."
  else
    say "The gateway is removed. Its keys are in $DATA and its settings in $ETC; --uninstall --purge removes them."
  fi
  exit 0
fi

[ ! -e "$PACKAGED" ] ||
  fail "the package hedgerow-gateway is installed. Remove it first; keys and settings stay: \
apt-get remove hedgerow-gateway"
case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) fail "there is no gateway for $(uname -s) on $(uname -m): it needs Linux on x86_64 or aarch64." ;;
esac
# Raspberry Pi OS of 32 bits has a kernel of 64 bits.
[ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] ||
  fail "this system is of 32 bits: the gateway needs one of 64 bits."
line=$(printf '%s\n' "$FILES" | grep "^$platform ") || fail "the hub has no gateway for $platform."
file=$(printf '%s' "$line" | cut -d ' ' -f 2)
sum=$(printf '%s' "$line" | cut -d ' ' -f 3)

install_packages() {
  say "Installing with apt-get: $*"
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

missing=''
for tool in curl tar xz sha256sum useradd setpriv runuser; do
  command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1; then
  install_packages curl ca-certificates tar xz-utils coreutils passwd util-linux
  missing=''
fi
[ -z "$missing" ] || fail "this device lacks:$missing"

# Goes on where a connection broke off, and waits for its turn. Shows a bar at a terminal.
fetch() {
  shown=--silent
  [ ! -t 2 ] || shown=--progress-bar
  pause=2
  waited=0
  while :; do
    code=0
    status=$(
      # shellcheck disable=SC2046 # the words of the pin
      curl -fSL "$shown" $(pin) --speed-limit 1 --speed-time 60 --continue-at - -w '%{http_code}' -o "$2" "$1"
    ) || code=$?
    case $code-$status in
      0-*) return ;;
      # A hub serves so many devices of one address at once; a site may have more.
      22-408 | 22-429 | 22-5*)
        [ "$waited" -lt 1200 ] || return 22
        [ "$waited" != 0 ] || say "The hub is busy (status $status). Waiting for a turn, for 20 minutes at most."
        waited=$((waited + 10))
        sleep 10
        continue
        ;;
      # No name, no connection, a part of the file, too slow, or an end without an answer.
      6-* | 7-* | 18-* | 28-* | 35-* | 52-* | 55-* | 56-*) ;;
      # Something between here and the hub cannot continue.
      33-*) rm -f "$2" ;;
      *) return "$code" ;;
    esac
    [ "$pause" -le 32 ] || return "$code"
    sleep "$pause"
    pause=$((pause * 2))
  done
}

# Writes a file whole or not at all, and never into one that is there.
put() {
  written=$(mktemp "$1.XXXXXX")
  # A full disk prevents one of these.
  cat >"$written" && chmod "$2" "$written" && mv -fT "$written" "$1" && return
  rm -f "$written"
  return 1
}

@settings-folder.sh@

trap 'exit 1' HUP INT TERM
# A version is complete in its folder or not there at all.
mkdir -p "$ROOT/versions"
if [ ! -d "$ROOT/versions/$VERSION" ]; then
  new=$ROOT/.new
  rm -rf "$new"
  mkdir "$new"
  trap 'rm -rf "$new"' EXIT
  say "Fetching $file from $HUB_URL"
  fetch "$HUB_URL/downloads/$file" "$new/$file" || fail "$HUB_URL/downloads/$file could not be fetched."
  printf '%s  %s\n' "$sum" "$new/$file" | sha256sum --check --status ||
    fail "$file does not have the hash that the hub sent. Nothing was changed."
  mkdir "$new/version"
  # On a full disk tar says so for every file.
  errors=$(tar -xf "$new/$file" -C "$new/version" --strip-components=1 --no-same-owner 2>&1) ||
    fail "$file could not be unpacked: $(printf '%s\n' "$errors" | head -n 1). Nothing was changed."
  rm "$new/$file"
  # A minimal system lacks libraries that Node needs.
  runs() { "$new/version/bin/hedgerow-gateway" --help >/dev/null 2>"$new/errors"; }
  if ! runs && grep -q 'shared librar' "$new/errors" && command -v apt-get >/dev/null 2>&1; then
    install_packages libatomic1 libstdc++6 || true
  fi
  runs || fail "version $VERSION does not run on this device: $(tail -n 1 "$new/errors") Nothing was changed."
  mv "$new/version" "$ROOT/versions/$VERSION"
  rm -rf "$new"
fi
trap '[ "$?" = 0 ] || say "install.sh: not finished. It may run again." >&2' EXIT

id "$PERSON" >/dev/null 2>&1 ||
  useradd --system --user-group --home-dir "$DATA" --no-create-home --shell /usr/sbin/nologin "$PERSON"
# Devices that deterrents and decoders use, where the system has groups for them.
for group in gpio video render; do
  if getent group "$group" >/dev/null; then usermod --append --groups "$group" "$PERSON"; fi
done
mkdir -p "$DATA"
chown "$PERSON:$PERSON" "$DATA"
chmod 0700 "$DATA"
close_settings_folder

# Lines that people added stay.
settings=$ETC/gateway.env
[ -e "$settings" ] || put "$settings" 0600 </dev/null
set_line() {
  # What has a meaning within double quotes.
  escaped=$(printf '%s' "$2" | sed 's/["\\$`]/\\&/g')
  kept=$(grep -v "^$1=" "$settings" || true)
  printf '%s\n' ${kept:+"$kept"} "$1=\"$escaped\"" | put "$settings" 0600
}
set_line GATEWAY_HUB_URL "$HUB_URL"
set_line GATEWAY_HUB_FINGERPRINT "$HUB_FINGERPRINT"
if [ -n "$invitation" ]; then set_line GATEWAY_INVITATION_CODE "$invitation"; fi
if [ -n "$name" ]; then set_line GATEWAY_NAME "$name"; fi
if [ -n "$location" ]; then set_line GATEWAY_LOCATION "$location"; fi

# The program that starts the gateway, and the key of its updates: docs/operations/updates.md.
launcher=$ROOT/versions/$VERSION/lib/apps/gateway/src/update/launch.sh
program=$ROOT/current/bin/hedgerow-gateway
if [ -f "$launcher" ]; then
  put "$ROOT/launch" 0755 <"$launcher"
  program=$ROOT/launch
fi
if [ -n "$ROOT_KEY" ]; then printf '%s\n' "$ROOT_KEY" | put "$ROOT/root.pub" 0644; fi

put "$ROOT/as-user" 0755 <<'TEXT'
@as-user.sh@
TEXT
put "$COMMAND" 0755 <<TEXT
#!/bin/sh
# Commands of the gateway, with its settings and as its user.
[ "\$(id -u)" = 0 ] || { echo "hedgerow-gateway: run it as root" >&2; exit 1; }
export GATEWAY_DATA_DIR=$DATA GATEWAY_CONFIG=$OWN/gateway.yaml HOME=$DATA
exec $ROOT/as-user $PERSON $settings $program "\$@"
TEXT

put "$UNIT" 0644 <<TEXT
[Unit]
Description=Hedgerow gateway
Wants=network-online.target
After=network-online.target

[Service]
User=$PERSON
WorkingDirectory=$DATA
Environment=GATEWAY_DATA_DIR=$DATA GATEWAY_CONFIG=$OWN/gateway.yaml
Environment=NODE_COMPILE_CACHE=$DATA/compile-cache
EnvironmentFile=$settings
ExecStart=$program
Restart=always
RestartSec=5
# How long the supervisor of the deterrents may go on switching off. The next start goes on with it.
TimeoutStopSec=30
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ReadWritePaths=$DATA $OWN $ROOT/updates
ProtectHome=yes
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
TEXT

before=$(readlink "$ROOT/current" || true)
# Renames the link, so that there is a current version at every moment.
ln -sfn "versions/$VERSION" "$ROOT/.current"
mv -fT "$ROOT/.current" "$ROOT/current"
# Removes earlier updates, so that the installed version starts. The gateway itself writes later updates here. It may go
# on writing into the old folder, which must not prevent this.
if [ -e "$ROOT/updates" ]; then mv "$ROOT/updates" "$(mktemp -d "$ROOT/.updates.XXXXXX")"; fi
mkdir "$ROOT/updates"
chown "$PERSON:$PERSON" "$ROOT/updates"
rm -rf "$ROOT"/.updates.* || true
[ -e "$OWN/gateway.yaml" ] || "$COMMAND" init </dev/null
# Keeps the previous version as a way back, and removes older ones.
for old in "$ROOT"/versions/*/; do
  old=versions/$(basename "$old")
  [ "$old" = "versions/$VERSION" ] || [ "$old" = "$before" ] || rm -rf "${ROOT:?}/$old"
done

if has_systemd; then
  systemctl daemon-reload
  systemctl enable --quiet hedgerow-gateway
  systemctl restart hedgerow-gateway
  say "Version $VERSION is running. It finds $HUB_URL by itself; compare the fingerprint in the hub with the one of:"
  say "  hedgerow-gateway status"
else
  say "Version $VERSION is installed. This system has no systemd: start $COMMAND yourself."
fi
exit
}
