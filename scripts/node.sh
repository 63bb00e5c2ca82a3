#!/bin/sh
# Runs the Node that npm installed with the project, whichever Node and npm the machine has:
#   sh scripts/node.sh scripts/demo.ts
# npm up to version 10 makes no link to it in node_modules/.bin (docs/decisions/001-node-through-npm.md).
NEEDED=26
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit

for node in "$root"/node_modules/node-*-*/bin/node; do
  # npm installs the one package that fits the machine; a tree that was copied from another machine holds a wrong one.
  if [ -x "$node" ] && "$node" --version >/dev/null 2>&1; then
    # Programs that begin with "#!/usr/bin/env node" find it too.
    PATH=${node%/*}:$PATH
    export PATH
    exec "$node" "$@"
  fi
done

found=$(node --version 2>/dev/null)
major=${found#v}
[ "${major%%.*}" -ge "$NEEDED" ] 2>/dev/null && exec node "$@"
echo "Hedgerow needs Node $NEEDED, and npm installed none that runs on this machine ($(uname -sm)):" \
  "run \"npm ci\" without --omit=optional, or put Node $NEEDED or newer on the PATH (now: ${found:-none})." >&2
exit 1
