/** Finds ONVIF cameras and their streams: for `hedgerow-gateway cameras find`, and for the page that adds a camera. */
import { DEVICE_SERVICE_PATH } from '../../deterrents/drivers/onvif-soap.ts'
import { inWords } from '../../kernel/failure.ts'
import { discoverCameras } from './discovery.ts'
import { readStreams, type CameraStream } from './streams.ts'

export type FoundStream = Omit<CameraStream, 'source'> & {
  /** The name for gateway.yaml; streams of the same lens or channel have the same name. */
  name: string
  /** Whether it is the recommended one of the streams with its name. */
  isBest: boolean
}

export type FoundCamera = {
  /** Host, with the port if it is not the usual one. */
  host: string
  streams: FoundStream[]
  /** The reason why its streams are unknown. */
  problem: string | undefined
}

export type FindOptions = {
  /** The user name of the cameras. */
  user: string | undefined
  password: string | undefined
  /** The address of one camera; when left out, the device's own networks are searched. */
  at: string | undefined
}

const SEARCH_MS = 4_000
const CAMERA_MS = 15_000
/** The gateway looks at pictures of this width: a wider stream only costs processor time. */
const ENOUGH_WIDTH = 640

/** Undefined when `at` is no address. A camera that cannot be read has a `problem`. */
export async function findOnvifCameras({ user, password, at }: FindOptions): Promise<FoundCamera[] | undefined> {
  const service = at === undefined ? undefined : serviceAt(at)
  if (at !== undefined && !service) return undefined
  const services = service ? [service] : await discover()
  return Promise.all(services.map((each) => look(each, nameFor(each, services), user, password)))
}

/** Cameras behind one address, such as that of a router, differ by their ports. */
export function nameFor({ host, hostname }: URL, services: readonly URL[]): string {
  const isAlone = services.filter((other) => other.hostname === hostname).length === 1
  return `camera-${(isAlone ? hostname : host).replaceAll(/[^a-zA-Z0-9]+/g, '-').replaceAll(/^-|-$/g, '')}`
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

async function look(
  service: URL,
  name: string,
  user: string | undefined,
  password: string | undefined,
): Promise<FoundCamera> {
  const { host } = service
  try {
    const streams = await readStreams(service, { user, password }, AbortSignal.timeout(CAMERA_MS))
    const problem = streams.length === 0 ? 'it has no profile with a stream' : undefined
    return { host, streams: named(name, streams), problem }
  } catch (error) {
    return { host, streams: [], problem: inWords(error) }
  }
}

/** A device with several lenses or channels is several cameras. */
function named(name: string, streams: readonly CameraStream[]): FoundStream[] {
  const bySource = [...Map.groupBy(streams, ({ source }) => source).values()]
  return bySource.flatMap((same, at) => {
    const best = enough(same)
    return same.map((stream) => ({
      profile: stream.profile,
      url: stream.url,
      video: stream.video,
      name: bySource.length === 1 ? name : `${name}-${at + 1}`,
      isBest: stream === best,
    }))
  })
}

/** The smallest stream that is at least `ENOUGH_WIDTH` wide, else the first one. */
function enough(streams: readonly CameraStream[]): CameraStream | undefined {
  const widthOf = ({ video }: CameraStream) => Number(/ (\d+)x\d+$/.exec(video)?.[1] ?? 0)
  return (
    streams.filter((stream) => widthOf(stream) >= ENOUGH_WIDTH).toSorted((a, b) => widthOf(a) - widthOf(b))[0] ??
    streams[0]
  )
}
