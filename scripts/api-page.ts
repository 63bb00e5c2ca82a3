import { join } from 'node:path'
import { errorTable } from '@hedgerow/contract'
import { audienceOf } from '../apps/hub/src/access/policy.ts'
import { describedCalls } from '../apps/hub/src/http/openapi.ts'

export const API_PAGE = join(import.meta.dirname, '../docs/api.md')
const TABLE = '| call | name in the contract | who |\n|---|---|---|\n'
const ERRORS =
  '<!-- Made by npm run api-snapshot: codes, statuses and sentences. What stands below each is written here. -->\n'

/** The page with its table of calls, and with code, status and sentence of each error, from the contract. */
export function withContract(page: string): string {
  const [before, after] = parted(page, TABLE)
  const [between, errors] = parted(after.slice(after.indexOf('\n\n')), ERRORS)
  const advice = new Map(
    [...errors.matchAll(/^### (\w+)\n\n\d{3}\. (?:.+\n)+([^]*?)(?=^### |(?![^]))/gm)].map(([, code, text]) => [
      code!,
      text!.trim(),
    ]),
  )
  const sections = Object.entries(errorTable).map(([code, { status, message }]) =>
    [`### ${code}`, wrapped(`${status}. ${message}`), advice.get(code)].filter(Boolean).join('\n\n'),
  )
  return `${before}${TABLE}${calls()}${between}${ERRORS}\n${sections.join('\n\n')}\n`
}

function calls(): string {
  return describedCalls()
    .map(({ method, path, name, access }) => `| \`${method} ${path}\` | ${name} | ${audienceOf(access)} |`)
    .join('\n')
}

/** Lines of a document end at column 120. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,120})(?: |$)/g, '$1\n').trimEnd()
}

function parted(page: string, mark: string): [before: string, after: string] {
  const at = page.indexOf(mark)
  if (at < 0) throw new Error(`docs/api.md has lost this mark:\n${mark}`)
  return [page.slice(0, at), page.slice(at + mark.length)]
}
