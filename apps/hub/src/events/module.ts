import { hubEvents } from '@hedgerow/contract'
import type { Sessions } from '../access/sessions.ts'
import type { App, Ground } from '../facts/room.ts'
import { mount } from '../http/mount.ts'
import { createEvents } from './events.ts'
import { liveEvents } from './live-events.ts'

type Needs = { sessions: Sessions; heartbeats: { onDeterrents(listener: (gatewayId: string) => void): void } }

export function open(hub: Ground & Needs) {
  const events = createEvents(hub)
  hub.heartbeats.onDeterrents((gatewayId) => events.publish({ topic: 'deterrents', gatewayId }))
  return {
    gives: { events },
    follows: [liveEvents(events)],
    routes: (app: App) =>
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
      }),
    stop: events.stop,
  }
}
