import { expect, onTestFinished, test } from 'vitest'
import { startOnvif } from '../../../testing/device-servers.ts'
import type { OnvifManner } from '../../../testing/onvif-camera.ts'
import { deterrentsSettings } from '../schema.ts'
import { unitOf } from '../saved-state.ts'
import { driver } from './onvif.ts'

const never = new AbortController().signal
const PASSWORD = 'correct-horse-9'

async function open(manner: OnvifManner, password = PASSWORD) {
  const camera = await startOnvif('operator', PASSWORD, manner)
  onTestFinished(camera.stop)
  const own = { driver: 'onvif', address: camera.address, user: 'operator', password, relay: 'RelayOutput_1' }
  const settings = deterrentsSettings.parse({ strobe: own })
  return { camera, strobe: driver.open(unitOf('strobe', settings['strobe']!).settings as never) }
}

const right = () => Date.now()
const wrong = () => Date.now() - 7_200_000

test.each<[string, OnvifManner]>([
  ['tells its clock to those who sign', { clock: 'signed', now: right }],
  ['tells its clock to those who sign, and is wrong', { clock: 'signed', now: wrong, judges: right }],
  ['does not tell its clock', { clock: 'none', judges: right }],
  ['tells only its local time', { clock: 'local', now: right }],
  ['tells only its local time, which is another zone', { clock: 'local', now: wrong, judges: right }],
  ['tells only its local time, and judges by it', { clock: 'local', now: wrong }],
  ['is in 1970', { now: () => 300_000 }],
  ['judges by another clock than it tells', { now: wrong, judges: right }],
  ['wants HTTP Digest', { signIn: 'digest' }],
  ['wants HTTP Digest, and tells no clock', { signIn: 'digest', clock: 'none' }],
  ['wants HTTP Digest and the token', { signIn: 'both', clock: 'signed', now: right }],
])('a camera that %s is switched', async (_which, manner) => {
  const { camera, strobe } = await open(manner)
  await strobe.off(never)
  await strobe.on(7, never)
  expect([camera.isOn(), camera.seconds()]).toEqual([true, 7])
  await strobe.off(never)
  expect(camera.isOn()).toBe(false)
})

test.each<[OnvifManner]>([[{}], [{ clock: 'signed', now: right }], [{ signIn: 'digest' }], [{ signIn: 'both' }]])(
  'a wrong password is said as such (%o)',
  async (manner) => {
    const { strobe } = await open(manner, 'wrong')
    await expect(strobe.off(never)).rejects.toThrow('the camera refused the user or the password')
  },
)
