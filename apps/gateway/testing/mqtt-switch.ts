/** A switch behind an MQTT broker, which answers as the firmware that people have. */
import { connectAsync } from 'mqtt'

/**
 * `on-change`: retained, and only when it changes (ESPHome: `mqtt_component.cpp` and `switch.cpp`, which drops a state
 * that is the same; espurna issue 1546). `not-retained`: the same without retaining. `always`: after each message, as
 * Tasmota and zigbee2mqtt do.
 */
export type Reports = 'on-change' | 'not-retained' | 'always'

export type MqttSwitch = {
  isOn(): boolean
  isConnected(): boolean
  /** Somebody presses its button. */
  press(): Promise<void>
  stop(): Promise<void>
}

/** It listens to `siren/set` and reports to `siren/state`, with `report` of its state. */
export async function startMqttSwitch(
  broker: string,
  reports: Reports,
  report: (isOn: boolean) => string = (isOn) => (isOn ? 'ON' : 'OFF'),
): Promise<MqttSwitch> {
  const client = await connectAsync(broker, {}, false)
  let isOn = false
  const say = () => client.publishAsync('siren/state', report(isOn), { retain: reports === 'on-change', qos: 1 })
  async function become(wanted: boolean): Promise<void> {
    const hasChanged = wanted !== isOn
    isOn = wanted
    // What changes without a connection is never said.
    if (client.connected && (hasChanged || reports === 'always')) await say()
  }
  client.on('message', (_topic, message) => void become(message.toString() === 'ON').catch(() => {}))
  if (reports === 'on-change') await say()
  await client.subscribeAsync('siren/set', { qos: 1 })
  return {
    isOn: () => isOn,
    isConnected: () => client.connected,
    press: () => become(!isOn),
    stop: () => client.endAsync(true),
  }
}
