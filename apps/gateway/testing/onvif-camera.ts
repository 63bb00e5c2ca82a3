import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type OnvifReply = { status: number; body: string; headers?: Record<string, string> }

const envelope = (content: string, status = 200): OnvifReply => ({
  status,
  body:
    '<?xml version="1.0"?><SOAP-ENV:Envelope ' +
    'xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope">' +
    `<SOAP-ENV:Body>${content}</SOAP-ENV:Body></SOAP-ENV:Envelope>`,
})

export const onvifAnswer = (content: string): OnvifReply => envelope(content)

export function onvifFault(code: string, text: string): OnvifReply {
  return envelope(
    '<SOAP-ENV:Fault><SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Sender</SOAP-ENV:Value>' +
      `<SOAP-ENV:Subcode><SOAP-ENV:Value>${code}</SOAP-ENV:Value></SOAP-ENV:Subcode></SOAP-ENV:Code>` +
      `<SOAP-ENV:Reason><SOAP-ENV:Text ` +
      `xml:lang="en">${text}</SOAP-ENV:Text></SOAP-ENV:Reason></SOAP-ENV:Fault>`,
    400,
  )
}

/** The text of the first element of this name. */
export const onvifElement = (body: string, name: string): string =>
  new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)<`).exec(body)?.[1] ?? ''

/** How a device tells its time, and how it wants to be asked. Each is one of a real camera. */
export type OnvifManner = {
  /**
   * `signed`: only to those who sign (github.com/agsh/onvif issue 301). `none`: never (github.com/lumeohq/onvif-rs
   * issue 65). `local`: without UTC.
   */
  clock?: 'open' | 'signed' | 'none' | 'local'
  /** `digest`: HTTP Digest, and it refuses a token that it has to understand. `both`: HTTP Digest and the token. */
  signIn?: 'token' | 'digest' | 'both'
  /** What its clock says; two hours ago when left out. */
  now?: () => number
  /** The time by which it judges a token, when that is not its clock. */
  judges?: () => number
}

const REALM = 'Login to camera'
const NONCE = '5f2b8c'

/**
 * What every ONVIF device answers before it looks at the call: its time, and a refusal; undefined when the caller may
 * continue.
 */
export function onvifFront(
  { body, authorization }: { body: string; authorization?: string | undefined },
  user: string,
  password: string,
  { clock = 'open', signIn = 'token', now = () => Date.now() - 7_200_000, judges = now }: OnvifManner = {},
): OnvifReply | undefined {
  const element = (name: string) => onvifElement(body, name)
  const refusal = onvifFault('ter:NotAuthorized', 'Sender not Authorized')
  const hasDigest = isDigestRight(authorization ?? '', user, password)
  if (signIn !== 'token' && !hasDigest) {
    const challenge = `Digest realm="${REALM}", nonce="${NONCE}", qop="auth", algorithm=MD5`
    return { status: 401, body: '', headers: { 'www-authenticate': challenge } }
  }
  if (signIn === 'digest' && body.includes('mustUnderstand="1"'))
    return onvifFault('SOAP-ENV:MustUnderstand', 'Header not understood')
  const expected = createHash('sha1')
    .update(Buffer.from(element('Nonce'), 'base64'))
    .update(element('Created'))
    .update(password)
    .digest('base64')
  const isFresh = Math.abs(Date.parse(element('Created')) - judges()) < 60_000
  const hasToken = element('Username') === user && element('Password') === expected && isFresh
  const isSignedIn = signIn === 'digest' ? hasDigest : hasToken
  if (!body.includes('GetSystemDateAndTime')) return isSignedIn ? undefined : refusal
  if (clock === 'none') return onvifFault('ter:ActionNotSupported', 'Action not supported')
  if (clock === 'signed' && !isSignedIn) return refusal
  const at = new Date(now())
  const time =
    `<tt:Hour>${at.getUTCHours()}</tt:Hour>` +
    `<tt:Minute>${at.getUTCMinutes()}</tt:Minute><tt:Second>${at.getUTCSeconds()}</tt:Second>`
  const date =
    `<tt:Year>${at.getUTCFullYear()}</tt:Year>` +
    `<tt:Month>${at.getUTCMonth() + 1}</tt:Month><tt:Day>${at.getUTCDate()}</tt:Day>`
  const name = clock === 'local' ? 'LocalDateTime' : 'UTCDateTime'
  return envelope(
    '<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime>' +
      `<tt:${name}><tt:Time>${time}</tt:Time><tt:Date>${date}</tt:Date></tt:${name}>` +
      `</tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>`,
  )
}

function isDigestRight(given: string, user: string, password: string): boolean {
  const field = (name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(given)?.[1] ?? ''
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const second = md5(`POST:${field('uri')}`)
  const parts = [md5(`${user}:${REALM}:${password}`), NONCE, field('nc'), field('cnonce'), 'auth', second]
  return given.startsWith('Digest ') && field('response') === md5(parts.join(':'))
}

/** A camera that answers WS-Discovery and lists its profiles; its clock is two hours slow. */
export type OnvifCamera = {
  /** `127.0.0.1:PORT` of its services. */
  host: string
  discoveryPort: number
  probes(): number
  stop(): Promise<void>
}

export type OnvifCameraOptions = {
  user: string
  password: string
  group: string
  /** False answers to calls whose body contains the key. */
  lies?: Readonly<Record<string, OnvifReply | 'redirect' | 'silence'>>
  /** Its answer to a probe, instead of the right one. */
  probeAnswer?: (host: string) => string
  /** How many lenses it has, with three profiles each; one when left out. */
  lenses?: number
  /** Its address; 127.0.0.1 when left out. */
  address?: string
  /** The port of its discovery; any when left out. */
  discoveryPort?: number
  manner?: OnvifManner
}

type Profile = { token: string; name: string; width: number; height: number; lens: number }

const PROFILES = [
  { token: 'main', name: 'Main &amp; best', width: 1920, height: 1080 },
  { token: 'sub&amp;', name: 'Sub', width: 640, height: 360 },
  { token: 'tiny', name: 'Tiny', width: 320, height: 180 },
]

export async function startOnvifCamera(options: OnvifCameraOptions): Promise<OnvifCamera> {
  const { user, password, group, lies = {}, probeAnswer = probeMatch } = options
  const { lenses = 1, address = '127.0.0.1', discoveryPort = 0, manner } = options
  const profiles: Profile[] = Array.from({ length: lenses }, (_, lens) =>
    PROFILES.map((each) => ({ ...each, token: lens === 0 ? each.token : `${each.token}${lens + 1}`, lens })),
  ).flat()
  let host = ''
  let probes = 0

  function answer(body: string, authorization: string | undefined): OnvifReply {
    const front = onvifFront({ body, authorization }, user, password, manner)
    if (front) return front
    if (body.includes('GetCapabilities'))
      return onvifAnswer(
        `<tds:GetCapabilitiesResponse><tds:Capabilities>` +
          `<tt:Media><tt:XAddr>http://${host}/onvif/media</tt:XAddr></tt:Media></tds:Capabilities>` +
          '</tds:GetCapabilitiesResponse>',
      )
    if (body.includes('GetProfiles'))
      return onvifAnswer(`<trt:GetProfilesResponse>${profiles.map(profile).join('\n')}</trt:GetProfilesResponse>`)
    if (body.includes('GetStreamUri')) {
      const found = profiles.find(({ token }) => token === onvifElement(body, 'ProfileToken'))
      if (!found) return onvifFault('ter:NoProfile', 'No such profile')
      const uri = `rtsp://${address}:554/${found.token.replace('&amp;', '')}?a=1&amp;b=2`
      return onvifAnswer(
        `<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>${uri}</tt:Uri></trt:MediaUri></trt:GetStreamUriResponse>`,
      )
    }
    return onvifFault('ter:ActionNotSupported', 'No such call')
  }

  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString('utf8')
      const lie = Object.entries(lies).find(([key]) => body.includes(key))?.[1]
      if (lie === 'silence') return
      if (lie === 'redirect') {
        response.writeHead(302, { location: `http://${host}/elsewhere` }).end()
        return
      }
      const reply = lie ?? answer(body, request.headers.authorization)
      response.writeHead(reply.status, { 'content-type': 'application/soap+xml', ...reply.headers })
      response.end(reply.body)
    })()
  })
  server.listen(0, address)
  await once(server, 'listening')
  host = `${address}:${(server.address() as AddressInfo).port}`

  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.on('message', (bytes, sender) => {
    if (!bytes.includes('Probe')) return
    probes++
    socket.send(probeAnswer(host), sender.port, sender.address)
  })
  socket.bind(discoveryPort)
  await once(socket, 'listening')
  socket.addMembership(group, address)
  return {
    host,
    discoveryPort: socket.address().port,
    probes: () => probes,
    async stop() {
      socket.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const profile = ({ token, name, width, height, lens }: Profile) =>
  `<trt:Profiles fixed="true" token="${token}"><tt:Name>${name}</tt:Name><tt:VideoSourceConfiguration ` +
  `token="v"><tt:Name>other</tt:Name><tt:SourceToken>lens${lens}</tt:SourceToken></tt:VideoSourceConfiguration>` +
  '<tt:VideoEncoderConfiguration ' +
  `token="e"><tt:Name>encoder</tt:Name><tt:Encoding>H264</tt:Encoding>` +
  `<tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution>` +
  `</tt:VideoEncoderConfiguration></trt:Profiles>`

/** The reason why datagrams to a group do not come back on loopback here; undefined when they do. */
export async function multicastLacks(group: string): Promise<string | undefined> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  try {
    socket.bind(0)
    await once(socket, 'listening')
    socket.addMembership(group, '127.0.0.1')
    socket.setMulticastInterface('127.0.0.1')
    const { port } = socket.address()
    const sending = setInterval(() => socket.send('x', port, group, () => {}), 50)
    await once(socket, 'message', { signal: AbortSignal.timeout(5_000) }).finally(() => clearInterval(sending))
    return undefined
  } catch {
    return 'there is no multicast on loopback'
  } finally {
    socket.close()
  }
}

/** An answer as cameras send it: several addresses in one element. */
export function probeMatch(host: string): string {
  return (
    '<?xml version="1.0"?><e:Envelope ' +
    'xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><d:ProbeMatches><d:ProbeMatch>' +
    '<d:Types>dn:NetworkVideoTransmitter</d:Types><d:XAddrs>http://[fe80::1]/onvif/device_service ' +
    `http://${host}/onvif/device_service</d:XAddrs></d:ProbeMatch></d:ProbeMatches></e:Body></e:Envelope>`
  )
}
