import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { GATEWAY_BODY_LIMIT } from '@hedgerow/contract'
import {
  generateIdentitySeed,
  IDENTITY_HEADER,
  identityOfSeed,
  NONCE_HEADER,
  requestBytes,
  SIGNATURE_HEADER,
  TIME_HEADER,
} from '@hedgerow/enrolment'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import type { TestPeer } from '#testing/peer.ts'

const MIB = 1024 * 1024
const DETECTIONS = '/api/v1/gateway/detections'
const HEARTBEAT = '/api/v1/gateway/heartbeat'

/** The answer of each entry point to the same bytes. */
const HOSTILE: [string, string, string][] = [
  ['brackets', '['.repeat(60_000), 'json_too_complex'],
  ['objects without end', `{"detections":[${'{},'.repeat(19_000)}{}]}`, 'json_too_complex'],
  ['deep objects', '{"a":'.repeat(12_000), 'json_too_complex'],
  ['endless objects', `{"${'n'.repeat(60_000)}":1}`, 'json_too_complex'],
  ['an endless number', `{"detections":${'9'.repeat(60_000)}}`, 'json_too_complex'],
  ['a duplicate name', '{"detections":[],"detections":[]}', 'invalid_json'],
  ['a name for prototypes', '{"detections":[],"__proto__":{}}', 'invalid_json'],
]

describe('JSON at every entry point of the hub', () => {
  let hub: TestHub
  let peer: TestPeer
  const identity = identityOfSeed(generateIdentitySeed())
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    await insertTestGateway(hub.db, { identity_public_key: identity.publicKey })
    peer = (await joinedGateway(hub, { authorization: `Bearer ${await hub.signIn('admin')}` })).peer
  })
  afterAll(async () => {
    await peer.stop()
    await hub.stop()
  })

  const signed = async (payload: string, signer = identity) => {
    const time = String(Math.floor(hub.clock.now()))
    const nonce = randomBytes(32).toString('base64')
    const body = Buffer.from(payload)
    const headers = {
      'content-type': 'application/json',
      [IDENTITY_HEADER]: identity.publicKey,
      [TIME_HEADER]: time,
      [NONCE_HEADER]: nonce,
      [SIGNATURE_HEADER]: signer.sign(requestBytes({ method: 'POST', target: DETECTIONS, time, nonce, body })),
    }
    const answer = await hub.app.inject({ method: 'POST', url: DETECTIONS, headers, payload })
    return { status: answer.statusCode, error: answer.json<{ error: string }>().error }
  }
  const tunnelled = async (payload: string) => {
    const { status, body } = await peer.post(DETECTIONS, payload)
    return { status, error: (body as { error: string }).error }
  }
  const persons = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', headers, payload })
    return { status: answer.statusCode, error: answer.json<{ error: string }>().error }
  }

  test.each(HOSTILE)('with %s is refused before it is parsed', async (_case, payload, error) => {
    const refusal = { status: 400, error }
    expect(await persons(payload)).toEqual(refusal)
    expect(await signed(payload)).toEqual(refusal)
    expect(await tunnelled(payload)).toEqual(refusal)
  })

  test('of a gateway has 2 MiB at most, through the tunnel too', async () => {
    const refusal = { status: 413, error: 'payload_too_large' }
    const longest = `{"detections":${' '.repeat(GATEWAY_BODY_LIMIT)}}`
    expect(await signed(longest)).toEqual(refusal)
    expect(await tunnelled(longest)).toEqual(refusal)
    await tunnelled('['.repeat(47 * MIB)).catch(() => {})
    expect((await peer.post(HEARTBEAT, testHeartbeat(hub.clock.now()))).status, 'the hub keeps running').toBe(200)
  })

  test('takes no more memory when it comes in single bytes', async () => {
    const text = `{"username":"${'x'.repeat(50_000)}","password":"a"}`
    const concat = vi.spyOn(Buffer, 'concat')
    const answer = await hub.app.inject({
      method: 'POST',
      url: '/api/v1/auth/login',
      headers: { 'content-type': 'application/json' },
      payload: Readable.from(Array.from(text, (one) => Buffer.from(one))),
    })
    expect(answer.json()).toMatchObject({ error: 'invalid_request', fieldErrors: { username: expect.any(String) } })
    expect(concat.mock.calls.filter(([pieces]) => pieces.length > 100)).toEqual([])
    concat.mockRestore()
  })

  test('of a caller without the gateway’s key is not parsed', async () => {
    const stranger = identityOfSeed(generateIdentitySeed())
    const refusal = { status: 403, error: 'signature_invalid' }
    expect(await signed('no JSON', stranger)).toEqual(refusal)
    expect(await signed('['.repeat(MIB), stranger)).toEqual(refusal)
    expect(await signed('{"detections":[]}', stranger)).toEqual(refusal)
  })

  test('holds 500 detections with every field, up to 2 MiB of them', async () => {
    const startedAt = new Date(hub.clock.now()).toISOString()
    const thumbnail = `/9j/${'A'.repeat(3_600)}`
    const detections = Array.from({ length: 500 }, (_, i) => ({
      id: `full-${i}`,
      camera: 'orchard',
      label: 'deer',
      severity: 'alert',
      score: 0.5,
      startedAt,
      endedAt: startedAt,
      thumbnail,
      validated: true,
      falsePositive: false,
      deterrent: 'siren',
    }))
    expect(await peer.post(DETECTIONS, { detections })).toMatchObject({ status: 200, body: { accepted: 500 } })
  })
})
