/**
 * What firmwares answer to multicast DNS: Mongoose OS of Shelly (github.com/mongoose-os-libs/dns-sd,
 * src/mgos_dns_sd.c), and the same records from Tasmota's `MDNS.addService` (support_network.ino).
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type Answer } from 'dns-packet'
import type { MulticastDns } from '../src/deterrents/discovery/services.ts'

export type Announced = { instance: string; service: string; port: number; txt?: string[] }

export type MdnsResponder = {
  dns: MulticastDns
  /** How often somebody asked. */
  asked(): number
  stop(): Promise<void>
}

const TTL = 120

/** Answers from `address`, which is one of the loopback network. `raw` replaces its answer. */
export async function startMdnsResponder(options: {
  address: string
  announced: readonly Announced[]
  /** The address of its A record, when it tells a lie. */
  named?: string
  raw?: Buffer
  group?: string
}): Promise<MdnsResponder> {
  const { address, announced, named = address, raw, group = '239.255.42.99' } = options
  let asked = 0
  const listener = createSocket({ type: 'udp4', reuseAddr: true })
  const sender = createSocket('udp4')
  listener.on('message', (message, { address: from, port }) => {
    const { id = 0, questions = [] } = decode(message)
    asked += 1
    const answers = announced.filter(({ service }) => questions.some(({ name }) => name === service)).flatMap(recordsOf)
    if (answers.length === 0 && !raw) return
    // mgos_dns_sd.c, handler: with an id that is not 0 the answer goes to the sender; its questions are left out.
    const host: Answer = { type: 'A', name: 'device.local', ttl: TTL, data: named }
    const answer = raw ?? encode({ type: 'response', id, flags: 0x0400, answers: [...answers, host] })
    if (id !== 0) sender.send(answer, port, from)
  })
  sender.bind(0, address)
  listener.bind(0)
  await Promise.all([once(listener, 'listening'), once(sender, 'listening')])
  listener.addMembership(group, '127.0.0.1')
  return {
    dns: { group, port: listener.address().port },
    asked: () => asked,
    async stop() {
      const closed = [once(listener, 'close'), once(sender, 'close')]
      listener.close()
      sender.close()
      await Promise.all(closed)
    },
  }
}

/** PTR, SRV and TXT, as `add_instance_records` sends them. */
function recordsOf({ instance, service, port, txt = [] }: Announced): Answer[] {
  const name = `${instance}.${service}`
  return [
    { type: 'PTR', name: service, ttl: TTL, data: name },
    { type: 'SRV', name, ttl: TTL, data: { priority: 0, weight: 0, port, target: 'device.local' } },
    { type: 'TXT', name, ttl: TTL, data: txt },
  ]
}
