/**
 * Finds web interfaces that announce themselves by DNS-SD (RFC 6763) over multicast DNS (RFC 6762). The question comes
 * from a port of its own and has an id, so that the answers come to this port (RFC 6762 §6.7): Mongoose OS goes by the
 * id (dns-sd/src/mgos_dns_sd.c, `naive_client`), ESP-IDF and the ESP8266's LEAmDNS by the port.
 */
import { randomInt } from 'node:crypto'
import { decode, encode, type Answer } from 'dns-packet'
import { askByMulticast } from '../../kernel/multicast.ts'

export type MulticastDns = { group: string; port: number }

export const MULTICAST_DNS: MulticastDns = { group: '224.0.0.251', port: 5353 }

/**
 * Shellys of the first generation and Tasmota (support_network.ino, `MdnsAddServiceHttp`) announce `_http._tcp` only.
 */
const SERVICES = ['_http._tcp.local', '_shelly._tcp.local']
const ANSWERS_MAX = 2_000
/** Of one answer: a device has a handful. */
const RECORDS_MAX = 64

/** Calls `onFound` for each service, perhaps more than once. `host` is whoever answered, whatever address it names. */
export async function browseServices(options: {
  from: readonly string[]
  dns: MulticastDns
  onFound(host: string, port: number): void
  signal: AbortSignal
}): Promise<void> {
  const { from, dns, onFound, signal } = options
  let answers = 0
  await askByMulticast({
    from,
    ...dns,
    signal,
    ask: () =>
      encode({ type: 'query', id: randomInt(1, 65_536), questions: SERVICES.map((name) => ({ name, type: 'PTR' })) }),
    onAnswer(bytes, sender) {
      if (++answers > ANSWERS_MAX) return
      for (const port of portsOf(bytes)) onFound(sender, port)
    },
  })
}

/** The ports of the services in an answer; none in what is no answer. */
export function portsOf(bytes: Buffer): number[] {
  const records = recordsOf(bytes).slice(0, RECORDS_MAX)
  const ports = records.flatMap((record) => (record.type === 'SRV' && isWanted(record.name) ? [record.data.port] : []))
  return [...new Set(ports)].filter((port) => port > 0)
}

function recordsOf(bytes: Buffer): Answer[] {
  try {
    const { type, answers = [], additionals = [] } = decode(bytes)
    return type === 'response' ? [...answers, ...additionals] : []
  } catch {
    return []
  }
}

function isWanted(instance: string): boolean {
  const name = instance.toLowerCase()
  return SERVICES.some((service) => name.endsWith(`.${service}`))
}
