/**
 * After `npm ci`: deletes what packages bring and nothing here uses, some 390 MB: libraries of other platforms, the
 * command line of Binaryen and the headers of Node. Any Node from 20 on runs this.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [packages = ''] = process.argv.slice(2)
/** One folder for each system and, in it, for each processor. */
const libraries = join(packages, 'onnxruntime-node/bin/napi-v6')
keepOnly(libraries, process.platform)
keepOnly(join(libraries, process.platform), process.arch)
remove('binaryen/bin')
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
