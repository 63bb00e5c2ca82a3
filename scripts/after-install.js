/**
 * After `npm ci`: refuses a Node that is too old, in words. Then it deletes what packages bring and nothing here uses,
 * some 310 MB: libraries of other platforms and the headers of Node. The Node of the
 * machine runs this file, so it has to be one that old versions can read.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const OLDEST = 20

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  console.error(`Hedgerow needs Node ${OLDEST} or newer with npm; this is Node ${process.versions.node}.`)
  process.exit(1)
}

const [packages = ''] = process.argv.slice(2)
/** One folder for each system and, in it, for each processor. */
const libraries = join(packages, 'onnxruntime-node/bin/napi-v6')
keepOnly(libraries, process.platform)
keepOnly(join(libraries, process.platform), process.arch)
for (const name of existsSync(packages) ? readdirSync(packages) : [])
  if (/^node-(?:bin-)?(?:darwin|linux|win)-/.test(name)) remove(`${name}/include`)

/** @param {string} parent @param {string} name */
function keepOnly(parent, name) {
  if (!existsSync(parent)) return
  for (const other of readdirSync(parent)) if (other !== name) rmSync(join(parent, other), { recursive: true })
}

/** @param {string} path */
function remove(path) {
  rmSync(join(packages, path), { recursive: true, force: true })
}
