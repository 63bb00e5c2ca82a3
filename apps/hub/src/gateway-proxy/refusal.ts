/** The hub's own answers on a gateway's origin: a small page for a person, JSON for everything else. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { errorTable, type ErrorBody, type ErrorCode } from '@hedgerow/contract'
import type { Reply } from './reply.ts'

export type RefusalPage = {
  title: string
  /** Advice, one sentence each. */
  advice: string[]
  /** The hub's page to go back to. */
  hubUrl?: string | undefined
}

/** Answers with the code's status; a person gets `page` (or the code's sentence as a page). */
export function refuse(
  req: IncomingMessage,
  reply: Reply,
  code: ErrorCode,
  page: Partial<RefusalPage> = {},
  headers: Record<string, string | string[]> = {},
): void {
  const { status, message } = errorTable[code]
  const isPage = isForAPerson(req)
  const body = isPage
    ? renderPage({ title: message, advice: [], ...page })
    : JSON.stringify({ error: code, message } satisfies ErrorBody)
  reply.send(
    status,
    {
      'Content-Type': `${isPage ? 'text/html' : 'application/json'}; charset=utf-8`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': PAGE_POLICY,
      'Cross-Origin-Resource-Policy': 'same-origin',
      ...(req.complete ? {} : { Connection: 'close' }),
      ...headers,
    },
    body,
  )
}

/** The page when a gateway does not answer. */
export function unreachablePage(gatewayName: string, hubUrl: string | undefined): RefusalPage {
  return {
    title: `${gatewayName} does not answer`,
    advice: [
      'The hub requested its page through the VPN and got no usable answer.',
      'Reload in a moment: a gateway that was just switched on needs a few seconds.',
      'Look at its status in the hub. If it is offline, check its power and its internet connection.',
    ],
    hubUrl,
  }
}

/** The page that comes at once when waiting would not help; `port` in words: `port 51820 of hub.example.org`. */
export function blockedUdpPage(gatewayName: string, port: string, hubUrl: string | undefined): RefusalPage {
  return {
    title: `${gatewayName} cannot be reached through the VPN`,
    advice: [
      'Its heartbeats come over HTTP(S), none through the VPN: UDP seems to be blocked between it and the hub.',
      `Let UDP from the gateway reach ${port}.`,
      'Its page opens as soon as the VPN is up. The gateway keeps trying.',
    ],
    hubUrl,
  }
}

function isForAPerson({ headers }: IncomingMessage): boolean {
  const destination = headers['sec-fetch-dest']
  return destination === undefined ? /\btext\/html\b/i.test(headers.accept ?? '') : destination === 'document'
}

const STYLE = `
:root { color-scheme: light dark; --page: #f5f7f6; --ink: #14201c; --soft: #54655e; --brand: #0b6f5d; --line: #dde4e1 }
@media (prefers-color-scheme: dark) {
  :root { --page: #0c1210; --ink: #e6eeea; --soft: #9db0a8; --brand: #4fc3a8; --line: #22302b }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.025em; overflow-wrap: anywhere }
p { color: var(--soft) }
nav { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1rem }
a { color: var(--brand) }
`
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function renderPage({ title, advice, hubUrl }: RefusalPage): string {
  const back = hubUrl ? `<nav><a href="${escapeHtml(hubUrl)}">Back to the hub</a></nav>` : ''
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${escapeHtml(title)}</h1>
${advice.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('\n')}
${back}
</main>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
