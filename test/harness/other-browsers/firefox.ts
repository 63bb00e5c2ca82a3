import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../child-process.ts'
import { missingPrivilege } from '../privileges.ts'
import { waitFor } from '../wait-for.ts'
import { asJson, type Driver } from './driver.ts'

/** Debian's name, and that of others. */
export const FIREFOX = ['firefox-esr', 'firefox'].find((name) => !missingPrivilege(`command ${name}`)) ?? 'firefox-esr'

const PREFERENCES = {
  // WebDriver switches push off unless the profile says otherwise.
  'dom.push.connection.enabled': true,
  'dom.push.testing.allowInsecureServerURL': true,
  'permissions.default.desktop-notification': 1,
  'alerts.useSystemBackend': false,
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'ui.prefersReducedMotion': 1,
}

type Answer = { id: number; type: 'success' | 'error'; message?: string; result?: unknown }

/** Firefox with a profile of its own, by WebDriver BiDi, which it speaks itself. */
export async function startFirefox({ pushUrl }: { pushUrl: string }): Promise<Driver> {
  const home = await mkdtemp(join(tmpdir(), 'hedgerow-firefox-'))
  const preferences = Object.entries({ ...PREFERENCES, 'dom.push.serverURL': pushUrl }).map(
    (one) => `user_pref(${JSON.stringify(one).slice(1, -1)});`,
  )
  await writeFile(join(home, 'user.js'), preferences.join('\n'))
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', home]
  const child = await startChild(FIREFOX, args, { env: { HOME: home, LANG: 'en_GB.UTF-8' } })
  const [, address] = await child.says(/WebDriver BiDi listening on (ws:\S+)/)
  const socket = new WebSocket(`${address}/session`)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.addEventListener('message', ({ data }) => {
    const { id, type, message, result } = JSON.parse(String(data)) as Answer
    if (type === 'error') waiting.get(id)?.reject(new Error(message))
    else waiting.get(id)?.resolve(result)
    waiting.delete(id)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('Firefox takes no connection')))
  })
  let id = 0
  async function send<T>(method: string, params: object = {}): Promise<T> {
    const answer = Promise.withResolvers<unknown>()
    waiting.set(++id, answer)
    socket.send(JSON.stringify({ id, method, params }))
    return (await answer.promise) as T
  }

  const { capabilities } = await send<{ capabilities: { browserVersion: string } }>('session.new', { capabilities: {} })
  console.log(`Firefox ${capabilities.browserVersion}: ${FIREFOX}`)
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } })
  const run: Driver['run'] = async (declaration, values) => {
    const said = await send<{ result: { value: string }; exceptionDetails?: { text: string } }>('script.callFunction', {
      functionDeclaration: asJson(declaration),
      arguments: [{ type: 'string', value: JSON.stringify(values) }],
      target: { context },
      awaitPromise: true,
    })
    if (said.exceptionDetails) throw new Error(said.exceptionDetails.text)
    return JSON.parse(said.result.value) as unknown
  }
  return {
    run,
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' }).catch(() => {})
    },
    perform: (actions) => send('input.performActions', { context, actions }),
    async consent() {
      await waitFor(() => run(String(isWarning), []), { for: 'the warning of Firefox' })
      // Its buttons do nothing at first, so that nobody consents by accident.
      const isGone = async () => {
        await run(String(pressNext), [])
        return !(await run(String(isWarning), []))
      }
      await waitFor(isGone, { for: 'Firefox to go on', everyMs: 500 })
    },
    async close() {
      socket.close()
      await child.stop()
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** These run in Firefox's page about a certificate, whose parts are shadows in shadows. */
const isWarning = () => document.documentURI.startsWith('about:certerror')

function pressNext(): void {
  const within = (root: Document | ShadowRoot): Element[] =>
    [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? within(one.shadowRoot) : [])])
  const shown = within(document).filter((one) => one.getClientRects().length > 0)
  const next = ['exception-button', 'advanced-button'].map((id) => shown.find((one) => one.id === id))
  next
    .find((one) => one !== undefined)
    ?.shadowRoot?.querySelector('button')
    ?.click()
}
