/**
 * The page of a refusal, in the portal's look, without anything that another origin could load: it appears where a
 * gateway's page would be. Its script asks for the page again and again and reloads when there is another answer.
 */
import { createHash } from 'node:crypto'

export type RefusalPage = {
  title: string
  /** One sentence. */
  reason?: string | undefined
  /** What to do, one sentence each. */
  advice: readonly string[]
  /** The hub's page to go back to, and its words. */
  back?: { url: string; label: string } | undefined
  /** It may work later: the page tries again by itself. */
  isTemporary?: boolean
}

/** The header with the code of a refusal: what the page's script looks for. */
export const REFUSAL_HEADER = 'X-Hub-Error'

const STYLE = `
:root { color-scheme: light dark; --page: #f5f7f6; --surface: #fff; --ink: #14201c; --muted: #54655e; --line: #dde4e1;
  --brand: #0b6f5d; --on-brand: #fff; --bar: #0a3d34 }
@media (prefers-color-scheme: dark) {
  :root { --page: #0c1210; --surface: #121a17; --ink: #e6eeea; --muted: #9db0a8; --line: #22302b;
    --brand: #4fc3a8; --on-brand: #04231b; --bar: #0b2621 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 'Geist Variable', system-ui, sans-serif }
header { display: flex; align-items: center; gap: 10px; height: 52px; padding: 0 20px; background: var(--bar);
  color: #f1f8f5; font-weight: 620; letter-spacing: -0.01em }
main { max-width: 620px; margin: clamp(24px, 10vh, 96px) auto 24px; padding: 0 16px }
section { padding: 24px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface) }
h1 { margin: 0; font-size: 22px; font-weight: 630; line-height: 1.25; letter-spacing: -0.02em; overflow-wrap: anywhere }
h2 { margin: 20px 0 4px; font-size: 15px; font-weight: 620 }
p { margin: 8px 0 0; color: var(--muted); overflow-wrap: anywhere }
ul { margin: 0; padding-left: 20px; color: var(--muted) }
li { margin-top: 4px; overflow-wrap: anywhere }
nav { display: flex; flex-wrap: wrap; gap: 10px; margin-top: 24px }
a { display: inline-flex; align-items: center; min-height: 40px; padding: 0 16px; border: 1px solid var(--line);
  border-radius: 6px; color: var(--ink); font-weight: 550; text-decoration: none }
a[href=''] { border-color: var(--brand); background: var(--brand); color: var(--on-brand) }
a:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px }
[role='status'] { min-height: 24px; font-size: 14px }
`

/**
 * Waits twice as long each time, up to half a minute. Of answers it reads only the hub's own, whose message begins with
 * the title of its page: a failure of another kind has another page.
 */
const SCRIPT = `
const line = document.querySelector('[role=status]')
let seconds = 2
async function retry() {
  line.textContent = 'Trying again …'
  try {
    const answer = await fetch(location.href, { cache: 'no-store', redirect: 'manual' })
    const isSame = ['gateway_unreachable', 'too_many_requests'].includes(answer.headers.get('${REFUSAL_HEADER}')) &&
      (await answer.json()).message.startsWith(document.querySelector('h1').textContent + '. ')
    if (!isSame) return location.reload()
  } catch {}
  wait()
}
function wait() {
  line.textContent = 'This page tries again in ' + seconds + ' seconds.'
  setTimeout(retry, seconds * 1000)
  seconds = Math.min(seconds * 2, 30)
}
wait()
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const PAGE_POLICY =
  `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SCRIPT)}; connect-src 'self'; base-uri ` +
  "'none'; form-action 'none'; frame-ancestors 'none'"

/** Three bushes on a line, as in the portal's bar. */
const MARK =
  '<svg width="26" height="18" viewBox="0 0 26 18" aria-hidden="true"><path d="M2 13.500c0-3.400 2-5.400 ' +
  '4.600-5.400C6.600 4.500 9.200 2 13 2s6.400 2.500 6.400 6.100c2.600 0 4.600 2 4.600 5.400z" ' +
  'fill="#6fd2ba"/><path d="M2 16.700h22" stroke="#f2b544" stroke-width="1.600" stroke-linecap="round"/></svg>'

const listItem = (sentence: string) => `<li>${escapeHtml(sentence)}</li>`

export function renderPage({ title, reason, advice, back, isTemporary = false }: RefusalPage): string {
  const links = [
    isTemporary ? '<a href="">Try again</a>' : '',
    back ? `<a href="${escapeHtml(back.url)}">${escapeHtml(back.label)}</a>` : '',
  ].join('\n')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<header>${MARK}Hedgerow</header>
<main>
<section>
<h1>${escapeHtml(title)}</h1>
${reason === undefined ? '' : `<p>${escapeHtml(reason)}</p>`}
${advice.length > 0 ? `<h2>What to do</h2>\n<ul>\n${advice.map(listItem).join('\n')}\n</ul>` : ''}
${links.trim() === '' ? '' : `<nav>\n${links}\n</nav>`}
${isTemporary ? `<p role="status"></p>\n</section>\n</main>\n<script>${SCRIPT}</script>` : '</section>\n</main>'}
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
