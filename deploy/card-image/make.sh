#!/bin/sh
# Makes the image of a card on which a gateway starts and joins by itself: docs/operations/raspberry-pi.md.
set -eu

usage() {
  cat <<'TEXT'
Usage: make.sh [options] PACKAGE IMAGE
  PACKAGE            hedgerow-gateway_VERSION_arm64.deb, of a release
  IMAGE              the file to write, such as card.img
  --suite NAME       of Debian (trixie)
  --mirror URL       (Debian's own, with its security updates)
  --megabytes N      of the whole image (7500, for a card of 8 GB)
  --root-only        IMAGE is a tar of the root, without kernel, firmware and partitions
TEXT
}
fail() {
  printf 'make.sh: %s\n' "$*" >&2
  exit 1
}

suite=trixie mirror='' megabytes=7500 root_only=''
while [ $# -gt 0 ]; do
  case $1 in
    --suite | --mirror | --megabytes)
      [ $# -ge 2 ] || fail "$1 needs a value."
      case $1 in --suite) suite=$2 ;; --mirror) mirror=$2 ;; --megabytes) megabytes=$2 ;; esac
      shift 2
      ;;
    --root-only) root_only=1 && shift ;;
    --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
done
[ $# = 2 ] || { usage >&2 && exit 2; }
package=$1 image=$2
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$package" ] || fail "$package is not there."
[ "$(id -u)" = 0 ] || fail "only root can do this."
architecture=$(dpkg-deb --field "$package" Architecture)
[ "$(dpkg-deb --field "$package" Package)" = hedgerow-gateway ] || fail "$package is not a hedgerow-gateway."
[ -n "$root_only" ] || [ "$architecture" = arm64 ] || fail "a card for a Raspberry Pi needs a package of arm64."

missing=''
for tool in mmdebstrap tar; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
if [ -z "$root_only" ]; then
  for tool in mkfs.vfat mcopy mkfs.ext4 sfdisk; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
fi
[ -z "$missing" ] || fail "missing:$missing. Debian has them in mmdebstrap, dosfstools, mtools, e2fsprogs and fdisk."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root.tar
components=main
# The last line is what the package needs: nothing is fetched after the first step.
packages=systemd,systemd-sysv,systemd-resolved,systemd-timesyncd,udev,dbus,ca-certificates,ffmpeg
packages=$packages,libatomic1,libgcc-s1,libstdc++6,passwd
if [ -z "$root_only" ]; then
  components=main,non-free-firmware
  packages=$packages,linux-image-arm64,raspi-firmware,firmware-brcm80211
fi

# Runs in the new system; $1 is its root.
cat >"$work/customize" <<'TEXT'
#!/bin/sh
set -eu
echo hedgerow >"$1/etc/hostname"
printf '127.0.0.1 localhost\n127.0.1.1 hedgerow\n' >"$1/etc/hosts"
printf '[Match]\nName=en* eth* end*\n\n[Network]\nDHCP=yes\n' >"$1/etc/systemd/network/50-cable.network"
cat >"$1/etc/fstab" <<'FSTAB'
LABEL=hedgerow / ext4 defaults,noatime 0 1
LABEL=BOOT /boot/firmware vfat defaults,noatime,umask=0077 0 2
FSTAB
mkdir -p "$1/boot/firmware"
chroot "$1" systemctl --quiet enable systemd-networkd systemd-timesyncd hedgerow-first-boot
# Nobody signs in at the device: its own interface has a password, and the hub's Connect needs none.
chroot "$1" passwd --quiet --lock root
# Each card gets an identity of its own at its first start.
: >"$1/etc/machine-id"
rm -rf "$1"/var/lib/hedgerow-gateway/* "$1/var/lib/dbus/machine-id"
TEXT
chmod 755 "$work/customize"

mkdir -p "$work/tree/usr/lib/hedgerow-card" "$work/tree/etc/systemd/system"
install -m 755 "$here/first-boot" "$work/tree/usr/lib/hedgerow-card/first-boot"
install -m 644 "$here/hedgerow-first-boot.service" "$work/tree/etc/systemd/system/hedgerow-first-boot.service"
cp "$package" "$work/gateway.deb"
# shellcheck disable=SC2016 # "$1" is mmdebstrap's own
mmdebstrap --variant=minbase --architectures="$architecture" --components="$components" --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --aptopt='Acquire::Retries "3"' \
  --customize-hook="copy-in $work/tree/usr $work/tree/etc /" \
  --customize-hook="upload $work/gateway.deb /tmp/gateway.deb" \
  --customize-hook='chroot "$1" dpkg --install /tmp/gateway.deb' \
  --customize-hook='rm "$1/tmp/gateway.deb"' \
  --customize-hook="$work/customize \"\$1\"" \
  "$suite" "$root" ${mirror:+"$mirror"}

if [ -n "$root_only" ]; then
  mv "$root" "$image"
  exit
fi

boot_megabytes=256
mkdir "$work/root"
tar -C "$work/root" --numeric-owner -xf "$root"
truncate -s "${boot_megabytes}M" "$work/boot"
mkfs.vfat -F 32 -n BOOT "$work/boot" >/dev/null
# The firmware, the kernel and its command line are on the first partition.
sed -i 's|root=[^ ]*|root=LABEL=hedgerow|' "$work/root/boot/firmware/cmdline.txt"
(cd "$work/root/boot/firmware" && mcopy -s -i "$work/boot" ./* ::)
find "$work/root/boot/firmware" -mindepth 1 -delete
truncate -s "$((megabytes - boot_megabytes - 4))M" "$work/system"
mkfs.ext4 -q -L hedgerow -d "$work/root" "$work/system"
truncate -s "${megabytes}M" "$work/image"
printf 'label: dos\nstart=8192, size=%s, type=c, bootable\nstart=%s, type=83\n' \
  "$((boot_megabytes * 2048))" "$((8192 + boot_megabytes * 2048))" | sfdisk --quiet "$work/image"
dd if="$work/boot" of="$work/image" bs=1M seek=4 conv=notrunc,sparse status=none
dd if="$work/system" of="$work/image" bs=1M seek="$((4 + boot_megabytes))" conv=notrunc,sparse status=none
mv "$work/image" "$image"
