import { channelType, type Message } from '../channel.ts'
import { PAYLOAD_MAX_BYTES } from '../web-push.ts'

const TEXT_MAX = 1_000

/**
 * Web Push: a message is for one browser, whose subscription `to` names. The hub makes its own keys, so there is
 * nothing to set up.
 */
export const channel = channelType({
  name: 'push',
  audience: 'browser',
  fields: {},
  open(_settings, { push }) {
    const closed = new AbortController()
    return {
      problem: () => undefined,
      async send(messages) {
        for (const message of messages)
          await push.send(message.to ?? '', { payload: payloadOf(message), topic: topicOf(message) }, closed.signal)
      },
      close: () => closed.abort(),
    }
  },
  batch: 1,
  sendingsATurn: 100,
  pauseMs: 0,
  goesOnAfterFailure: true,
  // The browser replaces a message by one with the same tag.
  interrupted: 'waiting',
  taken: 'The push service took it.',
})

/** The content for the portal's service worker: apps/portal/public/service-worker.js. */
function payloadOf({ title, text, url, acknowledge, push }: Message): object {
  const payload = { title, text: text.slice(0, TEXT_MAX), url, acknowledge, ...push }
  const tooLong = Buffer.byteLength(JSON.stringify(payload)) - PAYLOAD_MAX_BYTES
  if (tooLong <= 0) return payload
  // A character has at most six bytes in JSON.
  return { ...payload, title: title.slice(0, 200), text: text.slice(0, Math.max(0, TEXT_MAX - tooLong)) }
}

/** RFC 8030 §5.4: 32 characters of the base64url alphabet. */
function topicOf({ push, serial }: Message): string {
  return (push?.tag ?? serial).replaceAll(/[^\w-]/g, '-').slice(0, 32)
}
