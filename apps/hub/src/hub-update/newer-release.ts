/** Finds the next version of this hub in the folder of a release, and fetches it. */
import { join } from 'node:path'
import type { Progress } from '@hedgerow/http'
import { expiryTime, newlyPassed, readRelease, readSums, type Release, type ReleaseKeys } from '@hedgerow/releases'
import type { Installation } from './installation.ts'
import { openReleaseFolder, type ReleaseFolder } from './release-folder.ts'
import type { SeenFile } from './seen.ts'

export type NewerOptions = {
  /** The address of the folder: `http://…`, `https://…` or `file:///…`. */
  url: string
  /** Who signs release keys, instead of the root key of the installation. */
  rootKey: string | undefined
  installation: Installation
  seen: SeenFile
  /** In milliseconds since 1970. */
  clock: () => number
}

type Found = { release: Release; keys: ReleaseKeys; folder: ReleaseFolder }

/** Undefined when the folder has no newer release. Rejects when it cannot be read or is not signed by the right key. */
export async function findNewer({ url, rootKey, installation, seen, clock }: NewerOptions): Promise<Found | undefined> {
  const key = rootKey ?? installation.rootKey
  if (key === undefined) throw new Error('this installation names no root key: set HUB_UPDATES_KEY')
  const folder = openReleaseFolder(url)
  const [keysFile, releaseFile] = await Promise.all([folder.list('keys.json'), folder.list('release.json')])
  const lastSeen = seen.read(key)
  // The number of a release is the time of its last commit, in seconds.
  let passed = Math.max(lastSeen.passed, installation.number * 1000)
  const clocks = [clock(), folder.time() ?? -Infinity] as const
  const answer = readRelease(
    { keys: keysFile.toString(), release: releaseFile.toString() },
    {
      rootKeys: [key],
      seen: { keys: Math.max(lastSeen.keys, installation.keysNumber), release: 0 },
      now: expiryTime(clocks, passed),
    },
  )
  passed = newlyPassed(clocks, passed) ?? passed
  if (answer.ok) passed = Math.max(passed, Date.parse(answer.release.createdAt))
  const keysNumber = Math.max(lastSeen.keys, answer.keys?.number ?? 0)
  if (passed > lastSeen.passed || keysNumber > lastSeen.keys) seen.keep({ rootKey: key, keys: keysNumber, passed })
  if (!answer.ok) throw new Error(answer.message)
  const { release, keys } = answer
  return isNewer(release, installation) ? { release, keys, folder } : undefined
}

/** Compares the number of the release, which only grows. The sources have no number, so they compare the version. */
const isNewer = (release: Release, { version, number }: Installation): boolean =>
  number > 0
    ? release.number > number
    : release.version.localeCompare(version, 'en', { numeric: true, sensitivity: 'base' }) > 0

const DEBIAN: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Fetches the hub of a release into the folder `into`, as an archive or as a Debian package, and returns the file's
 * path. Rejects when the release has none for this machine, or the file is not the one that was signed.
 */
export async function fetchHub(
  { release, keys, folder }: Found,
  form: 'archive' | 'deb',
  into: string,
  progress: Progress,
) {
  const file =
    form === 'deb' ? await findPackage(release, keys, folder) : release.files.find(isOf(process.platform, process.arch))
  if (!file) throw new Error(`version ${release.version} has no ${form} of the hub for this machine`)
  const path = join(into, file.name)
  await folder.save(file, path, progress)
  return path
}

const isOf =
  (os: string, cpu: string) =>
  ({ product, platform }: Release['files'][number]): boolean =>
    product === 'hedgerow-hub' && platform === `${os}-${cpu}`

/**
 * The list that devices read does not name packages. SHA256SUMS does, signed by the same key; the package's name holds
 * the version.
 */
async function findPackage({ version }: Release, keys: ReleaseKeys, folder: ReleaseFolder) {
  const [sums, signature] = await Promise.all([folder.list('SHA256SUMS'), folder.list('SHA256SUMS.sig')])
  const signed = readSums({ sums, signature }, keys)
  if (!signed) throw new Error('none of the release keys has signed SHA256SUMS')
  const name = `hedgerow-hub_${version.replace('-', '~')}_${DEBIAN[process.arch]}.deb`
  const sha256 = signed.get(name)
  return sha256 === undefined ? undefined : { name, sha256 }
}
