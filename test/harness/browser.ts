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
]

export type BrowserHandle = {
  readonly browser: Browser
  /** A fresh profile: no cookies, no storage, nobody signed in. */
  person(options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>
  close(): Promise<void>
}

/** Starts a headless Chromium and prints which one it is. A machine without any fails the test instead of skipping it. */
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
