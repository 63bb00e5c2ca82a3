/** The hub's own answers on a gateway's origin: a page for a person, JSON for everything else. */
import { errorTable, type ErrorBody, type ErrorCode } from '@hedgerow/contract'
import type { RequestHead } from '@hedgerow/http'
import { PAGE_POLICY, REFUSAL_HEADER, renderPage, type RefusalPage } from './refusal-page.ts'
import type { Reply } from './reply.ts'

const SEND_AGAIN =
  'What you sent may have arrived or not. Go back, see whether the gateway has it, and send it again if not.'

/** Answers with the code's status; the words are `page`'s, or the code's sentence. */
export function refuse(
  req: RequestHead,
  reply: Reply,
  code: ErrorCode,
  page: Partial<RefusalPage> = {},
  headers: Record<string, string | string[]> = {},
): void {
  const { status, message } = errorTable[code]
  const isPage = isForAPerson(req)
  // Only a request without a body may be made again without asking.
  const mayRepeat = req.method === 'GET'
  const { isTemporary = false, advice = [] } = page
  const body = isPage
    ? renderPage({
        title: message,
        ...page,
        advice: isTemporary && !mayRepeat ? [...advice, SEND_AGAIN] : advice,
        isTemporary: isTemporary && mayRepeat,
      })
    : JSON.stringify({ error: code, message: inWords(page) ?? message } satisfies ErrorBody)
  reply.send(
    status,
    {
      'Content-Type': `${isPage ? 'text/html' : 'application/json'}; charset=utf-8`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': PAGE_POLICY,
      'Cross-Origin-Resource-Policy': 'same-origin',
      [REFUSAL_HEADER]: code,
      ...(req.complete ? {} : { Connection: 'close' }),
      ...headers,
    },
    body,
  )
}

function inWords({ title, reason }: Partial<RefusalPage>): string | undefined {
  return title === undefined ? undefined : `${title}. ${reason ?? ''}`.trim()
}

function isForAPerson({ headers }: RequestHead): boolean {
  const destination = headers['sec-fetch-dest']
  return destination === undefined ? /\btext\/html\b/i.test(headers.accept ?? '') : destination === 'document'
}
