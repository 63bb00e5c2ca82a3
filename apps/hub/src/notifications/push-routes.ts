import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../access/sessions.ts'
import { actorOf } from '../facts/facts.ts'
import { mount } from '../http/mount.ts'
import type { Push } from './push-subscriptions.ts'

const TEST_TOPIC = 'test'

/** A person's own browsers with push messages. */
export function pushRoutes(app: FastifyInstance, { clock, push }: { clock: () => number; push: Push }): void {
  const by = (request: { caller: Caller; sourceIp: string }) => ({
    userId: request.caller.userId,
    sessionId: request.caller.sessionId,
    actor: actorOf(request),
    now: clock(),
  })
  mount(app, contract.readPush, async ({ caller }) => ({
    publicKey: push.publicKey,
    subscriptions: await push.list(caller.userId),
  }))
  mount(app, contract.subscribePush, (request) =>
    push.subscribe(request.body, request.raw.headers['user-agent'] ?? '', by(request)),
  )
  mount(app, contract.unsubscribePush, async (request) => {
    await push.unsubscribe(request.params.id, by(request))
    return undefined
  })
  mount(app, contract.testPush, async ({ params, caller }) => {
    await push.requireOwn(params.id, caller.userId)
    const payload = { title: 'Test message from your hub', text: 'This browser shows the alerts of your hub.' }
    try {
      await push.send(params.id, { payload, topic: TEST_TOPIC }, new AbortController().signal)
      return { status: 'sent' as const, message: 'The push service took it.' }
    } catch (error) {
      return { status: 'failed' as const, message: error instanceof Error ? error.message : 'It was not sent.' }
    }
  })
}
