/**
 * A path between tunnels for benches: forwards UDP to one address with a delay, and loses, duplicates or reorders some
 * of it, in the same way for every user. It replaces sch_netem, which few kernels offer as a module that a container
 * may load.
 */
import { createSocket, type Socket } from 'node:dgram'
import { isIP } from 'node:net'

export type Impairment = {
  /** In each direction, so a round trip takes twice that. */
  delayMs: number
  /** Shares of 1. */
  loss: number
  /** The share that overtakes others, as netem's `reorder`: these are not delayed. */
  reordering: number
  duplication: number
}

const BUFFER_BYTES = 4 << 20

/** A queue of datagrams in flight; because the delay is constant it is always sorted. */
function createLine(impairment: Impairment): (deliver: () => void) => void {
  const flights: { at: number; deliver: () => void }[] = []
  let isArmed = false
  const land = (): void => {
    const now = performance.now()
    let count = 0
    while (count < flights.length && flights[count]!.at <= now) flights[count++]!.deliver()
    flights.splice(0, count)
    isArmed = flights.length > 0
    if (isArmed) setTimeout(land, Math.max(1, flights[0]!.at - performance.now()))
  }
  return (deliver) => {
    if (Math.random() < impairment.loss) return
    for (let copies = Math.random() < impairment.duplication ? 2 : 1; copies > 0; copies--) {
      if (impairment.delayMs === 0 || Math.random() < impairment.reordering) {
        deliver()
        continue
      }
      flights.push({ at: performance.now() + impairment.delayMs, deliver })
      if (!isArmed) setTimeout(land, impairment.delayMs)
      isArmed = true
    }
  }
}

async function bind(host: string): Promise<Socket> {
  const socket = createSocket({
    type: 'udp4',
    lookup: (address, _options, callback) => callback(null, address, isIP(address)),
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.bind(0, host, resolve)
  await promise
  socket.setRecvBufferSize(BUFFER_BYTES)
  socket.setSendBufferSize(BUFFER_BYTES)
  socket.on('error', () => undefined)
  return socket
}

async function relay(target: { address: string; port: number }, impairment: Impairment): Promise<number> {
  const front = await bind('0.0.0.0')
  const [there, back] = [createLine(impairment), createLine(impairment)]
  const sockets = new Map<string, Promise<Socket>>()
  front.on('message', (datagram, { address, port }) => {
    const key = `${address}:${port}`
    let opening = sockets.get(key)
    if (opening === undefined) {
      opening = bind('0.0.0.0').then((socket) =>
        socket.on('message', (answer) => back(() => front.send(answer, port, address))),
      )
      sockets.set(key, opening)
    }
    void opening.then((socket) => there(() => socket.send(datagram, target.port, target.address)))
  })
  return front.address().port
}

if (import.meta.main) {
  const [address = '', port = '', impairment = ''] = process.argv.slice(2)
  const relayPort = await relay({ address, port: Number(port) }, JSON.parse(impairment) as Impairment)
  console.log(`relaying on ${relayPort}`)
}
