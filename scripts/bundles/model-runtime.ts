/**
 * ONNX Runtime as a download of its own, for gateways with a detection model. It is unpacked into the folder above the
 * versions, where Node finds `node_modules` for each of them, so an update of the gateway does not lose it.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Built } from './build.ts'
import { fetchAll, lockedPackage, unpack, type Platform } from './locked-packages.ts'
import { billOfMaterials, licences } from './notices.ts'

export const MODEL_RUNTIME = 'hedgerow-model-runtime'

/** The packages that run. The other dependencies of onnxruntime-node serve its installation only. */
const PACKAGES = ['onnxruntime-node', 'onnxruntime-common']
const LIBRARIES = 'node_modules/onnxruntime-node/bin/napi-v6'

/** Undefined for a platform without libraries of ONNX Runtime. Throws for a package without the lock's hash. */
export async function buildModelRuntime(
  { os, cpu }: Platform,
  { version, into }: { version: string; into: string },
): Promise<Pick<Built, 'title' | 'folder'> | undefined> {
  const platform = `${os}-${cpu}`
  const title = `${MODEL_RUNTIME}-${version}-${platform}`
  const folder = join(into, title)
  await rm(folder, { recursive: true, force: true })
  const parts = PACKAGES.map((name) => ({ ...lockedPackage(name), folder: join(folder, 'node_modules', name) }))
  await fetchAll(parts)
  for (const part of parts) await unpack(part, part.folder)
  if (!(await keepOnly(join(folder, LIBRARIES), os)) || !(await keepOnly(join(folder, LIBRARIES, os), cpu))) {
    await rm(folder, { recursive: true })
    return undefined
  }
  const about = join(folder, 'node_modules', MODEL_RUNTIME)
  await mkdir(about)
  const bill = billOfMaterials({ name: MODEL_RUNTIME, version, platform }, parts)
  await writeFile(join(about, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
  await writeFile(join(about, 'THIRD-PARTY.txt'), await licences(parts))
  return { title, folder }
}

async function keepOnly(folder: string, name: string): Promise<boolean> {
  const names = await readdir(folder)
  for (const other of names.filter((one) => one !== name)) await rm(join(folder, other), { recursive: true })
  return names.includes(name)
}
