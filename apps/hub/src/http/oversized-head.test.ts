import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnectionLimits, createFaults, createFront, cutConnections } from '@hedgerow/http'
import { afterEach, expect, test } from 'vitest'
import { answerOversizedHead, clearingOf } from './oversized-head.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function startServer(): Promise<number> {
  const server = createFront({
    limits: createConnectionLimits({ perSource: 100, total: 100, sourceOf: (address) => address }),
    faults: createFaults({ report: () => {} }),
    handle: (_req, res) => void res.end('served'),
    answerUnreadable: answerOversizedHead,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    cutConnections(server)
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Sends the parts one by one, and returns the answer. */
async function send(port: number, parts: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const answer = text(socket)
  for (const part of parts) await new Promise((resolve) => socket.write(part, 'latin1', resolve))
  return answer
}

const planted = (count: number) => Array.from({ length: count }, (_, i) => `planted${i}=${'x'.repeat(4_000)}`)
const clearedIn = (answer: string) => [...answer.matchAll(/^Set-Cookie: ([^=]*)=; Path=(\S*?);(.*)$/gm)]

test('a request with too many cookies gets an answer that deletes them all', async () => {
  const port = await startServer()
  const head =
    `GET /gateways/x?y HTTP/1.1\r\nHost: hub.home.lan:8080\r\nAccept: text/html\r\nCookie: ` +
    `${planted(40).join('; ')}\r\n\r\n`
  const answer = await send(port, [head])
  expect(answer).toMatch(/^HTTP\/1\.1 431 /)
  expect(answer).toContain('Load this page again')
  const cleared = clearedIn(answer)
  for (const attributes of ['', ' Domain=hub.home.lan;', ' Domain=home.lan;'])
    for (const path of ['/', '/gateways', '/gateways/', '/gateways/x'])
      expect(cleared.filter(([, , p, rest]) => p === path && rest === `${attributes} Max-Age=0`).length).toBe(41)
  expect(cleared.map(([, name]) => name)).toContain('planted39')
})

test('also when the head arrives in pieces, up to the last cookie that a browser stores', async () => {
  const port = await startServer()
  const cookies = planted(170)
  const parts = cookies.map((cookie, i) => (i === 0 ? `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}` : `; ${cookie}`))
  const answer = await send(port, [...parts, '\r\n\r\n'])
  expect(answer).toMatch(/^HTTP\/1\.1 431 /)
  const names = new Set(clearedIn(answer).map(([, name]) => name))
  expect(names.has('planted169')).toBe(true)
  // The parser had read the others; those are too few to lock anybody out.
  expect(names.size).toBeGreaterThan(160)
})

test('also when the end of the head arrives byte by byte, without waiting for more', { timeout: 4_000 }, async () => {
  const socket = connect(await startServer(), '127.0.0.1').setNoDelay()
  const answer = text(socket)
  const end = 'last=1\r\n\r\n'
  for (const part of [`GET / HTTP/1.1\r\nHost: a\r\nCookie: ${planted(40).join('; ')}; `, ...end]) {
    socket.write(part, 'latin1')
    await pause(30)
  }
  expect(clearedIn(await answer).map(([, name]) => name)).toContain('last')
})

test('a program gets the refusal as JSON', async () => {
  const port = await startServer()
  const head = `GET /api HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nCookie: ${planted(5).join('; ')}\r\n\r\n`
  const answer = await send(port, [head])
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: 'request_head_too_large' })
})

test('text that looks like a cookie never becomes a header of its own', async () => {
  const port = await startServer()
  const head = `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${planted(20).join('; ')}`
  const answer = await send(port, [head, '; a\nX-Evil: 1=1; b\rX-Evil: 2=2; last=1\r\n\r\n'])
  expect(answer).toContain('Set-Cookie: last=; ')
  expect(answer).not.toContain('X-Evil')
})

test('an endless head is answered for its first part, and the next request is served', async () => {
  const port = await startServer()
  const endless = await send(port, ['GET / HTTP/1.1\r\nHost: a\r\nCookie: ', 'x=1; '.repeat(300_000)])
  expect(endless).toMatch(/^HTTP\/1\.1 431 /)
  expect(await send(port, ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'])).toContain('served')
})

test('the clearing fits into a browser’s limit, the root path first', () => {
  const names = Array.from({ length: 180 }, (_, i) => `${'n'.repeat(500)}${i}`)
  const lines = clearingOf(names, { path: '/a/b/c/d', host: 'a.b.c.d.example.net' })
  expect(lines.join('\n').length).toBeLessThan(256 * 1024)
  expect(lines.slice(0, 180).every((line) => line.includes('Path=/;'))).toBe(true)
  expect(clearingOf(['__Host-a'], { path: '/' })).toEqual(['__Host-a=; Path=/; Secure; Max-Age=0'])
  expect(clearingOf(['a'], { path: '/x;Path=/y', host: '192.168.1.5:8100' })).toEqual(['a=; Path=/; Max-Age=0'])
})
