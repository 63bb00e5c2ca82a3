/** The streams of an ONVIF camera: its media profiles and the address of each one's stream. */
import {
  callOnvif,
  elementsOf,
  escapeXml,
  textsOf,
  unescapeXml,
  type OnvifDevice,
} from '../../deterrents/drivers/onvif-soap.ts'
import { DeviceRefusal } from '../../deterrents/drivers/driver.ts'

export type CameraStream = {
  /** The camera's own name for it. */
  profile: string
  /** Without user and password. */
  url: URL
  /** Such as `H264 640x360`; empty when the camera does not say. */
  video: string
  /** Which of its lenses or channels it shows; empty when the camera does not say. */
  source: string
}

/** A recorder with 32 channels has at least 64. */
const PROFILES_MAX = 64
const TEXT_MAX = 60

/**
 * Rejects with DeviceRefusal for a wrong password, and for a camera that names another machine: a machine that answers
 * must not send the gateway to another one, nor to the gateway's own services.
 */
export async function readStreams(service: URL, device: OnvifDevice, signal: AbortSignal): Promise<CameraStream[]> {
  const media = await mediaService(service, device, signal)
  const profiles = elementsOf(await callOnvif(media, device, '<m:GetProfiles/>', signal), 'Profiles')
  const streams: CameraStream[] = []
  for (const { attributes, content } of profiles.slice(0, PROFILES_MAX)) {
    const [, written] = /\stoken="([^"]{1,100})"/.exec(attributes) ?? []
    if (written === undefined) continue
    const token = unescapeXml(written)
    const url = await streamUrl(media, device, token, signal)
    const [source = ''] = elementsOf(content, 'VideoSourceConfiguration').flatMap((configuration) =>
      textsOf(configuration.content, 'SourceToken'),
    )
    streams.push({ profile: plain(textsOf(content, 'Name')[0] ?? token), url, video: videoOf(content), source })
  }
  return streams
}

async function mediaService(service: URL, device: OnvifDevice, signal: AbortSignal): Promise<URL> {
  const body = '<d:GetCapabilities><d:Category>Media</d:Category></d:GetCapabilities>'
  const text = await callOnvif(service, device, body, signal)
  const [address] = elementsOf(text, 'Media').flatMap(({ content }) => textsOf(content, 'XAddr'))
  return address === undefined ? service : sameMachine(address, service, /^https?:$/)
}

async function streamUrl(media: URL, device: OnvifDevice, token: string, signal: AbortSignal): Promise<URL> {
  const setup =
    '<m:StreamSetup><t:Stream>RTP-Unicast</t:Stream>' +
    '<t:Transport><t:Protocol>RTSP</t:Protocol></t:Transport></m:StreamSetup>'
  const body = `<m:GetStreamUri>${setup}<m:ProfileToken>${escapeXml(token)}</m:ProfileToken></m:GetStreamUri>`
  const [uri] = textsOf(await callOnvif(media, device, body, signal), 'Uri')
  const url = sameMachine(uri ?? '', media, /^rtsps?:$/)
  url.username = ''
  url.password = ''
  return url
}

function sameMachine(text: string, requested: URL, protocols: RegExp): URL {
  const url = URL.canParse(text) && text.length < 500 ? new URL(text) : undefined
  if (!url || !protocols.test(url.protocol)) throw new DeviceRefusal('the camera named no address that can be used')
  if (url.hostname !== requested.hostname) throw new DeviceRefusal('the camera named an address of another machine')
  return url
}

function videoOf(profile: string): string {
  const encoder = elementsOf(profile, 'VideoEncoderConfiguration')[0]?.content ?? ''
  const [coding] = textsOf(encoder, 'Encoding')
  const [width, height] = ['Width', 'Height'].map((name) => Number(textsOf(encoder, name)[0]))
  const size = Number.isInteger(width) && Number.isInteger(height) ? `${width}x${height}` : ''
  return plain(`${coding ?? ''} ${size}`.trim())
}

/** The text becomes part of a comment in a file. */
function plain(text: string): string {
  return text
    .replaceAll(/[^\w .,:/()+-]+/g, ' ')
    .slice(0, TEXT_MAX)
    .trim()
}
