import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  startCodeServer,
  startFileServer,
  startGrpcWeb,
  startNodeRed,
  startOldServer,
  startVite,
  startVnc,
} from '../faithful/servers.ts'
import { megabytesOf, openFaithfulSite, temporaryFolder, type FaithfulSite } from '../faithful/site.ts'
import { skipWithout } from '../harness/privileges.ts'

/**
 * Third-party applications behind a gateway, in Chromium. They come from Debian and npm and take minutes, so only
 * `npm run test:faithful` runs it.
 */
const isAsked = process.env['TEST_FAITHFUL'] === 'on'
if (!isAsked) console.log('skipped: applications of others behind a gateway: npm run test:faithful runs them')
const commands = ['nginx', 'ffmpeg', 'python3', 'Xvnc', 'websockify', 'xsetroot', 'xdotool'] as const
const lacks = isAsked && skipWithout('applications of others', ...commands.map((name) => `command ${name}` as const))
const UPLOAD_BYTES = 2_000_000_000
/** More than a proxy's memory for one upload: its buffers and V8's young objects. */
const GROWTH_MAX_MB = 60

/** What Node-RED gives its own page. */
type Editor = { sidebar: { show(tab: string): void } }

describe.skipIf(!isAsked || lacks)('behind a gateway', () => {
  const life = new AsyncDisposableStack()
  let site: FaithfulSite
  let files: Awaited<ReturnType<typeof startFileServer>>
  let vite: Awaited<ReturnType<typeof startVite>>
  let vnc: Awaited<ReturnType<typeof startVnc>>
  let code: Awaited<ReturnType<typeof startCodeServer>>

  beforeAll(async () => {
    let old, grpc, red
    ;[files, vite, vnc, code, old, grpc, red] = await Promise.all([
      startFileServer(life),
      startVite(life),
      startVnc(life),
      startCodeServer(life),
      startOldServer(life),
      startGrpcWeb(life),
      startNodeRed(life),
    ])
    const applications = { files, vite, vnc, code, old, grpc, red }
    site = await openFaithfulSite(
      Object.fromEntries(Object.entries(applications).map(([name, { url }]) => [name, url])),
      life,
    )
  }, 900_000)
  afterAll(() => life.disposeAsync())

  /** A call of the page's own script. */
  const call = (
    page: Page,
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: string } = {},
  ) =>
    page.evaluate(
      async ([asked, to, more]) => {
        const answer = await fetch(to, { method: asked, ...more })
        return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
      },
      [method, path, init] as const,
    )

  it("nginx's list of files, compressed files, ranges, HEAD and 304", async () => {
    const page = await site.show('files')
    await page.getByRole('link', { name: 'plain/' }).click()
    await page.getByRole('link', { name: 'notes and ümlauts.txt' }).click()
    await page.getByText('apples').waitFor()
    const path = '/plain/notes%20and%20%C3%BCmlauts.txt'
    const whole = await call(page, 'GET', path)
    expect(whole).toMatchObject({
      status: 200,
      text: 'apples\n'.repeat(1_000),
      headers: { 'content-encoding': 'gzip' },
    })
    const range = await call(page, 'GET', path, { headers: { Range: 'bytes=7-12' } })
    expect(range).toMatchObject({ status: 206, text: 'apples', headers: { 'content-range': 'bytes 7-12/7000' } })
    const several = await call(page, 'GET', path, { headers: { Range: 'bytes=0-5,-3' } })
    expect(several.headers['content-type']).toMatch(/^multipart\/byteranges/)
    expect((await call(page, 'GET', path, { headers: { Range: 'bytes=9999-' } })).status).toBe(416)
    const { etag } = range.headers
    const unchanged = await call(page, 'GET', path, { headers: { 'If-None-Match': etag! } })
    expect(unchanged).toMatchObject({ status: 304, text: '' })
    const head = await call(page, 'HEAD', path, { headers: { 'Accept-Encoding': 'identity' } })
    expect(head).toMatchObject({ status: 200, text: '' })
  })

  it('a video is played and sought by ranges', async () => {
    const page = await site.show('files')
    await page.goto(new URL('/player.html', page.url()).href)
    const seek = (seconds: number) =>
      page.evaluate(async (to) => {
        const video = document.querySelector('video')!
        if (video.readyState < 1)
          await new Promise((resolve) => video.addEventListener('loadedmetadata', resolve, { once: true }))
        const sought = new Promise((resolve) => video.addEventListener('seeked', resolve, { once: true }))
        video.currentTime = to
        await sought
        return { at: video.currentTime, duration: video.duration, width: video.videoWidth }
      }, seconds)
    for (const at of [55, 3, 30]) {
      const shown = await seek(at)
      expect(shown.at).toBeCloseTo(at, 0)
      expect(shown).toMatchObject({ width: 640 })
    }
    expect(await readFile(files.accessLog, 'utf8')).toMatch(/GET \/film\.webm HTTP\/1\.1" 206/)
  })

  it('WebDAV: folders, files, properties, locks, copies and moves', async () => {
    const page = await site.show('files')
    const { origin } = new URL(page.url())
    const dav = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      call(page, method, `/dav/${path}`, { headers, ...(body !== undefined && { body }) })
    expect((await dav('OPTIONS', '')).headers['dav']).toContain('2')
    expect((await dav('MKCOL', 'orchard/')).status).toBe(201)
    expect((await dav('PUT', 'orchard/row.txt', {}, 'seven trees')).status).toBe(201)
    expect((await dav('COPY', 'orchard/row.txt', { Destination: `${origin}/dav/orchard/copy.txt` })).status).toBe(204)
    expect((await dav('MOVE', 'orchard/copy.txt', { Destination: `${origin}/dav/moved.txt` })).status).toBe(204)
    expect(await dav('GET', 'moved.txt')).toMatchObject({ status: 200, text: 'seven trees' })
    const listed = await dav('PROPFIND', '', { Depth: '1' })
    expect(listed.status).toBe(207)
    for (const name of ['/dav/orchard/', '/dav/moved.txt']) expect(listed.text).toContain(name)
    const lockInfo =
      '<?xml version="1.0"?><lockinfo ' +
      'xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    const locked = await dav('LOCK', 'moved.txt', { Timeout: 'Second-60' }, lockInfo)
    expect(locked.status).toBe(200)
    const token = locked.headers['lock-token']!
    expect((await dav('PUT', 'moved.txt', {}, 'without the token')).status).toBe(423)
    const tagged = `<${origin}/dav/moved.txt> (${token})`
    expect((await dav('PUT', 'moved.txt', { If: tagged }, 'with the token')).status).toBe(204)
    expect((await dav('UNLOCK', 'moved.txt', { 'Lock-Token': token })).status).toBe(204)
    expect((await dav('DELETE', 'orchard/')).status).toBe(204)
  })

  it('an upload of 2 GB arrives whole, and memory of hub and agent stays level', async () => {
    const page = await site.show('files')
    const name = join(await temporaryFolder(life), 'large.bin')
    const handle = await open(name, 'w')
    await handle.truncate(UPLOAD_BYTES)
    await handle.close()
    await page.setContent('<input type="file">')
    await page.getByRole('textbox').or(page.locator('input')).setInputFiles(name)
    const pids = { hub: site.hub.process().pid, agent: site.agent.pid }
    const most = { hub: 0, agent: 0 }
    const before = { hub: await megabytesOf(pids.hub), agent: await megabytesOf(pids.agent) }
    const over = new AbortController()
    const sampling = (async () => {
      while (!over.signal.aborted) {
        for (const who of ['hub', 'agent'] as const) most[who] = Math.max(most[who], await megabytesOf(pids[who]))
        await sleep(200)
      }
    })()
    // Chromium crashes at `fetch` of such a file while a debugger listens.
    const send = () =>
      new Promise<number>((resolve) => {
        const call = new XMLHttpRequest()
        call.open('PUT', '/dav/large.bin')
        call.addEventListener('loadend', () => resolve(call.status))
        call.send(document.querySelector('input')!.files![0]!)
      })
    const status = await page.evaluate(send).finally(() => {
      over.abort()
      return sampling
    })
    expect(status).toBe(201)
    expect((await stat(join(files.files, 'dav/large.bin'))).size).toBe(UPLOAD_BYTES)
    console.log('upload of 2 GB, MB before and at most', { before, most })
    for (const who of ['hub', 'agent'] as const) expect(most[who] - before[who]).toBeLessThan(GROWTH_MAX_MB)
  }, 600_000)

  it('Vite updates a module in the page without loading it again', async () => {
    const page = await site.show('vite')
    await page.getByRole('heading', { name: 'first' }).waitFor()
    await page.evaluate(() => Object.assign(window, { isSame: true }))
    // The client logs when its WebSocket is open; an update before would reload nothing.
    await expect
      .poll(async () => {
        await vite.says(`second ${Date.now()}`)
        return page.getByRole('heading').textContent()
      })
      .toMatch(/^second/)
    expect(await page.evaluate(() => 'isSame' in window)).toBe(true)
  })

  it('noVNC shows the screen of a VNC server and moves its pointer', async () => {
    const page = await site.show('vnc')
    await page.goto(new URL('/vnc.html?autoconnect=true&resize=off', page.url()).href)
    const canvas = page.locator('#noVNC_container canvas')
    await canvas.waitFor()
    const color = () =>
      canvas.evaluate((element) => {
        const { width, height } = element as HTMLCanvasElement
        return [
          width,
          ...(element as HTMLCanvasElement).getContext('2d')!.getImageData(width / 2, height / 2, 1, 1).data,
        ]
      })
    await expect.poll(color).toEqual([640, 255, 0, 0, 255])
    const box = (await canvas.boundingBox())!
    await page.mouse.move(box.x + 100, box.y + 200)
    await expect.poll(vnc.pointer).toEqual({ x: 100, y: 200 })
  })

  it('code-server, which is VS Code: a file is changed and saved, and its terminal runs a command', async () => {
    const page = await site.show('code')
    await page.getByRole('treeitem', { name: 'trees.txt' }).dblclick({ timeout: 120_000 })
    const editor = page.locator('.editor-instance .view-lines')
    await expect.poll(() => editor.textContent()).toMatch(/seven.trees/)
    await editor.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('twenty-')
    await page.keyboard.press('Control+s')
    await expect.poll(() => readFile(join(code.folder, 'trees.txt'), 'utf8')).toBe('twenty-seven trees\n')
    await page.keyboard.press('Control+Backquote')
    await page.locator('.terminal.xterm').waitFor()
    await page.keyboard.type('tr a-z A-Z < trees.txt > loud.txt\n')
    await expect
      .poll(() => readFile(join(code.folder, 'loud.txt'), 'utf8').catch(() => ''))
      .toBe('TWENTY-SEVEN TREES\n')
  }, 180_000)

  it("Node-RED's editor shows a flow, and its messages as they arrive", async () => {
    const page = await site.show('red')
    await page.locator('.red-ui-flow-node-button').first().waitFor()
    await page.evaluate(() => (window as unknown as { RED: Editor }).RED.sidebar.show('debug'))
    await page.evaluate(() => fetch('inject/inject1', { method: 'POST' }))
    await expect.poll(() => page.locator('.red-ui-debug-msg').textContent()).toContain('ripe')
  })

  it('gRPC-web: calls, errors and streams', async () => {
    const page = await site.show('grpc')
    await page.waitForFunction(() => 'list' in window)
    type Calls = { nameOf(value: string): Promise<string>; list(count: number): Promise<string[]> }
    const nameOf = (value: string) => page.evaluate((asked) => (window as unknown as Calls).nameOf(asked), value)
    expect(await nameOf('7')).toBe('tree 7')
    expect(await nameOf('unknown')).toBe('5 no such tree')
    const got = await page.evaluate(() => (window as unknown as Calls).list(100))
    expect(got).toEqual(Array.from({ length: 100 }, (_, i) => `tree ${i + 1}`))
  })

  it("an HTTP/1.0 server's files, HEAD and 304", async () => {
    const page = await site.show('old')
    const whole = await call(page, 'GET', '/pears.txt')
    expect(whole).toMatchObject({ status: 200, text: 'pears\n'.repeat(50_000) })
    expect((await call(page, 'HEAD', '/pears.txt')).headers['content-length']).toBe('300000')
    const since = { 'If-Modified-Since': whole.headers['last-modified']! }
    expect(await call(page, 'GET', '/pears.txt', { headers: since })).toMatchObject({ status: 304, text: '' })
  })

  it('HTTP/2 with TLS: files, ranges, an upload, and a WebSocket beside it', async () => {
    const page = await site.show('files', 'https')
    await page.getByRole('link', { name: 'plain/' }).waitFor()
    const protocol = () =>
      page.evaluate(() => performance.getEntriesByType('navigation').map((entry) => entry.toJSON().nextHopProtocol))
    expect(await protocol()).toEqual(['h2'])
    const range = await call(page, 'GET', '/film.webm', { headers: { Range: 'bytes=0-9' } })
    expect(range).toMatchObject({ status: 206, headers: { 'content-length': '10' } })
    const body = 'x'.repeat(3_000_000)
    expect((await call(page, 'PUT', '/dav/by-http-2.txt', { body })).status).toBe(201)
    expect((await call(page, 'GET', '/dav/by-http-2.txt')).text).toBe(body)
    const files = await Promise.all(Array.from({ length: 60 }, () => call(page, 'GET', '/player.html')))
    expect(new Set(files.map(({ status }) => status))).toEqual(new Set([200]))
    const live = await site.show('red', 'https')
    await live.locator('.red-ui-flow-node-button').first().waitFor()
    await live.evaluate(() => (window as unknown as { RED: Editor }).RED.sidebar.show('debug'))
    await live.evaluate(() => fetch('inject/inject1', { method: 'POST' }))
    await expect.poll(() => live.locator('.red-ui-debug-msg').textContent()).toContain('ripe')
  })

  it('cookies of nearly 8 KB', async () => {
    const page = await site.show('files')
    await page.evaluate(() => {
      for (const name of ['a', 'b']) document.cookie = `${name}=${'x'.repeat(3_900)}; Path=/`
    })
    expect((await call(page, 'GET', '/player.html')).status).toBe(200)
  })
})
