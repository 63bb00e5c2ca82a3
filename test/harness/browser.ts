import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { findChromium } from './chromium.ts'
import { NOON_ZONE } from './noon.ts'

/** Flags after which only the page under test uses the network. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** For pages that are open for a second: compiling their scripts a second time costs more than it saves. */
const BRIEF = '--js-flags=--no-maglev --no-turbofan --single-threaded'

export type BrowserHandle = {
  readonly browser: Browser
  /** A fresh profile: no cookies, no storage, nobody signed in. */
  person(options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>
  close(): Promise<void>
}

/** A name without TLS that the browser, unlike `localhost` and loopback addresses, trusts no more than any LAN name. */
export const LAN_NAME = 'hub.test'

let onPerson: (person: BrowserContext) => void = () => {}

/** `observer` gets each person before its first page. */
export function observePeople(observer: typeof onPerson): void {
  onPerson = observer
}

/**
 * Starts a headless Chromium and prints which one it is. Without a browser the test fails instead of being skipped.
 * `whole`: not a headless shell, which shows no notifications and no warnings about certificates. `unknownNames`: a
 * pattern of names that do not resolve.
 */
export async function startBrowser({
  whole = false,
  unknownNames,
}: { whole?: boolean; unknownNames?: string } = {}): Promise<BrowserHandle> {
  const binary = await findChromium(whole)
  const unknown = unknownNames === undefined ? [] : [`MAP ${unknownNames} ^NOTFOUND`]
  const rules = ['MAP hub.test 127.0.0.1', ...unknown]
  const brief = process.env['TEST_PAGES'] === 'brief' ? [BRIEF] : []
  const browser = await chromium.launch({
    executablePath: binary.executablePath,
    headless: true,
    args: [...FLAGS, `--host-resolver-rules=${rules.join(', ')}`, ...brief],
    env: { ...process.env, ...binary.env },
  })
  console.log(`Chromium ${browser.version()}, ${binary.origin}: ${binary.executablePath}`)
  return {
    browser,
    async person(options) {
      const person = await browser.newContext({
        locale: 'en-GB',
        timezoneId: NOON_ZONE,
        // A service worker would hide requests from `route`.
        serviceWorkers: 'block',
        ...options,
      })
      onPerson(person)
      return person
    },
    close: () => browser.close(),
  }
}
