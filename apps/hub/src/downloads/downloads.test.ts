import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGatewayInvitation } from '@hedgerow/contract'
import { signText, type Release } from '@hedgerow/releases'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const ARCHIVE = Buffer.alloc(40_000, 'archive')
const NAME = 'hedgerow-gateway-0.2.0-linux-arm64.tar.xz'
const folder = mkdtempSync(join(tmpdir(), 'hub-downloads-'))
let hub: TestHub
let changes = 0

beforeAll(async () => {
  hub = await startTestHub('sqlite', { downloadsDir: folder, publicUrl: 'https://hub.example.net' })
})
beforeEach(() => {
  writeFileSync(join(folder, NAME), ARCHIVE)
  write({})
})
afterAll(async () => {
  await hub.stop()
  rmSync(folder, { recursive: true })
})

/** Writes release.json with a time of its own, as a copy would have it. */
function write(change: Partial<Release['files'][number]>, text?: string): void {
  const file = {
    product: 'hedgerow-gateway',
    platform: 'linux-arm64',
    name: NAME,
    size: ARCHIVE.length,
    sha256: createHash('sha256').update(ARCHIVE).digest('hex'),
    ...change,
  }
  const hubFile = { ...file, product: 'hedgerow-hub', name: 'hedgerow-hub-0.2.0-linux-arm64.tar.xz' }
  const times = { createdAt: '2026-11-22T10:00:00Z', expiresAt: '2027-11-22T10:00:00Z' }
  const release = { version: '0.2.0', number: 7, ...times, files: [file, hubFile] }
  const { privateKey } = generateKeyPairSync('ed25519')
  const path = join(folder, 'release.json')
  writeFileSync(path, text ?? signText('hedgerow release v1', JSON.stringify(release), [privateKey]))
  changes += 1
  utimesSync(path, changes, changes)
}

const get = (url: string, headers: Record<string, string> = {}) => hub.app.inject({ url, headers })

it('hands out the script with the hub, its fingerprint and the hash of the archive in it', async () => {
  const answer = await get('/install.sh')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toBe('text/x-shellscript; charset=utf-8')
  expect(answer.body).toContain("\nHUB_URL='https://hub.example.net'\n")
  expect(answer.body).toMatch(/\nHUB_FINGERPRINT='([A-Z2-7]{4}-){7}[A-Z2-7]{4}'\n/)
  expect(answer.body).toContain(`\nFILES='linux-arm64 ${NAME} ${createHash('sha256').update(ARCHIVE).digest('hex')}'\n`)
  expect(answer.body).not.toContain('=@')
  const { status, stdout } = spawnSync('shellcheck', ['--shell=sh', '-'], { input: answer.body, encoding: 'utf8' })
  // Null where it is not installed.
  expect([null, 0], stdout).toContain(status)
})

it('hands out the files of the agent, in parts where asked, and nothing else of the folder', async () => {
  expect((await get(`/downloads/${NAME}`)).rawPayload.equals(ARCHIVE)).toBe(true)
  const part = await get(`/downloads/${NAME}`, { range: 'bytes=7-13' })
  expect([part.statusCode, part.body]).toEqual([206, ARCHIVE.toString().slice(7, 14)])
  expect((await get('/downloads/release.json')).statusCode).toBe(200)
  writeFileSync(join(folder, 'secret.key'), 'secret')
  for (const name of ['secret.key', '..%2f..%2fetc%2fpasswd', 'hedgerow-hub-0.2.0-linux-arm64.tar.xz', ''])
    expect((await get(`/downloads/${name}`)).statusCode, name).toBe(404)
})

it('hands out models and their runtime, which the sums of the release name', async () => {
  const model = 'hedgerow-model-ssdlite-coco.tar.gz'
  const line = (name: string, body: Buffer) => `${createHash('sha256').update(body).digest('hex')}  ${name}\n`
  onTestFinished(() => rmSync(join(folder, 'SHA256SUMS')))
  writeFileSync(join(folder, model), 'a model')
  writeFileSync(join(folder, 'secret.key'), 'secret')
  expect((await get(`/downloads/${model}`)).statusCode).toBe(404)
  const sums = [line(model, Buffer.from('a model')), line('secret.key', Buffer.from('secret'))].join('')
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  expect((await get(`/downloads/${model}`)).body).toBe('a model')
  expect((await get('/downloads/secret.key')).statusCode).toBe(404)
  writeFileSync(join(folder, model), 'another model')
  expect((await get(`/downloads/${model}`)).statusCode).toBe(404)
})

it.each([
  ['has another hash', () => write({ sha256: '0'.repeat(64) })],
  ['has another size', () => write({ size: 3 })],
  ['is missing', () => write({ name: 'hedgerow-gateway-0.2.1-linux-arm64.tar.xz' })],
  ['is in a list that is none', () => write({}, '{"text":"{}","signatures":[]}')],
  ['is in a list that is cut off', () => write({}, '{"text":"{')],
])('hands out nothing when the archive %s', async (_, change) => {
  change()
  expect((await get('/install.sh')).statusCode).toBe(404)
  expect((await get(`/downloads/${NAME}`)).statusCode).toBe(404)
})

it('hands out what is copied after its list', async () => {
  writeFileSync(join(folder, NAME), ARCHIVE.subarray(0, 100))
  expect((await get('/install.sh')).statusCode).toBe(404)
  writeFileSync(join(folder, NAME), ARCHIVE)
  expect((await get('/install.sh')).body).toContain("\nROOT_KEY=''\n")
  const rootKey = Buffer.alloc(32, 1).toString('base64')
  writeFileSync(join(folder, 'root.pub'), `${rootKey}\n`)
  expect((await get('/install.sh')).body).toContain(`\nROOT_KEY='${rootKey}'\n`)
  rmSync(join(folder, 'root.pub'))
  rmSync(join(folder, NAME))
  expect((await get(`/downloads/${NAME}`)).statusCode).toBe(404)
})

it('shows the line that installs the agent, or the one for its sources when nothing is handed out', async () => {
  const made = async (headers: Record<string, string> = {}) => {
    const answer = await hub.app.inject({
      method: 'POST',
      url: `/api${createGatewayInvitation.path}`,
      headers: { authorization: `Bearer ${await hub.signIn('admin')}`, ...headers },
      payload: { label: 'barn' },
    })
    return answer.json<{ command: string; code: string }>()
  }
  const { command, code } = await made()
  expect(command).toBe(`curl -fsSL https://hub.example.net/install.sh | sh -s -- --invitation ${code}`)
  rmSync(join(folder, 'release.json'))
  expect((await made()).command).toMatch(/ npm run gateway --$/)
})

it('one source has a share of the downloads, and cannot keep others from theirs', async () => {
  const large = Buffer.alloc(32 * 1024 * 1024, 'archive')
  writeFileSync(join(folder, NAME), large)
  write({ size: large.length, sha256: createHash('sha256').update(large).digest('hex') })
  const { port } = await hub.start()
  /** Begins a download from an address of this machine, and reads no further; the status. */
  async function begin(localAddress: string): Promise<{ status: number | undefined }> {
    const asking = request({ port, host: '127.0.0.1', localAddress, path: `/downloads/${NAME}`, agent: false }).end()
    onTestFinished(() => void asking.destroy())
    asking.on('error', () => {})
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    answer.on('error', () => {}).pause()
    return { status: answer.statusCode }
  }
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
    for (let i = 0; i < 8; i++) expect((await begin(address)).status).toBe(200)
    expect((await begin(address)).status, 'a ninth of one source').toBe(503)
  }
  expect((await begin('127.0.0.6')).status, 'another source, though all places are taken').toBe(200)
})
