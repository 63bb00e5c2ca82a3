import { findOnvifCameras, type FindOptions, type FoundCamera } from '../cameras/onvif/find.ts'
import { ConfigError } from '../config.ts'
import type { Outcome } from './command-line.ts'

/**
 * Searches the device's networks for ONVIF cameras, and prints lines that are ready for gateway.yaml. The password
 * comes from the environment, so that no list of processes shows it.
 */
export async function findCameras(options: FindOptions): Promise<Outcome> {
  const found = await findOnvifCameras(options)
  if (!found) throw new ConfigError('--at must be an address, such as 192.168.1.30')
  if (found.length === 0)
    return {
      text: 'No ONVIF camera answers in the networks of this device. Name one with --at ADDRESS.',
      isDone: false,
    }
  const lines = found.flatMap((camera) => linesOf(camera, options.user))
  const hint = options.user === undefined ? ['', 'Most cameras need --user NAME and the variable CAMERA_PASSWORD.'] : []
  const isDone = found.some(({ problem }) => problem === undefined)
  return { text: [...(isDone ? ['cameras:'] : []), ...lines, ...(isDone ? [] : hint)].join('\n'), isDone }
}

function linesOf({ host, streams, problem }: FoundCamera, user: string | undefined): string[] {
  if (problem !== undefined) return [`  # ${host}: ${problem}`]
  return streams.map(({ name, url, profile, video, isBest }) => {
    const line = `${name}: { url: ${JSON.stringify(withUser(url, user))} } # ${profile}, ${video}`
    return isBest ? `  ${line}` : `  # ${line}`
  })
}

function withUser(url: URL, user: string | undefined): string {
  const text = url.href
  return user === undefined ? text : text.replace('//', `//${encodeURIComponent(user)}:\${CAMERA_PASSWORD}@`)
}
