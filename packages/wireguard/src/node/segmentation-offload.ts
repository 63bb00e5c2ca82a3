/**
 * Many datagrams to one endpoint by one system call: Linux takes them as one and cuts them apart later (UDP_SEGMENT,
 * since 4.18), at the network card if that supports it. It is an extra that nothing needs: where it is missing, or
 * refuses, datagrams go out one by one through Node's socket, with the same meaning.
 */

import type { Endpoint } from '../outputs.ts'
import { MAX_BYTES, sendSegments } from './send-segments.ts'
import { socketAddress } from './socket-address.ts'

export type Outgoing = { data: Uint8Array; to: Endpoint }

export type SegmentationOffload = {
  /**
   * Sends the datagrams that can go together, and returns the others in their order. Do not call it after the socket is
   * closed.
   */
  send(datagrams: Outgoing[]): Outgoing[]
}

/** The limit of one call in the first kernels with UDP_SEGMENT. */
const MAX_SEGMENTS = 64
/**
 * After a refusal, for example by a path too narrow for a whole segment, this many runs to the same endpoint go through
 * Node's socket.
 */
const RUNS_AFTER_REFUSAL = 1_024

/** For a socket of this process by its file descriptor. Undefined where libc cannot be reached. */
export function openSegmentationOffload(socket: {
  descriptor: number
  family: 4 | 6
}): SegmentationOffload | undefined {
  const sendTogether = sendSegments()
  if (sendTogether === undefined) return undefined
  const routes = new WeakMap<Endpoint, { name: Uint8Array | undefined; runsToSkip: number }>()

  function routeTo(endpoint: Endpoint): { name: Uint8Array | undefined; runsToSkip: number } {
    let route = routes.get(endpoint)
    if (route === undefined) {
      route = { name: socketAddress(endpoint, socket.family), runsToSkip: 0 }
      routes.set(endpoint, route)
    }
    return route
  }

  /** Whether a whole run was sent; otherwise nothing of it was. */
  function hasSent(run: Outgoing[]): boolean {
    const [first] = run
    if (first === undefined || run.length === 1) return false
    const route = routeTo(first.to)
    if (route.name === undefined) return false
    if (route.runsToSkip > 0) {
      route.runsToSkip--
      return false
    }
    const pieces = run.map(({ data }) => data)
    if (sendTogether!(socket.descriptor, route.name, pieces)) return true
    route.runsToSkip = RUNS_AFTER_REFUSAL
    return false
  }

  function send(datagrams: Outgoing[]): Outgoing[] {
    const left: Outgoing[] = []
    for (let from = 0; from < datagrams.length;) {
      const run = datagrams.slice(from, endOfRun(datagrams, from))
      if (!hasSent(run)) left.push(...run)
      from += run.length
    }
    return left
  }

  return { send }
}

/** A run has one endpoint and one size, except that its last datagram may be shorter. */
function endOfRun(datagrams: Outgoing[], from: number): number {
  const { data, to } = datagrams[from]!
  let bytes = data.length
  let end = from + 1
  for (; end < datagrams.length && end - from < MAX_SEGMENTS; end++) {
    const next = datagrams[end]!
    bytes += next.data.length
    const isFirstSize = datagrams[end - 1]!.data.length === data.length
    if (!isFirstSize || next.to !== to || next.data.length > data.length || bytes > MAX_BYTES) break
  }
  return end
}
