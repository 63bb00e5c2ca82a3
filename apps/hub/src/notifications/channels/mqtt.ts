import { z } from 'zod'
import { connectBroker, type BrokerSettings } from '../../mqtt/mqtt.ts'
import { channelType, forPrograms } from '../channel.ts'

const topicName = (name: string) =>
  z
    .string()
    .regex(/^[^#+\0/$][^#+\0]{0,199}$/, `must be the name of a topic, such as ${name}`)
    .refine((topic) => !topic.endsWith('/'), 'must not end with /')

/**
 * Messages for programs, as the webhook has them, on `<HUB_MQTT_TOPIC>/alerts`; not retained. Home Assistant has the
 * same broker (home-assistant/home-assistant.ts).
 */
export const channel = channelType({
  name: 'mqtt',
  audience: 'operators',
  variables: {
    HUB_MQTT_URL: z
      .url({ protocol: /^mqtts?$/, error: 'must be an mqtt:// or mqtts:// address' })
      .refine(
        (url) => new URL(url).username === '' && new URL(url).password === '',
        'must have no sign-in: set HUB_MQTT_USERNAME and HUB_MQTT_PASSWORD',
      )
      .optional(),
    HUB_MQTT_USERNAME: z.string().min(1).max(1_000).optional(),
    HUB_MQTT_PASSWORD: z.string().min(1).max(1_000).optional(),
    HUB_MQTT_CA: z.string().includes('-----BEGIN CERTIFICATE-----', 'must be certificates in PEM').optional(),
    HUB_MQTT_TOPIC: topicName('hedgerow').default('hedgerow'),
    HUB_MQTT_DISCOVERY: topicName('homeassistant').default('homeassistant'),
  },
  configure(found): BrokerSettings | undefined {
    const text = (name: `HUB_MQTT_${string}`) => (found[name] === undefined ? undefined : String(found[name]))
    const url = text('HUB_MQTT_URL')
    if (url === undefined) return undefined
    return {
      url,
      username: text('HUB_MQTT_USERNAME'),
      password: text('HUB_MQTT_PASSWORD'),
      ca: text('HUB_MQTT_CA'),
      topic: String(found['HUB_MQTT_TOPIC']),
      discovery: String(found['HUB_MQTT_DISCOVERY']),
    }
  },
  open(settings) {
    const closed = new AbortController()
    return {
      problem: () => undefined,
      async send(messages) {
        const broker = await connectBroker(settings, { signal: closed.signal })
        try {
          for (const message of messages)
            await broker.publish(`${settings.topic}/alerts`, JSON.stringify(forPrograms(message)))
        } finally {
          await broker.close()
        }
      },
      close: () => closed.abort(),
    }
  },
  // One connection sends all of them.
  batch: 20,
  sendingsATurn: 5,
  pauseMs: 0,
  goesOnAfterFailure: false,
  // A program recognizes a repeated message by its id.
  interrupted: 'waiting',
  unset: 'HUB_MQTT_URL is not set.',
  taken: 'The broker took it.',
})
