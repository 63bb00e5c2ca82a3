import { z } from 'zod'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate, SECRET } from './driver.ts'
import { callOnvif, DEVICE_SERVICE_PATH, elementsOf, escapeXml, unescapeXml } from './onvif-soap.ts'

export const driver = driverType({
  name: 'onvif',
  summary: 'A relay output of an ONVIF camera. The camera ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.25`.'),
    user: z.string().min(1).max(100),
    password: z.string().max(200).meta(SECRET),
    relay: z.string().min(1).max(64).describe('The token of the relay output, such as `RelayOutput_1`.'),
    idle: z.enum(['open', 'closed']).default('open').describe('The state of its contact while it is off.'),
    verifyCertificate,
  },
  anyOutput: { relay: 'any' },
  secrets: ({ password }) => [password],
  open({ address, user, password, relay, idle, verifyCertificate }) {
    const url = new URL(DEVICE_SERVICE_PATH, address)
    const token = `<d:RelayOutputToken>${escapeXml(relay)}</d:RelayOutputToken>`

    async function call(body: string, expected: string, signal: AbortSignal): Promise<void> {
      const text = await callOnvif(url, { user, password, verifyCertificate }, body, signal)
      if (!text.includes(expected)) throw new DeviceRefusal('the camera did not say that it is done')
    }

    const setState = (state: 'active' | 'inactive', signal: AbortSignal) =>
      call(
        `<d:SetRelayOutputState>${token}<d:LogicalState>${state}</d:LogicalState></d:SetRelayOutputState>`,
        'SetRelayOutputStateResponse',
        signal,
      )

    return {
      async on(seconds, signal) {
        const mode = '<t:Mode>Monostable</t:Mode>'
        const properties = `${mode}<t:DelayTime>PT${seconds}S</t:DelayTime><t:IdleState>${idle}</t:IdleState>`
        await call(
          `<d:SetRelayOutputSettings>${token}<d:Properties>${properties}</d:Properties></d:SetRelayOutputSettings>`,
          'SetRelayOutputSettingsResponse',
          signal,
        )
        await setState('active', signal)
        return 'the camera has done it'
      },
      async off(signal) {
        await setState('inactive', signal)
        return 'the camera has done it'
      },
      async outputs(signal) {
        const device = { user, password, verifyCertificate }
        const text = await callOnvif(url, device, '<d:GetRelayOutputs/>', signal)
        return elementsOf(text, 'RelayOutputs').flatMap(({ attributes }) => {
          const found = /\btoken="([^"]{1,64})"/.exec(attributes)?.[1]
          // ONVIF has no call for the state of a relay.
          return found === undefined ? [] : [{ name: '', isOn: undefined, settings: { relay: unescapeXml(found) } }]
        })
      },
    }
  },
})
