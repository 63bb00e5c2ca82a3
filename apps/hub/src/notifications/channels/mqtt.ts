import { z } from 'zod'
import { connectBroker } from '../../mqtt/mqtt.ts'
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
  fields: {
    url: {
      variable: 'HUB_MQTT_URL',
      kind: 'address',
      label: 'Broker',
      help: 'mqtt://host or mqtts://host. Home Assistant gets the gateways over the same broker.',
      schema: z
        .url({ protocol: /^mqtts?$/, error: 'must be an mqtt:// or mqtts:// address' })
        .refine(
          (url) => new URL(url).username === '' && new URL(url).password === '',
          'must have no sign-in: set HUB_MQTT_USERNAME and HUB_MQTT_PASSWORD',
        ),
    },
    username: {
      variable: 'HUB_MQTT_USERNAME',
      kind: 'text',
      label: 'Username',
      schema: z.string().min(1).max(1_000),
      isOptional: true,
    },
    password: {
      variable: 'HUB_MQTT_PASSWORD',
      kind: 'secret',
      label: 'Password',
      schema: z.string().min(1).max(1_000),
      isOptional: true,
    },
    ca: {
      variable: 'HUB_MQTT_CA',
      kind: 'lines',
      label: 'Certificates of the broker',
      help: 'In PEM, for an mqtts:// broker whose certificate is not a public one.',
      schema: z.string().includes('-----BEGIN CERTIFICATE-----', 'must be certificates in PEM'),
      isOptional: true,
    },
    topic: {
      variable: 'HUB_MQTT_TOPIC',
      kind: 'text',
      label: 'Topic',
      help: 'The hub’s topics are below it.',
      schema: topicName('hedgerow'),
      default: 'hedgerow',
    },
    discovery: {
      variable: 'HUB_MQTT_DISCOVERY',
      kind: 'text',
      label: 'Discovery topic',
      help: 'Where Home Assistant looks for devices.',
      schema: topicName('homeassistant'),
      default: 'homeassistant',
    },
  },
  open(settings, { reach }) {
    const closed = new AbortController()
    const broker = { ...settings, onlyPublic: reach(settings.url).onlyPublic }
    return {
      broker,
      problem: () => undefined,
      async send(messages) {
        const connection = await connectBroker(broker, { signal: closed.signal })
        try {
          for (const message of messages)
            await connection.publish(`${settings.topic}/alerts`, JSON.stringify(forPrograms(message)))
        } finally {
          await connection.close()
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
  taken: 'The broker took it.',
})
