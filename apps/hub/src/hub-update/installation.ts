/** How this hub was installed: its release, and who may sign the next one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReleaseKeys } from '@hedgerow/releases'
import { z } from 'zod'
import manifest from '../../../../package.json' with { type: 'json' }

export type Installation = {
  version: string
  /** The number of its release; 0 when it runs from the sources. */
  number: number
  /** The number of the list of release keys that came with it; 0 without one. Older lists are ignored. */
  keysNumber: number
  /** Ed25519, 32 bytes as base64; undefined where the release was not signed, and for the sources. */
  rootKey: string | undefined
}

const versionFile = z.object({ version: z.string(), number: z.int() })

/** Reads the files that `npm run release` puts beside `lib` of an archive. */
export function findInstallation(): Installation {
  const fromSources = { version: manifest.version, number: 0, keysNumber: 0, rootKey: undefined }
  return import.meta.filename.endsWith('.ts')
    ? fromSources
    : readInstallation(join(import.meta.dirname, '../../../../..'))
}

/** Throws where the folder of an archive has no version.json. */
export function readInstallation(folder: string): Installation {
  const { version, number } = versionFile.parse(JSON.parse(readFileSync(join(folder, 'version.json'), 'utf8')))
  const rootKey = readIfThere(join(folder, 'root.pub'))?.trim()
  const keys = readReleaseKeys(readIfThere(join(folder, 'keys.json')) ?? '', rootKey === undefined ? [] : [rootKey])
  return { version, number, keysNumber: keys?.number ?? 0, rootKey }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
