/** A hostile page of a gateway: its headers, and what its scripts try on the hub. */
import type { Page } from 'playwright-core'

export const HOSTILE_HEADERS = {
  'content-type': 'text/html',
  'clear-site-data': '"*"',
  'service-worker-allowed': '/',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'access-control-allow-origin': '*',
  'set-cookie': ['planted=1; Domain=localhost; Path=/', '__Host-gws=planted; Path=/; Secure', 'gws=planted; Path=/'],
}

/** The results of a script on the page, one for each attack. */
export function attack(page: Page, hubUrl: string) {
  return page.evaluate(async (hubOrigin) => {
    const attempt = async (what: () => unknown): Promise<unknown> => {
      try {
        return await what()
      } catch (error) {
        return `refused: ${(error as Error).name}`
      }
    }
    return {
      token: localStorage.getItem('hubToken'),
      stored: localStorage.length,
      cookies: document.cookie,
      opener: globalThis.opener as unknown,
      isTop: globalThis.top === globalThis.self,
      api: await attempt(
        async () => (await fetch(`${hubOrigin}/api/v1/auth/validate`, { credentials: 'include' })).status,
      ),
      page: await attempt(async () => (await fetch(`${hubOrigin}/login`)).status),
      popup: await attempt(async () => {
        const popup = open(`${hubOrigin}/dashboard`)
        // An empty page of the opener comes first; the hub's page then cuts the link to it.
        const isCut = () => popup?.closed === true
        for (let i = 0; i < 600 && !isCut(); i++) await new Promise((resolve) => setTimeout(resolve, 50))
        if (!isCut()) return 'within reach'
        return popup?.localStorage.getItem('hubToken')
      }),
      frame: await attempt(async () => {
        const frame = document.createElement('iframe')
        frame.src = `${hubOrigin}/dashboard`
        document.body.append(frame)
        await new Promise((resolve) => frame.addEventListener('load', resolve))
        return frame.contentWindow?.localStorage.getItem('hubToken')
      }),
      worker: await attempt(async () => (await navigator.serviceWorker.register('/worker.js')).scope),
    }
  }, hubUrl)
}
