#!/bin/sh
# as-user USER SETTINGS PROGRAM [ARGUMENT …]: root runs a program as USER, with the variables of the file SETTINGS.
# Somebody may have broken into the program: it gets no privileges and no hold of root's terminal. The file is parsed,
# never sourced, as systemd parses it for the unit. docs/decisions/055-what-root-reads-is-roots.md
# shellcheck disable=SC2086 # words
set -eu

# Exports the variables of standard input, an EnvironmentFile of systemd.exec(5), whose names have the pattern $1.
read_settings() {
  _names=$1
  shift
  _newline='
'
  _ends=$_newline$(printf '\r')
  _state=start _name='' _value='' _more=yes
  # White space that counts only when more follows it.
  _pending=''
  while [ -n "$_more" ]; do
    if IFS= read -r _line; then _line=$_line$_newline; else _more=''; fi
    while :; do
      if [ -n "$_line" ]; then
        _char=${_line%"${_line#?}"}
        _line=${_line#?}
        case $_char in
          ' ' | '	') _kind=blank ;;
          *) case $_ends in *"$_char"*) _kind=end ;; *) _kind=text ;; esac ;;
        esac
      elif [ -n "$_more" ]; then
        break
      else
        _char='' _kind=last
      fi
      case $_state/$_kind/$_char in
        start/text/[\#\;]) _state=comment ;;
        start/text/*) _state=name _name=$_char _pending='' ;;
        comment/end/* | name/end/*) _state=start ;;
        start/* | comment/* | name/last/*) ;;
        name/text/=) _state=before _value='' _pending='' ;;
        name/text/*) _name=$_name$_pending$_char _pending='' ;;
        before/end/* | value/end/* | */last/*) _state=whole ;;
        name/blank/* | value/blank/*) _pending=$_pending$_char ;;
        before/blank/*) ;;
        before/text/\') _state=single ;;
        before/text/\") _state=double ;;
        before/text/\\ | value/text/\\) _state=escape _value=$_value$_pending _pending='' ;;
        before/text/* | value/text/*) _state=value _value=$_value$_pending$_char _pending='' ;;
        escape/end/*) _state=value ;;
        escape/*) _state=value _value=$_value$_char ;;
        single/text/\' | double/text/\") _state=before ;;
        double/text/\\) _state=double-escape ;;
        double-escape/text/[\"\\\`\$]) _state=double _value=$_value$_char ;;
        double-escape/*) _state=double && [ "$_char" = "$_newline" ] || _value=$_value\\$_char ;;
        *) _value=$_value$_char ;;
      esac
      if [ "$_state" = whole ]; then
        _state=start
        # shellcheck disable=SC2254 # a pattern
        case $_name in
          '' | [0-9]* | *[!A-Za-z0-9_]*)
            echo "A line of the settings names no variable: ${_name%%[!A-Za-z0-9_ ]*}" >&2
            ;;
          $_names) set -- "$@" "$_name=$_value" ;;
        esac
      fi
      [ "$_kind" != last ] || break
    done
  done
  # Only now, because a variable may have the name of one that this function uses.
  for _line; do export "${_line?}"; done
}

if [ "$1" = --inside ]; then
  names=$2 kept=$3
  shift 3
  read_settings "$names" <&3
  exec 3<&-
  case $kept in *0*) exec 0<&4 4<&- ;; esac
  case $kept in *1*) exec 1>&5 5>&- ;; esac
  case $kept in *2*) exec 2>&6 6>&- ;; esac
  exec "$@"
fi

user=$1 settings=$2
shift 2
exec 3</dev/null
if [ -e "$settings" ]; then
  # Who made a link may say at any time where it leads. What counts of the file is what was opened.
  if [ -f "$settings" ] && [ -n "$(find "$settings" -prune -user root)" ]; then exec 3<"$settings"; fi
  case $(stat -c '%u %g %A' - <&3) in
    '0 0 -'???????-? | '0 '*' -'????-??-?) ;;
    *)
      echo "$settings must be a file that only root can write: see who owns it, and what is in it." \
        "Nothing was started." >&2
      exit 1
      ;;
  esac
fi
cd /

# Of the settings, root itself needs the hub's only.
if [ "$user" = root ]; then exec "$0" --inside 'HUB_*' '' "$@"; fi

rights='--inh-caps=-all --no-new-privs'
user_of="--reuid=$user --regid=$user --init-groups"
# The terminal of this process, from which a program could take root's input, or type into it.
if (: </dev/tty) 2>/dev/null; then
  exec 7<>/dev/tty
elif [ -t 0 ]; then
  exec 7<&0
elif [ -t 1 ]; then
  exec 7>&1
elif [ -t 2 ]; then
  exec 7>&2
else
  exec setpriv $user_of $rights "$0" --inside '*' '' "$@"
fi
# In a root directory that is not a whole system there are no terminals to be had: the output comes at the end.
if [ ! -e /dev/pts/ptmx ]; then
  code=0
  output=$(setsid --wait setpriv $user_of $rights "$0" --inside '*' '' "$@" 2>&1 </dev/null 7>&-) || code=$?
  printf '%s\n' "$output"
  exit "$code"
fi
# A terminal of the program's own takes the place of root's; files and pipes stay as they are.
kept=''
if [ ! -t 0 ]; then kept=0 && exec 4<&0; fi
if [ ! -t 1 ]; then kept=${kept}1 && exec 5>&1; fi
if [ ! -t 2 ]; then kept=${kept}2 && exec 6>&2; fi
exec runuser --pty --user "$user" -- setpriv $rights "$0" --inside '*' "$kept" "$@" \
  <&7 >&7 2>&7 7>&-
