import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm run lock`, after every change of a dependency: takes out which Node each package wants. npm leaves an optional
 * package out, without a word, where the Node that installs is not in that range, and everything here runs on the Node
 * that comes with the packages.
 */
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, { engines?: unknown }>
}
for (const [place, entry] of Object.entries(lock.packages)) if (place.includes('node_modules/')) delete entry.engines
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
