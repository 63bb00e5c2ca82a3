import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { z } from 'zod'
import { jsonOf } from './device-call.ts'
import { driverType, passwordsIn, SECRET } from './driver.ts'

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
/** After this silence a switch of which nothing is known reports no state for a message that changes nothing. */
const SILENT_MS = 2_000
/** A switch that lost the broker too comes back within this; until then one that said on counts as on. */
const COMES_BACK_MS = 15_000

export const driver = driverType({
  name: 'mqtt',
  summary: 'A topic of an MQTT broker that takes one message for on and another for off.',
  settings: {
    broker: z
      .url({ protocol: /^mqtts?$/, error: 'This must be an mqtt:// or mqtts:// address.' })
      .describe('Such as `mqtt://127.0.0.1:1883`.'),
    username: z.string().max(1_000).optional(),
    password: z.string().max(1_000).optional().meta(SECRET),
    topic: topic.describe('The topic of both messages. The broker retains only the message for off.'),
    on: payload.describe('The message that switches on; `{seconds}` in it is the length of the firing.'),
    off: payload.describe('The message that switches off.'),
    qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(1),
    state: z
      .strictObject({
        topic: topic.describe('The topic on which the device reports its state, always or when it changes.'),
        key: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('The member that holds the state, when its message is a JSON object; such as `state` or `POWER`.'),
        on: payload.optional().describe('Its message when it is on; the same as `on` when left out.'),
        off: payload.optional().describe('Its message when it is off; the same as `off` when left out.'),
      })
      .optional()
      .describe('How the device answers. When left out, the broker’s acknowledgement is the answer.'),
    verifyCertificate: z.boolean().default(true).describe('When false, accepts any certificate of an mqtts:// broker.'),
  },
  secrets: ({ password, broker }) => [password, ...passwordsIn(broker)],
  open(settings) {
    const { qos } = settings
    // On the topic of the messages it would hear only itself.
    const state = settings.state?.topic === settings.topic ? undefined : settings.state
    /**
     * The connection is held while the deterrent is on: it carries the will, so that the broker switches off when the
     * gateway is gone.
     */
    let held: MqttClient | undefined
    /** What the device said last on this connection, retained or not: many switches report only changes. */
    let reported: 'on' | 'off' | undefined
    /** What it said on an earlier one. It may have changed since with nobody to hear it. */
    let previousState: 'on' | 'off' | undefined
    let connectedAt = -Infinity
    /** The broker has the message of the current call. */
    let isTaken = false
    let heard: () => void = () => {}

    function listen(text: string): void {
      const value = valueOf(text, state?.key)
      if (isSame(value, state?.off ?? settings.off)) reported = 'off'
      else if (isSame(value, state?.on ?? settings.on)) reported = 'on'
      else return
      heard()
    }

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
      if (!state) return client
      previousState = reported ?? previousState
      reported = undefined
      connectedAt = performance.now()
      client.on('message', (_topic, message) => listen(message.toString('utf8')))
      await client.subscribeAsync(state.topic, { qos: 1 })
      return client
    }

    /** Resolves when the broker has the message; with `state`, when the device says that it is so. */
    async function publish(client: MqttClient, wanted: 'on' | 'off', text: string): Promise<string> {
      // The broker retains the message for off, for a device that connects after the gateway.
      await client.publishAsync(settings.topic, text, { qos, retain: wanted === 'off' })
      isTaken = true
      const taken = qos === 0 ? 'given to the broker' : 'acknowledged by the broker'
      if (!state) return `${taken}; the switch reports no state`
      if (reported === wanted) return `${taken}; the switch says ${wanted}`
      const { promise: isSo, resolve } = Promise.withResolvers<true>()
      heard = () => reported === wanted && resolve(true)
      const comesBack = previousState === 'on' ? connectedAt + COMES_BACK_MS - performance.now() : 0
      const silence = sleep(Math.max(SILENT_MS, comesBack), false, { ref: false })
      const isSilent = wanted === 'off' && reported === undefined ? silence : isSo
      if (await Promise.race([isSo, isSilent])) return `the switch said ${wanted}`
      if (reported === undefined) return `${taken}; the switch reports no state`
      await isSo
      return `the switch said ${wanted}`
    }

    async function withClient(client: MqttClient, signal: AbortSignal, action: () => Promise<string>): Promise<string> {
      const { promise: ended, reject } = Promise.withResolvers<never>()
      isTaken = false
      const breakOff = (): void => {
        const isHeard = isTaken && client.connected
        reject(new Error(isHeard ? 'the switch does not say it' : 'the broker is gone'))
        // Otherwise the connection stays: what the switch says between two calls counts too.
        if (!isHeard) client.end(true)
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
        return withClient(client, signal, () => publish(client, 'on', text))
      },
      async off(signal) {
        const client = held?.connected ? held : await connect(signal)
        const answer = await withClient(client, signal, () => publish(client, 'off', settings.off))
        previousState = undefined
        await drop()
        return answer
      },
      close: drop,
    }
  },
})

/** The member `key` of a JSON object as text, or the whole text. */
function valueOf(text: string, key: string | undefined): string {
  if (key === undefined) return text
  const found = z.record(z.string(), z.unknown()).safeParse(jsonOf(text)).data?.[key]
  return typeof found === 'string' || typeof found === 'boolean' || typeof found === 'number' ? String(found) : ''
}

/** Switches write ON, On and on. */
function isSame(reported: string, expected: string): boolean {
  return reported.trim().toLowerCase() === expected.trim().toLowerCase()
}
