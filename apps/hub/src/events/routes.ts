import { hubEvents } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import type { Events } from './events.ts'

export function eventRoutes(app: FastifyInstance, { events }: { events: Events }): void {
  mount(app, hubEvents, ({ caller, reply }) => {
    const { raw } = reply
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
    const gone = events.open(caller, raw)
    raw.once('close', gone)
    reply.hijack()
    raw.writeHead(200, headers as Record<string, string>)
    // Lets the reader, and proxies in between, see the answer begin.
    raw.write(':\n\n')
    return undefined
  })
}
