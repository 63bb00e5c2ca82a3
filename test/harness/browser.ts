import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { findChromium } from './chromium.ts'

/** Quiet flags: nothing but the page under test speaks to the network. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP hub.test 127.0.0.1',
]

export type BrowserHandle = {
  readonly browser: Browser
  /** A fresh profile: no cookies, no storage, nobody signed in. */
  person(options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>
  close(): Promise<void>
}

/**
 * A name without TLS that the browser, unlike `localhost` and addresses of loopback, trusts no more than any on a LAN.
 */
export const LAN_NAME = 'hub.test'

/**
 * Starts a headless Chromium and prints which one it is. A machine without any fails the test instead of skipping it.
 */
export async function startBrowser(): Promise<BrowserHandle> {
  const binary = await findChromium()
  const browser = await chromium.launch({
    executablePath: binary.executablePath,
    headless: true,
    args: FLAGS,
    env: { ...process.env, ...binary.env },
  })
  console.log(`Chromium ${browser.version()}, ${binary.origin}: ${binary.executablePath}`)
  return {
    browser,
    person: (options) => browser.newContext({ locale: 'en-GB', ...options }),
    close: () => browser.close(),
  }
}
