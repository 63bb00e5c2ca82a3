import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { callDevice, readAnswer, type DeviceAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate } from './driver.ts'

export const driver = driverType({
  name: 'shelly',
  summary: 'A Shelly of the second generation or later, over its RPC. It ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.21`.'),
    output: z.number().int().min(0).max(63).default(0).describe('The number of the output, from 0.'),
    password: z.string().max(200).optional().describe('Only for a device that asks for one; the user is `admin`.'),
    verifyCertificate,
  },
  secrets: ({ password }) => [password],
  open({ address, output, password, verifyCertificate }) {
    const path = '/rpc/Switch.Set'

    async function set(parameters: object, signal: AbortSignal): Promise<string> {
      const send = (headers: Record<string, string>) =>
        callDevice({
          url: new URL(path, address),
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ id: output, ...parameters }),
          signal,
          verifyCertificate,
        })
      let answer = await send({})
      if (answer.status === 401 && password !== undefined)
        answer = await send({ authorization: digest(answer, 'POST', path, 'admin', password) })
      if (answer.status === 401) throw new DeviceRefusal('the device refused the password')
      const { was_on: wasOn } = readAnswer(answer, z.object({ was_on: z.boolean() }))
      return `it was ${wasOn ? 'on' : 'off'}`
    }

    return {
      on: (seconds, signal) => set({ on: true, toggle_after: seconds }, signal),
      off: (signal) => set({ on: false }, signal),
    }
  },
})

/** RFC 7616 with SHA-256 and `qop=auth`, the only kind that these devices offer. */
function digest(challenge: DeviceAnswer, method: string, uri: string, user: string, password: string): string {
  const header = challenge.headers['www-authenticate'] ?? ''
  const fields = new Map([...header.matchAll(/\b(\w{1,20})="([^"]{1,200})"/g)].map(([, name, value]) => [name, value]))
  const [realm, nonce] = [fields.get('realm'), fields.get('nonce')]
  if (!/^Digest /i.test(header) || !/\bSHA-256\b/.test(header) || realm === undefined || nonce === undefined)
    throw new DeviceRefusal('the device asks for a password in a way that it should not')
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const cnonce = randomBytes(8).toString('hex')
  const count = '00000001'
  const response = hash(
    [hash(`${user}:${realm}:${password}`), nonce, count, cnonce, 'auth', hash(`${method}:${uri}`)].join(':'),
  )
  const given = { username: user, realm, nonce, uri, response, cnonce }
  const quoted = Object.entries(given).map(([name, value]) => `${name}="${value}"`)
  return `Digest ${quoted.join(', ')}, algorithm=SHA-256, qop=auth, nc=${count}`
}
