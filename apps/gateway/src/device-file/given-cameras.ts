import { camerasSettings } from '../cameras/schema.ts'
import { eyeSettings } from '../sources/eye/schema.ts'
import type { DeviceFile } from './schema.ts'

/** Returns the file with the command line's cameras, which the eye looks at too: `camera 1`, `camera 2` and so on. */
export function withGivenCameras(file: DeviceFile, urls: readonly string[]): DeviceFile {
  if (urls.length === 0) return file
  const given = urls.map((url, index) => [freeName(file, index + 1), { url }] as const)
  const names = given.map(([name]) => name)
  const { eye } = file.sources
  return {
    ...file,
    cameras: { ...file.cameras, ...camerasSettings.parse(Object.fromEntries(given)) },
    sources: {
      ...file.sources,
      eye: eye ? { ...eye, cameras: [...eye.cameras, ...names] } : eyeSettings.parse({ cameras: names }),
    },
  }
}

function freeName({ cameras }: DeviceFile, number: number): string {
  const name = `camera ${number}`
  return Object.hasOwn(cameras, name) ? `${name} of the command line` : name
}
