# Makes /etc/hedgerow root's alone, because root reads settings there. Up to version 0.1.0 the gateway could write in it
# and kept gateway.yaml there. That file moves to a folder of the gateway's own; its old path stays as a link. A run
# that breaks off leaves a whole state for the next.
close_settings_folder() (
  etc=/etc/hedgerow
  person=hedgerow-gateway
  own=$etc/gateway
  yaml=$etc/gateway.yaml
  umask 022
  mkdir -p "$etc"
  was_open=$(find "$etc" -maxdepth 0 -group "$person" 2>/dev/null || true)
  chown root:root "$etc"
  chmod 0755 "$etc"
  # From here on nobody else adds, renames or replaces anything in it; what was there before may still be a trap.
  is_there() { [ -e "$1" ] || [ -L "$1" ]; }
  # Root has made the link too, if it is one: whoever made it may say later where it leads.
  is_of_root() {
    [ -n "$(find "$1" -prune -user root 2>/dev/null)" ] &&
      [ -n "$(find -L "$1" -prune -user root -type f ! -perm -002 \( ! -perm -020 -o -group root \) 2>/dev/null)" ]
  }
  # Another name of the file could be one of the system's.
  is_only_name() { [ -n "$(find "$1" -prune -type f -user root -links 1 2>/dev/null)" ]; }
  is_link() { [ "$(readlink "$yaml")" = gateway/gateway.yaml ]; }
  set_aside() {
    aside=$(mktemp -d "$etc/refused.XXXXXX")
    mv "$1" "$aside"
    printf '%s\n' "$1 $2: it is in $aside now, and nothing reads it." >&2
  }
  for entry in "$etc/hub.env" "$etc/gateway.env"; do
    if is_there "$entry" && ! is_of_root "$entry"; then set_aside "$entry" 'was not made by root'; fi
    # It may hold passwords.
    if is_only_name "$entry"; then chmod o= "$entry"; fi
  done
  id "$person" >/dev/null 2>&1 || return 0
  # Until now the mode of the folder kept these from other users.
  if [ -n "$was_open" ]; then
    for entry in "$etc"/*; do
      if is_only_name "$entry" && [ -n "$(find "$entry" -prune -perm -o=r)" ]; then
        chgrp "$person" "$entry"
        chmod g+r,o= "$entry"
      fi
    done
  fi

  if is_there "$own"; then
    if [ -L "$own" ] || [ ! -d "$own" ] || { [ -n "$was_open" ] && ! is_link; }; then
      set_aside "$own" 'was not made by an installation'
    fi
  fi
  if [ ! -d "$own" ]; then
    rm -rf "$etc"/.gateway.*
    new=$(mktemp -d "$etc/.gateway.XXXXXX")
    if [ -f "$yaml" ] && ! is_link; then
      ln -P "$yaml" "$new/gateway.yaml"
      # A path that `!file` names may be relative to gateway.yaml.
      for entry in "$etc"/*; do
        case ${entry##*/} in *.env | gateway.yaml | refused.*) ;; *) ln -s "../${entry##*/}" "$new" ;; esac
      done
    fi
    mv -T "$new" "$own"
  fi
  chown "$person:$person" "$own"
  chmod 0700 "$own"
  if is_there "$yaml" && ! is_link && [ -z "$(find "$yaml" -prune -samefile "$own/gateway.yaml" 2>/dev/null)" ]; then
    set_aside "$yaml" "is not the file of the gateway, $own/gateway.yaml"
  fi
  if ! is_link; then
    ln -sfT gateway/gateway.yaml "$etc/.gateway.yaml"
    mv -fT "$etc/.gateway.yaml" "$yaml"
  fi
)
