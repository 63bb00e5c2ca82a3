/**
 * After `npm ci`: deletes the libraries of other platforms below a folder with one subfolder for each system and, in
 * it, for each processor. One package of npm brings 240 MB of them. Any Node from 20 on runs this.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [folder = ''] = process.argv.slice(2)
keepOnly(folder, process.platform)
keepOnly(join(folder, process.platform), process.arch)

/** @param {string} parent @param {string} name */
function keepOnly(parent, name) {
  if (!existsSync(parent)) return
  for (const other of readdirSync(parent)) if (other !== name) rmSync(join(parent, other), { recursive: true })
}
