import { randomBytes } from 'node:crypto'
import type { Heartbeat } from '@hedgerow/contract'
import { generateIdentitySeed, identityOfSeed, type Identity } from '@hedgerow/enrolment'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import { openDatabase } from '../apps/hub/src/database/database.ts'

/** Gateways in the state after their approval, each with its keys. */
export type FleetGateway = {
  id: string
  identity: Identity
  /** The source address of its requests outside the tunnel. */
  sourceIp: string
  tunnel: { privateKey: string; presharedKey: string; address: string }
}

const ROWS_AT_ONCE = 200
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** Fills a new database with a fleet that was just online, and raises the hub's limit to that many. */
export async function createFleet(url: string, count: number): Promise<FleetGateway[]> {
  const { db, close } = await openDatabase({ url })
  const fleet = Array.from({ length: count }, (_, index) => makeGateway(index))
  await db.insertInto('settings').values({ name: 'maxGateways', value: '100000' }).execute()
  const now = Date.now()
  for (let start = 0; start < count; start += ROWS_AT_ONCE) {
    const rows = fleet.slice(start, start + ROWS_AT_ONCE).map(({ id, identity, tunnel, publicKey }, offset) => ({
      id,
      kind: 'enrolled' as const,
      name: `Gateway ${start + offset + 1}`,
      name_key: `gateway ${start + offset + 1}`,
      location: `Field ${(start + offset) % 97}`,
      description: '',
      device_token: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
      identity_public_key: identity.publicKey,
      wireguard_public_key: publicKey,
      preshared_key: tunnel.presharedKey,
      address: tunnel.address,
      version: '1.0.0',
      last_heartbeat_at: now,
      heartbeat: JSON.stringify(heartbeatOf(0, now)),
      created_at: now,
    }))
    await db.insertInto('gateways').values(rows).execute()
  }
  await close()
  return fleet
}

export function heartbeatOf(sequence: number, now: number): Heartbeat {
  const cameras = ['gate', 'yard', 'orchard', 'barn'].map((name) => ({ name, state: 'online' as const, fps: 5 }))
  return {
    bootId: 'bench-boot',
    sequence,
    uptimeSeconds: sequence * 30,
    version: '1.0.0',
    clock: now,
    load: 0.4,
    memory: 0.5,
    disk: 0.3,
    temperature: 51,
    cameras,
    detectors: [{ name: 'tpu', inferenceMs: 9 }],
    deterrents: [{ name: 'sprinkler', state: 'ready' }],
    problems: [],
  }
}

function makeGateway(index: number): FleetGateway & { publicKey: string } {
  const { privateKey, publicKey } = generateKeyPair()
  const address = (base: string) => `${base}.${(index + 2) >> 8}.${(index + 2) & 255}`
  return {
    id: Array.from(randomBytes(12), (byte) => LETTERS[byte & 31]).join(''),
    identity: identityOfSeed(generateIdentitySeed()),
    sourceIp: address('198.18'),
    publicKey,
    tunnel: { privateKey, presharedKey: generatePresharedKey(), address: address('10.100') },
  }
}
