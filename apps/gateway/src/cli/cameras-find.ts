import { ConfigError } from '../config.ts'
import { discoverCameras } from '../cameras/onvif/discovery.ts'
import { readStreams, type CameraStream } from '../cameras/onvif/streams.ts'
import { DEVICE_SERVICE_PATH } from '../deterrents/drivers/onvif-soap.ts'
import { inWords } from '../hub/failure.ts'
import type { Outcome } from './command-line.ts'

const SEARCH_MS = 4_000
const CAMERA_MS = 15_000
/** The gateway looks at pictures of this width: a stream of more only costs its processor. */
const ENOUGH_WIDTH = 640

export type CamerasFindOptions = {
  /** Of the cameras. */
  user: string | undefined
  /** Read from the environment, so that no list of processes shows it. */
  password: string | undefined
  /** The camera's address, where it is known or in another network. */
  at: string | undefined
}

/** Searches the device's networks for ONVIF cameras, and prints lines that are ready for gateway.yaml. */
export async function findCameras({ user, password, at }: CamerasFindOptions): Promise<Outcome> {
  const services = at === undefined ? await discover() : [serviceAt(at)]
  if (services.length === 0)
    return {
      text: 'No ONVIF camera answers in the networks of this device. Name one with --at ADDRESS.',
      isDone: false,
    }
  const found = await Promise.all(services.map((service) => linesOf(service, user, password)))
  const lines = found.flatMap((each) => each.lines)
  const hint = user === undefined ? ['', 'Most cameras want --user NAME and the variable CAMERA_PASSWORD.'] : []
  const isDone = found.some((each) => each.isDone)
  return { text: [...(isDone ? ['cameras:'] : []), ...lines, ...(isDone ? [] : hint)].join('\n'), isDone }
}

async function discover(): Promise<URL[]> {
  const services: URL[] = []
  await discoverCameras({
    onFound: ({ service }) => services.push(service),
    signal: AbortSignal.timeout(SEARCH_MS),
  })
  return services
}

function serviceAt(address: string): URL {
  const text = /^https?:\/\//.test(address) ? address : `http://${address}`
  if (!URL.canParse(text)) throw new ConfigError('--at must be an address, such as 192.168.1.30')
  return new URL(DEVICE_SERVICE_PATH, text)
}

async function linesOf(
  service: URL,
  user: string | undefined,
  password: string | undefined,
): Promise<{ lines: string[]; isDone: boolean }> {
  try {
    const streams = await readStreams(service, { user, password }, AbortSignal.timeout(CAMERA_MS))
    if (streams.length === 0) return { lines: [`  # ${service.host}: it has no profile with a stream`], isDone: false }
    const best = enough(streams)
    const name = `camera-${service.hostname.replaceAll(/[^a-zA-Z0-9]+/g, '-').replaceAll(/^-|-$/g, '')}`
    const lines = streams.map((stream) => {
      const line = `${name}: { url: ${JSON.stringify(withUser(stream.url, user))} } # ${stream.profile}, ${stream.video}`
      return stream === best ? `  ${line}` : `  # ${line}`
    })
    return { lines, isDone: true }
  } catch (error) {
    return { lines: [`  # ${service.host}: ${inWords(error)}`], isDone: false }
  }
}

/** The smallest stream that is as wide as the pictures that are looked at, else the first. */
function enough(streams: readonly CameraStream[]): CameraStream | undefined {
  const widthOf = ({ video }: CameraStream) => Number(/ (\d+)x\d+$/.exec(video)?.[1] ?? 0)
  return (
    streams.filter((stream) => widthOf(stream) >= ENOUGH_WIDTH).toSorted((a, b) => widthOf(a) - widthOf(b))[0] ??
    streams[0]
  )
}

function withUser(url: URL, user: string | undefined): string {
  const text = url.href
  return user === undefined ? text : text.replace('//', `//${encodeURIComponent(user)}:\${CAMERA_PASSWORD}@`)
}
