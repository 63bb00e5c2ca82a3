import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from './read-config.ts'
import { explainStartupError } from './startup-errors.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hub-startup-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const errorOf = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('a missing page is not blamed on the database', () => {
  const config = readConfig({ HUB_SITE_DIR: join(folder, 'site'), HUB_DATA_DIR: join(folder, 'data') })
  const page = join(folder, 'site', 'beta.html')
  expect(
    explainStartupError(
      errorOf(() => readFileSync(page)),
      config,
    ),
  ).toBe(
    `${page} cannot be read: there is no such file or folder (ENOENT). Build the pages again with "npm run build".`,
  )
  writeFileSync(join(folder, 'data'), 'a file')
  expect(
    explainStartupError(
      errorOf(() => mkdirSync(join(folder, 'data', 'backups'))),
      config,
    ),
  ).toBe('The database file (HUB_DATA_DIR) cannot be used: a part of its path is no folder (ENOTDIR).')
})

test('a file that a command was told to write is not blamed on the database', () => {
  const config = readConfig({ HUB_DATA_DIR: join(folder, 'data') })
  const said = (act: () => unknown) => explainStartupError(errorOf(act), config)
  const [file, elsewhere] = [join(folder, 'support.json'), join(folder, 'none', 'support.json')]
  writeFileSync(file, '')
  expect(said(() => writeFileSync(file, '', { flag: 'wx' }))).toBe(`${file} exists already. Name a new file.`)
  expect(said(() => writeFileSync(elsewhere, ''))).toBe(
    `${elsewhere} cannot be used: there is no such file or folder (ENOENT).`,
  )
  mkdirSync(join(folder, 'data'))
  const inside = join(folder, 'data', 'support.json')
  writeFileSync(inside, '')
  expect(said(() => writeFileSync(inside, '', { flag: 'wx' }))).toBe(`${inside} exists already. Name a new file.`)
})

test('a database of its own place is blamed on its own variable', () => {
  writeFileSync(join(folder, 'file'), '')
  const below = (...names: string[]) => join(folder, 'file', ...names)
  const said = (path: string, variables: Record<string, string>) =>
    explainStartupError(
      errorOf(() => mkdirSync(path)),
      readConfig(variables),
    )
  const reason = 'cannot be used: a part of its path is no folder (ENOTDIR).'
  const own = { HUB_DATABASE_URL: `sqlite:${below('nope', 'x.db')}`, HUB_DATA_DIR: join(folder, 'data') }
  expect(said(below('nope'), own)).toBe(`The database file (HUB_DATABASE_URL) ${reason}`)
  const data = { HUB_DATABASE_URL: `sqlite:${join(folder, 'x.db')}`, HUB_DATA_DIR: below('data') }
  expect(said(below('data'), data)).toBe(`The data folder (HUB_DATA_DIR) ${reason}`)
  expect(said(below('data'), { HUB_DATABASE_URL: 'postgres://hub@db/hub', HUB_DATA_DIR: below('data') })).toBe(
    `The data folder (HUB_DATA_DIR) ${reason}`,
  )
  expect(said(below('data2'), { HUB_DATA_DIR: below('data') })).toBe(`${below('data2')} ${reason}`)
  const refusal = Object.assign(new Error('unable to open database file'), { errcode: 14 })
  expect(explainStartupError(refusal, readConfig({}))).toContain('(HUB_DATA_DIR)')
  expect(explainStartupError(refusal, readConfig(own))).toContain('(HUB_DATABASE_URL)')
})

const failing = async (server: Server, at: { port: number; host?: string }): Promise<unknown> => {
  server.listen(at)
  const [error] = await once(server, 'error')
  return error
}

test('a busy port is blamed on its own variable, also where UDP has the same number', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  const taken4 = createSocket('udp4').bind(0, '127.0.0.1')
  await Promise.all([once(taken, 'listening'), once(taken4, 'listening')])
  const port = (taken.address() as { port: number }).port
  const udp = taken4.address().port
  const config = readConfig({ HUB_PORT: String(port), HUB_VPN_PORT: String(port), HUB_HTTPS_PORT: String(udp) })
  const tcp = explainStartupError(await failing(createServer(), { port, host: '127.0.0.1' }), config)
  expect(tcp).toBe(`Port ${port} is already in use. Stop what uses it, or set HUB_PORT to another.`)
  const [error] = await once(createSocket('udp4').bind(udp, '127.0.0.1'), 'error')
  expect(explainStartupError(error, config)).toContain('set HUB_VPN_PORT to another')
  taken.close()
  taken4.close()
})

test('an address that is not the machine’s is blamed on the variable that has it', async () => {
  const config = readConfig({ HUB_METRICS_PORT: '18599', HUB_METRICS_HOST: '192.0.2.55', HUB_HOST: '192.0.2.56' })
  const said = async (port: number, host: string) =>
    explainStartupError(await failing(createServer(), { port, host }), config)
  expect(await said(18_599, '192.0.2.55')).toBe('HUB_METRICS_HOST 192.0.2.55 is no address of this machine.')
  expect(await said(8080, '192.0.2.56')).toBe('HUB_HOST 192.0.2.56 is no address of this machine.')
  // An error at a free port names none.
  expect(await said(0, '192.0.2.55')).toBe('HUB_METRICS_HOST 192.0.2.55 is no address of this machine.')
  expect(await said(0, '192.0.2.56')).toBe('HUB_HOST 192.0.2.56 is no address of this machine.')
})

test.each([
  [{ HUB_HOST: 'no.such.invalid' }, 'HUB_HOST no.such.invalid'],
  [{ HUB_HOST: 'no.such.invalid', HUB_METRICS_PORT: '34789' }, 'HUB_HOST no.such.invalid'],
  [{ HUB_METRICS_HOST: 'no.such.invalid', HUB_METRICS_PORT: '34789' }, 'HUB_METRICS_HOST no.such.invalid'],
])('a name that DNS does not know is blamed on its variable: %j', async (variables, blamed) => {
  const error = await failing(createServer(), { port: 34_789, host: 'no.such.invalid' })
  const said = explainStartupError(error, readConfig(variables))
  expect(said).toMatch(/is no address of this machine\.$|cannot be looked up: DNS does not answer \(EAI_AGAIN\)\.$/)
  expect(said?.startsWith(`${blamed} `)).toBe(true)
})
