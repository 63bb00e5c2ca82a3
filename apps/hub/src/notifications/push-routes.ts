import * as contract from '@hedgerow/contract'
import type { Language } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import { Unreachable, type Push } from './push-subscriptions.ts'
import { WORDS } from './words.ts'

const TEST_TOPIC = 'test'
/** One sentence for every cause, because a person chooses the name: they would learn which names the hub knows. */
const UNREACHABLE = 'The push service of this browser cannot be reached.'

type Parts = {
  push: Push
  /** The language of a person's messages. */
  languageOf: (userId: string) => Promise<Language>
}

/** A person's own browsers with push messages. */
export function pushRoutes(app: FastifyInstance, { push, languageOf }: Parts): void {
  mount(app, contract.readPush, async ({ caller }) => ({
    publicKey: push.publicKey,
    subscriptions: await push.list(caller.userId),
  }))
  mount(app, contract.subscribePush, (request) =>
    push.subscribe(request.body, request.raw.headers['user-agent'] ?? '', request.act),
  )
  mount(app, contract.unsubscribePush, (request) => push.unsubscribe(request.params.id, request.act))
  mount(app, contract.testPush, async ({ params, caller }) => {
    await push.requireOwn(params.id, caller.userId)
    const { test: title, browserTest: text } = WORDS[await languageOf(caller.userId)]
    const payload = { title, text }
    try {
      await push.send(params.id, { payload, topic: TEST_TOPIC }, new AbortController().signal)
      return { status: 'sent' as const, message: 'The push service took it.' }
    } catch (error) {
      const isTold = error instanceof Error && !(error instanceof Unreachable)
      return { status: 'failed' as const, message: isTold ? error.message : UNREACHABLE }
    }
  })
}
