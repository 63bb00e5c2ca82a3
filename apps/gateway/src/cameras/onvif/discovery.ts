/**
 * Finds ONVIF cameras in the device's own networks: sends a WS-Discovery 1.1 Probe by multicast and collects the
 * answers.
 */
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { textsOf } from '../../deterrents/drivers/onvif-soap.ts'

/** Where a camera's device service answers. */
export type FoundDevice = { service: URL }

export type DiscoveryOptions = {
  onFound(device: FoundDevice): void
  /** Ends the search. */
  signal: AbortSignal
  /** IPv4 addresses of the device to send from; those of all its networks when left out. */
  from?: readonly string[]
  group?: string
  port?: number
  /** Whether an address is one of the device itself. */
  isOwn?: (address: string) => boolean
}

const GROUP = '239.255.255.250'
const PORT = 3702
const PROBE_EVERY_MS = 1_000
/** More than a site's network has; the rest of a flood is ignored. */
const DEVICES_MAX = 256
const ANSWERS_MAX = 5_000

/** Resolves at the end of the search. A network that cannot be searched is skipped. */
export async function discoverCameras(options: DiscoveryOptions): Promise<void> {
  const { onFound, signal, from = ownAddresses(), group = GROUP, port = PORT, isOwn = isOwnAddress } = options
  const known = new Set<string>()
  let answers = 0

  function onAnswer(bytes: Buffer, sender: string): void {
    if (++answers > ANSWERS_MAX || isOwn(sender)) return
    const text = bytes.toString('utf8')
    if (!text.includes('ProbeMatch')) return
    const service = textsOf(text, 'XAddrs')
      .flatMap((list) => list.split(/\s+/, 16))
      .map(serviceUrl)
      // A camera may name only itself: an answer must not send the gateway to another machine, or to its own services.
      .find((url) => url?.hostname === sender)
    if (!service || known.has(service.host) || known.size >= DEVICES_MAX) return
    known.add(service.host)
    onFound({ service })
  }

  async function searchFrom(address: string): Promise<void> {
    const socket = createSocket('udp4')
    socket.on('error', () => {})
    socket.on('message', (bytes, { address: sender }) => onAnswer(bytes, sender))
    try {
      socket.bind(0, address)
      await once(socket, 'listening', { signal })
      socket.setMulticastInterface(address)
      const send = () => socket.send(probe(), port, group, () => {})
      send()
      // Repeated, because datagrams get lost and cameras sleep.
      const again = setInterval(send, PROBE_EVERY_MS)
      await untilAborted(signal)
      clearInterval(again)
    } catch {
      // This network has no multicast.
    } finally {
      socket.close()
    }
  }

  await Promise.all(from.map(searchFrom))
}

function probe(): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" ' +
    'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" ' +
    'xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" ' +
    `xmlns:n="http://www.onvif.org/ver10/network/wsdl"><s:Header><a:MessageID>uuid:${randomUUID()}</a:MessageID>` +
    '<a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>' +
    '<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action></s:Header>' +
    '<s:Body><d:Probe><d:Types>n:NetworkVideoTransmitter</d:Types></d:Probe></s:Body></s:Envelope>'
  )
}

function serviceUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) && url.username === '' ? url : undefined
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ family, internal, address }) => (family === 'IPv4' && !internal ? [address] : [])),
  )
}

function isOwnAddress(address: string): boolean {
  if (address.startsWith('127.')) return true
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address))
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
