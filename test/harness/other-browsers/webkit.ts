import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../child-process.ts'
import { freeTcpPort } from '../free-ports.ts'
import { waitFor } from '../wait-for.ts'
import { asJson, type Driver } from './driver.ts'

/** GTK's word for reduced motion. */
const SETTINGS = '[Settings]\ngtk-enable-animations=0\n'

type Session = { sessionId: string; capabilities: { browserVersion: string } }

/** WebKitGTK, Safari's engine, in its own small browser on a screen without a monitor, by WebDriver over HTTP. */
export async function startWebKit(): Promise<Driver> {
  const home = await mkdtemp(join(tmpdir(), 'hedgerow-webkit-'))
  await mkdir(join(home, 'gtk-3.0'))
  await writeFile(join(home, 'gtk-3.0', 'settings.ini'), SETTINGS)
  const screen = await startChild('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'])
  const [display] = await screen.says(/^\d+$/m)
  const port = await freeTcpPort()
  const folders = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`XDG_${name}_HOME`, home]))
  const env = { HOME: home, DISPLAY: `:${display}`, LANG: 'en_GB.UTF-8', ...folders }
  const child = await startChild('WebKitWebDriver', [`--port=${port}`], { env })
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const address = `http://127.0.0.1:${port}/${path}`
    const answer = await fetch(address, { method, ...(body && { body: JSON.stringify(body) }) })
    const { value } = (await answer.json()) as { value: T & { error: string; message: string } }
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }
  await waitFor(() => call('GET', 'status'), { for: 'WebKitWebDriver' })
  // What a person does once for a host: this browser asks outside of the page, where WebDriver does not reach.
  const capabilities = { alwaysMatch: { acceptInsecureCerts: true } }
  const { sessionId, capabilities: is } = await call<Session>('POST', 'session', { capabilities })
  console.log(`WebKitGTK ${is.browserVersion}`)
  const session = `session/${sessionId}`
  await call('POST', `${session}/window/rect`, { width: 1280, height: 1000 })
  return {
    async goto(url) {
      await call('POST', `${session}/url`, { url }).catch(() => {})
    },
    async run(declaration, values) {
      const script = `return (${asJson(declaration)})(arguments[0])`
      const said = await call<string>('POST', `${session}/execute/sync`, { script, args: [JSON.stringify(values)] })
      return JSON.parse(said) as unknown
    },
    perform: (actions) => call('POST', `${session}/actions`, { actions }),
    async close() {
      await call('DELETE', session)
      await child.stop()
      await screen.stop()
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
