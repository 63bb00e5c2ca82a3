/**
 * An alert that more things join while its message waits. In a storm that happens a hundred times a second, and its
 * columns have a hundred kilobytes, so what was written last is remembered instead of parsed again.
 */
import { linesIn, type AlertRow } from './alert-rows.ts'
import { addSighting, tallyAsJson, tallyIn, type Tally } from './sightings.ts'
import type { Line, LineList } from './words.ts'

/**
 * Stored lines of an alert: the first ones, then only the first one of each further gateway, for its owner, and
 * requests, which are decided one by one.
 */
const LINES_STORED = 10
const GATEWAYS_STORED = 200
const ALERTS_REMEMBERED = 10

type Columns = Pick<AlertRow, 'lines' | 'counts' | 'sightings'>
type Content = { lines: Line[]; counts: Record<string, number>; tally: Tally; count: number }

/** By alert. It counts only while the row still says the same: a transaction may have been rolled back. */
const written = new Map<string, { columns: Columns; content: Content }>()

/** The columns of an alert with these lines added, and what it then says. */
export function grow(
  id: string,
  before: Columns | undefined,
  lines: readonly Line[],
): { content: Columns & Pick<AlertRow, 'gateway_id'>; told: LineList } {
  const content: Content = before ? contentOf(id, before) : { lines: [], counts: {}, tally: new Map(), count: 0 }
  const { counts, lines: stored, tally } = content
  for (const line of lines) {
    const isFirstOfGateway = counts[line.gatewayId] === undefined
    counts[line.gatewayId] = (counts[line.gatewayId] ?? 0) + 1
    if (line.kind === 'detection') addSighting(tally, line)
    const isKept = isFirstOfGateway || line.kind === 'approval'
    if (stored.length < (isKept ? GATEWAYS_STORED : LINES_STORED)) stored.push(line)
  }
  content.count += lines.length
  const columns = {
    lines: JSON.stringify(stored),
    counts: JSON.stringify(counts),
    sightings: tallyAsJson(tally),
  }
  remember(id, columns, content)
  const [only, ...others] = Object.keys(counts)
  return {
    content: { ...columns, gateway_id: others.length === 0 && only !== '' ? (only ?? null) : null },
    told: { lines: [...stored], count: content.count, sightings: [...tally.values()] },
  }
}

/** The caller may change the result: afterwards `remember` replaces it, or a rolled-back row no longer matches it. */
function contentOf(id: string, { lines, counts, sightings }: Columns): Content {
  const known = written.get(id)
  if (known?.columns.counts === counts && known.columns.lines === lines) return known.content
  const parsed = JSON.parse(counts) as Content['counts']
  return {
    lines: linesIn(lines),
    counts: parsed,
    tally: tallyIn(sightings),
    count: Object.values(parsed).reduce((sum, one) => sum + one, 0),
  }
}

function remember(id: string, columns: Columns, content: Content): void {
  written.delete(id)
  written.set(id, { columns, content })
  for (const oldest of written.keys()) {
    if (written.size <= ALERTS_REMEMBERED) break
    written.delete(oldest)
  }
}
