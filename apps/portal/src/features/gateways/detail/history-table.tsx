import type { GatewayHour } from '@hedgerow/contract'
import { Absent, Cell, DataTable, Row, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { hourLabel } from '@hedgerow/ui/hours.ts'
import { formatBytes, formatLoad } from './amounts.ts'
import { percent } from './history.ts'

const COLUMNS: readonly Column[] = [
  { name: 'Hour', width: '25%' },
  { name: 'Load per core', numeric: true },
  { name: 'Memory', numeric: true },
  { name: 'Temperature', numeric: true },
  { name: 'From it', numeric: true },
  { name: 'To it', numeric: true },
]

/** The figures of the charts, newest hour first: the mean of each hour, and its highest value below. */
export function HistoryTable({ hours }: { hours: readonly GatewayHour[] }) {
  return (
    <DataTable label="Load and traffic by the hour" columns={COLUMNS} rowCount={hours.length} narrow="lines">
      {hours.toReversed().map(({ hour, load, memory, temperature, receivedBytes, sentBytes }, index) => (
        <Row key={hour} index={index} restOf={hourLabel(hour)}>
          <Cell label="Hour" place="title">
            {hourLabel(hour)}
          </Cell>
          <Cell label="Load per core" place="line" numeric>
            {amountOf(load, formatLoad)}
          </Cell>
          <Cell label="Memory" numeric>
            {amountOf(memory, percent)}
          </Cell>
          <Cell label="Temperature" numeric>
            {amountOf(temperature, celsius)}
          </Cell>
          <Cell label="From it" place="beside" numeric>
            {formatBytes(receivedBytes)}
          </Cell>
          <Cell label="To it" numeric>
            {formatBytes(sentBytes)}
          </Cell>
        </Row>
      ))}
    </DataTable>
  )
}

const celsius = (degrees: number) => `${Math.round(degrees)} °C`

function amountOf(span: { mean: number; max: number } | null, format: (value: number) => string) {
  if (span === null) return <Absent>Unknown</Absent>
  return <TwoLines first={format(span.mean)} second={`at most ${format(span.max)}`} />
}
