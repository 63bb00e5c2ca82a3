/** ONVIF cameras of the device's networks with their streams: for the command, and for a person who adds a camera. */
import { DEVICE_SERVICE_PATH } from '../../deterrents/drivers/onvif-soap.ts'
import { inWords } from '../../hub/failure.ts'
import { discoverCameras } from './discovery.ts'
import { readStreams, type CameraStream } from './streams.ts'

export type FoundCamera = {
  /** Host, with the port if it is not the usual one. */
  host: string
  hostname: string
  streams: CameraStream[]
  /** The recommended stream. */
  best: CameraStream | undefined
  /** The reason why its streams are unknown. */
  problem: string | undefined
}

export type FindOptions = {
  /** The user name of the cameras. */
  user: string | undefined
  password: string | undefined
  /** The camera's address, when it is known or in another network. */
  at: string | undefined
}

const SEARCH_MS = 4_000
const CAMERA_MS = 15_000
/** The gateway looks at pictures of this width: a wider stream only costs processor time. */
const ENOUGH_WIDTH = 640

/** Undefined when `at` is no address. */
export async function findOnvifCameras({ user, password, at }: FindOptions): Promise<FoundCamera[] | undefined> {
  const service = at === undefined ? undefined : serviceAt(at)
  if (at !== undefined && !service) return undefined
  const services = service ? [service] : await discover()
  return Promise.all(services.map((each) => look(each, user, password)))
}

async function discover(): Promise<URL[]> {
  const services: URL[] = []
  await discoverCameras({
    onFound: ({ service }) => services.push(service),
    signal: AbortSignal.timeout(SEARCH_MS),
  })
  return services
}

function serviceAt(address: string): URL | undefined {
  const text = /^https?:\/\//.test(address) ? address : `http://${address}`
  return URL.canParse(text) ? new URL(DEVICE_SERVICE_PATH, text) : undefined
}

async function look(service: URL, user: string | undefined, password: string | undefined): Promise<FoundCamera> {
  const { host, hostname } = service
  try {
    const streams = await readStreams(service, { user, password }, AbortSignal.timeout(CAMERA_MS))
    const problem = streams.length === 0 ? 'it has no profile with a stream' : undefined
    return { host, hostname, streams, best: enough(streams), problem }
  } catch (error) {
    return { host, hostname, streams: [], best: undefined, problem: inWords(error) }
  }
}

/** The smallest stream that is at least that wide, else the first one. */
function enough(streams: readonly CameraStream[]): CameraStream | undefined {
  const widthOf = ({ video }: CameraStream) => Number(/ (\d+)x\d+$/.exec(video)?.[1] ?? 0)
  return (
    streams.filter((stream) => widthOf(stream) >= ENOUGH_WIDTH).toSorted((a, b) => widthOf(a) - widthOf(b))[0] ??
    streams[0]
  )
}
