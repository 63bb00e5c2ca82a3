import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = readFileSync(join(import.meta.dirname, 'install.sh'), 'utf8')
const part = (name: string) => new RegExp(`^${name}\\(\\) \\{[^]*?^\\}$|^${name}\\(\\) .*$`, 'm').exec(SCRIPT)![0]
const BODY = 'hedgerow'.repeat(4_000)

/** Runs the script's own `fetch`; only its waiting is written down instead. */
async function fetchFrom(answer: RequestListener) {
  const folder = mkdtempSync(join(tmpdir(), 'hub-install-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const server = createServer(answer).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => void server.once('listening', resolve))
  const file = join(folder, 'file')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`
  const text = [
    'set -eu',
    "HUB_PIN=''",
    'sleep() { echo "sleep $1"; }',
    ...['say', 'pin', 'fetch'].map(part),
    `code=0; fetch '${url}' '${file}' || code=$?`,
    'echo "code $code"',
  ].join('\n')
  const { stdout } = await promisify(execFile)('sh', ['-c', text])
  return { lines: stdout.trim().split('\n'), read: () => readFileSync(file, 'utf8') }
}

const WAITS = 'The hub is busy (status 503). Waiting for a turn, for 20 minutes at most.'

test('a device waits for its turn, says so once, and gets the whole file', async () => {
  let calls = 0
  const { lines, read } = await fetchFrom((_request, response) => {
    if (++calls <= 30) response.writeHead(503, { 'retry-after': '10' }).end('Too many downloads at once.\n')
    else response.end(BODY)
  })
  expect(lines).toEqual([WAITS, ...Array.from({ length: 30 }, () => 'sleep 10'), 'code 0'])
  expect(read()).toBe(BODY)
})

test('it waits for some minutes, and not at all for a file that is not there', async () => {
  const busy = await fetchFrom((_request, response) => void response.writeHead(503).end())
  expect(busy.lines).toEqual([WAITS, ...Array.from({ length: 120 }, () => 'sleep 10'), 'code 22'])
  const missing = await fetchFrom((_request, response) => void response.writeHead(404).end())
  expect(missing.lines).toEqual(['code 22'])
}, 60_000)

test('it goes on where the connection broke off', async () => {
  const asked: (string | undefined)[] = []
  const { lines, read } = await fetchFrom(({ headers: { range } }, response) => {
    asked.push(range)
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    const rest = BODY.slice(from)
    response.writeHead(range ? 206 : 200, {
      'content-length': rest.length,
      ...(range && { 'content-range': `bytes ${from}-${BODY.length - 1}/${BODY.length}` }),
    })
    if (range) response.end(rest)
    else response.write(BODY.slice(0, 1_000), () => response.destroy())
  })
  expect(lines).toEqual(['sleep 2', 'code 0'])
  expect(asked).toEqual([undefined, expect.stringMatching(/^bytes=\d+-$/)])
  expect(read()).toBe(BODY)
})
