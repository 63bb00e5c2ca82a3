/**
 * Set-up of the e2e tests: after each test that fails, prints what every open page shows, what it complained about and
 * which requests it still waits for.
 */
import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterEach } from 'vitest'
import { observePeople } from './browser.ts'

type Seen = { open: Map<Request, number>; complaints: string[] }

const LOOK_MS = 3_000
const COMPLAINTS_SHOWN = 20
const WHY: Readonly<Record<string, string>> = {
  'net::ERR_NETWORK_CHANGED': ' (not the page: something beside the test made or removed a network interface)',
}

const seen = new Map<BrowserContext, Seen>()

observePeople((person) => {
  const open = new Map<Request, number>()
  const complaints: string[] = []
  seen.set(person, { open, complaints })
  person.on('close', () => seen.delete(person))
  person.on('request', (request) => void open.set(request, performance.now()))
  person.on('requestfinished', (request) => void open.delete(request))
  person.on('requestfailed', (request) => {
    open.delete(request)
    const reason = request.failure()?.errorText ?? ''
    complaints.push(`${request.method()} ${request.url()}: ${reason}${WHY[reason] ?? ''}`)
  })
  person.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  person.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  person.on('weberror', (error) => complaints.push(`exception: ${error.error().message}`))
})

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const [person, { open, complaints }] of seen) {
    const waiting = [...open].map(
      ([request, since]) => `${request.method()} ${request.url()}, ${secondsSince(since)} s`,
    )
    console.log(
      [
        `A page of the failed test "${task.name}":`,
        ...(await Promise.all(person.pages().map(lookOf))),
        'requests without an end:',
        ...waiting,
        'complaints, newest last:',
        ...complaints.slice(-COMPLAINTS_SHOWN),
      ].join('\n'),
    )
  }
})

/** The address, and what a screen reader would say, which also tells which buttons are disabled. */
async function lookOf(page: Page): Promise<string> {
  const says = await page
    .locator('body')
    .ariaSnapshot({ timeout: LOOK_MS })
    .catch((error: unknown) => `does not answer: ${String(error)}`)
  return `${page.url()}\n${says}`
}

function secondsSince(time: number): string {
  return ((performance.now() - time) / 1_000).toFixed(1)
}
