/**
 * Charts of a gateway's last 24 hours, each with a one-sentence summary. The table below has the figures.
 */
import type { GatewayHour } from '@hedgerow/contract'
import { useMemo, type ComponentProps } from 'react'
import HourChart from '@hedgerow/ui/hour-chart.tsx'
import { formatBytes, formatLoad } from './amounts.ts'
import { describeLoad, describeMemory, describeTraffic } from './history.ts'
import styles from './history.module.css'

const HEIGHT_PX = 210
const ALL_CORES_BUSY = 1
const FULL_PERCENT = 100
const SOME_BYTES = 10_000

/** In percent, so that the axis has round steps. */
const percentOf = (span: { mean: number } | null) => (span === null ? null : span.mean * 100)
const inPercent = (hundredths: number) => `${Math.round(hundredths)} %`

export default function HistoryCharts({ hours }: { hours: readonly GatewayHour[] }) {
  const { at, load, memory, traffic } = useMemo(
    () => ({
      at: hours.map(({ hour }) => hour),
      load: [{ label: 'Load per core', values: hours.map((hour) => hour.load?.mean ?? null), tone: 'brand' as const }],
      memory: [{ label: 'Memory', values: hours.map((hour) => percentOf(hour.memory)), tone: 'brand' as const }],
      traffic: [
        { label: 'From the gateway', values: hours.map((hour) => hour.receivedBytes), tone: 'brand' as const },
        { label: 'To the gateway', values: hours.map((hour) => hour.sentBytes), tone: 'quiet' as const },
      ],
    }),
    [hours],
  )
  return (
    <div className={styles.charts}>
      <Chart
        words={describeLoad(hours)}
        hours={at}
        series={load}
        shape="line"
        reach={ALL_CORES_BUSY}
        format={formatLoad}
      />
      <Chart
        words={describeMemory(hours)}
        hours={at}
        series={memory}
        shape="line"
        reach={FULL_PERCENT}
        format={inPercent}
      />
      <Chart
        words={describeTraffic(hours)}
        hours={at}
        series={traffic}
        shape="bar"
        reach={SOME_BYTES}
        format={formatBytes}
      />
    </div>
  )
}

/** A chart above its sentence; nothing where there is nothing to say. */
function Chart({
  words,
  ...chart
}: Omit<ComponentProps<typeof HourChart>, 'heightPx'> & { words: string | undefined }) {
  if (words === undefined) return null
  return (
    <figure>
      <HourChart heightPx={HEIGHT_PX} {...chart} />
      <figcaption>{words}</figcaption>
    </figure>
  )
}
