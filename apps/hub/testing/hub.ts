import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API_BASE, type ErrorBody, type Role } from '@hedgerow/contract'
import { keyOf } from '@hedgerow/contract/calls'
import { pino } from 'pino'
import { createUser } from '../src/accounts/accounts.ts'
import { argon2id, type Hashing } from '../src/accounts/passwords.ts'
import { createHub, type Hub } from '../src/hub.ts'
import type { Config } from '../src/config.ts'
import { readConfig } from '../src/read-config.ts'
import type { Engine } from '../src/database/engine.ts'
import { errorsOf } from '../src/http/declared-errors.ts'
import { describedCalls } from '../src/http/openapi.ts'
import { createTestDatabase } from './databases.ts'

export type TestHub = Omit<Hub, 'clock'> & {
  /** The real clock plus `advance`, until it is frozen. */
  clock: { now(): number; advance(ms: number): void; freeze(): void }
  /** The access token of a user of that role, created at the first call. */
  signIn(role: Role): Promise<string>
  /** Creates a user whose password is `password`; returns its id. */
  addUser(username: string, role: Role, password: string): Promise<string>
}

/** Real hashing with a hundredth of the work: tests make many users. */
export const cheapHashing: Hashing = argon2id({ memoryCost: 64, timeCost: 1 })

/** A whole hub on a new database, or on `databaseUrl`; it listens after `start`, and `stop` removes everything. */
export async function startTestHub(
  engine: Engine,
  overrides: Partial<Config> = {},
  hashing = cheapHashing,
): Promise<TestHub> {
  const { databaseUrl } = overrides
  // A hub that has names of its own makes its own certificate.
  const isNamed = overrides.publicUrl ?? overrides.vpn?.endpointHost ?? overrides.gatewayUi
  const template = isNamed === undefined ? 'certified' : 'migrated'
  const { url, remove } =
    databaseUrl === undefined ? await createTestDatabase(engine, { template }) : { url: databaseUrl }
  const dataDir = mkdtempSync(join(tmpdir(), 'hub-test-'))
  let offsetMs = 0
  let frozenAt: number | undefined
  const clock = {
    now: () => (frozenAt ?? Date.now()) + offsetMs,
    freeze: () => {
      frozenAt = Date.now()
    },
    advance: (ms: number) => {
      offsetMs += ms
    },
  }
  const config: Config = {
    ...readConfig({
      HUB_PORT: '0',
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_PORT: '0',
      HUB_HOST: '127.0.0.1',
      HUB_DATA_DIR: dataDir,
      HUB_DATABASE_URL: url,
      // A new hub writes a file of half this size.
      HUB_DISK_RESERVE_MB: '1',
    }),
    admin: { email: undefined, username: 'first-admin', password: 'first-admin-password' },
    ...overrides,
  }
  const hub = await createHub({ config, log: pino({ level: 'silent' }), clock: clock.now, hashing })
  const undeclared = noteUndeclaredErrors(hub)
  const signedIn = new Map<Role, Promise<string>>()

  const addUser: TestHub['addUser'] = async (username, role, password) =>
    (await createUser(hub.db, hub.passwords, { username, role, password })).id

  return {
    ...hub,
    clock,
    addUser,
    async signIn(role) {
      const start = async () => {
        const id = await addUser(`the-${role}`, role, `the-password-of-${role}`)
        return hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
      }
      const token = signedIn.get(role) ?? start()
      signedIn.set(role, token)
      return token
    },
    async stop() {
      await hub.stop()
      await remove?.()
      rmSync(dataDir, { recursive: true, force: true })
      if (undeclared.size > 0)
        throw new Error(`These calls answered errors that the contract does not declare: ${[...undeclared].join(', ')}`)
    },
  }
}

const declared = new Map(describedCalls().map((call) => [keyOf(call), new Set<string>(errorsOf(call))]))

/**
 * Collects `METHOD path code` of every refusal whose code its call does not declare, to keep the API description true.
 */
function noteUndeclaredErrors({ app }: Hub): ReadonlySet<string> {
  const undeclared = new Set<string>()
  app.addHook('onSend', async ({ method, routeOptions: { url = '' } }, reply, payload) => {
    if (reply.statusCode < 400 || typeof payload !== 'string') return payload
    const codes = declared.get(`${method} ${url.slice(API_BASE.length)}`)
    if (!codes) return payload
    const { error = '' } = JSON.parse(payload) as Partial<ErrorBody>
    if (!codes.has(error)) undeclared.add(`${method} ${url} ${error}`)
    return payload
  })
  return undeclared
}
