import type { MqttClient } from 'mqtt'
import { z } from 'zod'
import { driverType } from './driver.ts'

const topic = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[^#+\0]+$/, 'A topic here holds no # and no +.')
const payload = z.string().max(10_000)

/** The broker notices a gateway without power after 1.5 times this. */
const KEEPALIVE_SECONDS = 5
/** Shorter than the time that a device has for its answer. */
const CONNECT_MS = 4_000

export const driver = driverType({
  name: 'mqtt',
  summary: 'A topic of an MQTT broker that takes one message for on and another for off.',
  settings: {
    broker: z
      .url({ protocol: /^mqtts?$/, error: 'This must be an mqtt:// or mqtts:// address.' })
      .describe('Such as `mqtt://127.0.0.1:1883`.'),
    username: z.string().max(1_000).optional(),
    password: z.string().max(1_000).optional(),
    topic: topic.describe('The topic of both messages. The broker retains only the message for off.'),
    on: payload.describe('The message that switches on; `{seconds}` in it is the length of the firing.'),
    off: payload.describe('The message that switches off.'),
    qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(1),
    state: z
      .strictObject({
        topic: topic.describe('The topic on which the device reports its state after each message.'),
        on: payload.optional().describe('Its message when it is on; the same as `on` when left out.'),
        off: payload.optional().describe('Its message when it is off; the same as `off` when left out.'),
      })
      .optional()
      .describe('How the device answers. When left out, the broker’s acknowledgement is the answer.'),
    verifyCertificate: z.boolean().default(true).describe('When false, accepts any certificate of an mqtts:// broker.'),
  },
  secrets: ({ password, broker }) => [password, new URL(broker).password],
  open(settings) {
    const { qos, state } = settings
    /**
     * The connection is held while the deterrent is on: it carries the will, so that the broker switches off when the
     * gateway is gone.
     */
    let held: MqttClient | undefined

    async function connect(signal: AbortSignal): Promise<MqttClient> {
      const { connectAsync } = await import('mqtt')
      const { broker, username, password, topic, off, verifyCertificate } = settings
      const client = await connectAsync(
        broker,
        {
          ...(username !== undefined && { username }),
          ...(password !== undefined && { password }),
          clean: true,
          keepalive: KEEPALIVE_SECONDS,
          // A message that waits for a connection would arrive too late.
          reconnectPeriod: 0,
          connectTimeout: CONNECT_MS,
          queueQoSZero: false,
          rejectUnauthorized: verifyCertificate,
          will: { topic, payload: Buffer.from(off), qos, retain: true },
        },
        false,
      )
      client.on('error', () => client.end(true))
      held?.end(true)
      held = client
      if (signal.aborted) client.end(true)
      signal.throwIfAborted()
      return client
    }

    /** Resolves when the broker has the message; with `state`, when the device has confirmed it too. */
    async function publish(client: MqttClient, text: string, stateText: string, retain: boolean): Promise<string> {
      const { said } = state ? await listen(client, state.topic, stateText) : {}
      await client.publishAsync(settings.topic, text, { qos, retain })
      return said ? `the device said ${await said}` : 'the broker took it'
    }

    async function withClient(client: MqttClient, signal: AbortSignal, action: () => Promise<string>): Promise<string> {
      const { promise: ended, reject } = Promise.withResolvers<never>()
      const breakOff = (): void => {
        reject(new Error('the broker is gone'))
        client.end(true)
      }
      signal.addEventListener('abort', breakOff, { once: true })
      client.once('close', breakOff)
      if (signal.aborted || !client.connected) breakOff()
      try {
        return await Promise.race([ended, action()])
      } finally {
        signal.removeEventListener('abort', breakOff)
        client.off('close', breakOff)
        ended.catch(() => {})
      }
    }

    async function drop(): Promise<void> {
      const client = held
      held = undefined
      // A clean end: the broker drops the will.
      await client?.endAsync(false).catch(() => {})
    }

    return {
      async on(seconds, signal) {
        const client = await connect(signal)
        const text = settings.on.replaceAll('{seconds}', String(seconds))
        return withClient(client, signal, () => publish(client, text, state?.on ?? settings.on, false))
      },
      async off(signal) {
        const client = held?.connected ? held : await connect(signal)
        const { off } = settings
        // The broker retains this message for a device that connects after the gateway.
        const answer = await withClient(client, signal, () => publish(client, off, state?.off ?? off, true))
        await drop()
        return answer
      },
      close: drop,
    }
  },
})

/** `said` resolves with the next message of this text, but not with a retained one. */
async function listen(client: MqttClient, topic: string, text: string): Promise<{ said: Promise<string> }> {
  const { promise: said, resolve } = Promise.withResolvers<string>()
  client.on('message', (from, message, { retain }) => {
    if (from === topic && !retain && message.toString('utf8') === text) resolve(text)
  })
  await client.subscribeAsync(topic, { qos: 1 })
  return { said }
}
