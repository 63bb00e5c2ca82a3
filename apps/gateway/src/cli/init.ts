import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { COMMAND } from '../config.ts'
import { exists, makeDataDirectory, writeDurably } from '../kernel/durable-file.ts'
import type { Outcome } from './command-line.ts'

/** Frigate's usual addresses: on this device, or beside it in a container network. */
const FRIGATE_PLACES = [
  'http://127.0.0.1:5000',
  'http://frigate:5000',
  'https://127.0.0.1:8971',
  'https://frigate:8971',
]
const PROBE_TIMEOUT_MS = 2_000
const PROBE_MAX_BYTES = 100_000

/**
 * Writes a commented gateway.yaml, with a Frigate that it finds. Never overwrites an existing file. `args` were given
 * to this command, and `check` needs the same.
 */
export async function initDeviceFile(
  path: string,
  dataDir: string,
  args: readonly string[],
  places = FRIGATE_PLACES,
): Promise<Outcome> {
  if (await exists(path)) return { text: `${path} is there already. Nothing was changed.`, isDone: false }
  await makeDataDirectory(dataDir)
  const found = (await Promise.all(places.map(async (url) => ((await isFrigate(url)) ? [url] : [])))).flat()
  await writeDurably(path, template(found[0]))
  const frigate = found[0] === undefined ? 'No Frigate answers on its usual ports.' : `Frigate answers at ${found[0]}.`
  return {
    text: `${path} is written. ${frigate}\nCheck it after each change with: ${[COMMAND, 'check', ...args].join(' ')}`,
    isDone: true,
  }
}

/** Port 5000 shows its version to everybody; port 8971 shows its sign-in page first. */
async function isFrigate(origin: string): Promise<boolean> {
  const version = await probe(`${origin}/api/version`)
  if (version && /^"?\d+\.\d+/.test(version)) return true
  return origin.startsWith('https:') && /<title>\s*Frigate/i.test((await probe(`${origin}/login`)) ?? '')
}

function probe(url: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  // Frigate signs its own certificate; nothing secret is sent here.
  const outgoing = send(url, { agent: false, rejectUnauthorized: false, timeout: PROBE_TIMEOUT_MS }, (answer) => {
    let length = 0
    answer.on('data', (part: Buffer) => {
      length += part.length
      if (length > PROBE_MAX_BYTES) answer.destroy()
    })
    text(answer).then(
      (body) => resolve(answer.statusCode === 200 ? body : undefined),
      () => resolve(undefined),
    )
  })
  outgoing.on('timeout', () => outgoing.destroy())
  outgoing.on('error', () => resolve(undefined))
  outgoing.end()
  const late = setTimeout(() => outgoing.destroy(new Error('late')), PROBE_TIMEOUT_MS)
  return promise.finally(() => clearTimeout(late))
}

/** Lines that begin with `#` and no space are examples; without the `#` they are in force. */
export function template(frigate?: string): string {
  const mark = frigate === undefined ? '#' : ''
  return `# What this device sees, and what it does about it. Every key is explained in docs/operations/gateway-yaml.md.
# Lines that begin with "#" and no space are switched off: take the "#" away. The gateway reads this file again when it
# changes. After each change: ${COMMAND} check

# Where the device is, for hours that follow the sun.
#site: { latitude: 52.1, longitude: 9.3, timeZone: Europe/Berlin }

# Where detections come from.
sources:
  # Any program on this device: POST http://127.0.0.1:8080/api/v1/detections (docs/operations/device-api.md).
  api: { loopbackNeedsToken: false }
  # Programs on other machines need a token of at least 16 characters:
#  api: { token: "\${API_TOKEN}", loopbackNeedsToken: false }
  # Frigate. Port 5000 needs no password; docs/operations/frigate.md says how to use port 8971.
${mark}  frigate: { url: "${frigate ?? 'http://127.0.0.1:5000'}" }

# What can be switched. Each goes off by itself after its seconds, whatever happens.
#deterrents:
#  sprinkler:
#    driver: http
#    on: { url: "http://192.168.1.20/on" }
#    off: { url: "http://192.168.1.20/off" }
#    seconds: 10
#    coolDownSeconds: 60
#    secondsAnHour: 120

# Other web applications of this device, which the hub's Connect opens.
#applications:
#  frigate: { url: "https://127.0.0.1:8971", title: Frigate }
#  router: { url: "http://192.168.1.1" }

# Which detections fire which deterrents. A person on a camera of the rule blocks it.
#rules:
#  - name: Boar at night
#    labels: [boar, deer]
#    minimumScore: 0.7
#    hours: sunset-sunrise
#    fire: [sprinkler]
`
}
