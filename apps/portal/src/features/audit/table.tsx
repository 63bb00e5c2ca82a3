import type { AuditEntry } from '@hedgerow/contract'
import { Absent, Cell, DataTable, Row, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'

const COLUMNS: readonly Column[] = [
  { name: 'When', width: '17%' },
  { name: 'Who', width: '15%' },
  { name: 'Action', width: '20%' },
  { name: 'On What' },
  { name: 'From', width: '14%' },
  { name: 'Result', width: '11%' },
]

const RESULT = {
  ok: { shape: 'dot', word: 'Done' },
  refused: { shape: 'diamond', word: 'Refused' },
} as const

/** Newest first, each time to the second: an audit is read to know when something happened. */
export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <DataTable label="Audit log" columns={COLUMNS} rowCount={entries.length}>
      {entries.map(({ id, at, actor, action, target, sourceIp, result }, index) => (
        <Row key={id} index={index}>
          <Cell label="When" place="title">
            <ExactTime at={at} />
          </Cell>
          <Cell label="Who">{actor}</Cell>
          <Cell label="Action">
            <Mono>{action}</Mono>
          </Cell>
          <Cell label="On What">{target === null ? <Absent>none</Absent> : target}</Cell>
          <Cell label="From">{sourceIp === null ? <Absent>the hub itself</Absent> : <Mono>{sourceIp}</Mono>}</Cell>
          <Cell label="Result">
            <StatusMark {...RESULT[result]} />
          </Cell>
        </Row>
      ))}
    </DataTable>
  )
}
