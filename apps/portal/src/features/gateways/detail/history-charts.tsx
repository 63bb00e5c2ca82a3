/**
 * Charts of a gateway's last 24 hours, each with a one-sentence summary. The table below has the figures.
 */
import type { GatewayHour } from '@hedgerow/contract'
import { useMemo } from 'react'
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
  const loadWords = describeLoad(hours)
  const memoryWords = describeMemory(hours)
  return (
    <div className={styles.charts}>
      {loadWords !== undefined && (
        <figure>
          <HourChart
            hours={at}
            series={load}
            shape="line"
            heightPx={HEIGHT_PX}
            reach={ALL_CORES_BUSY}
            format={formatLoad}
          />
          <figcaption>{loadWords}</figcaption>
        </figure>
      )}
      {memoryWords !== undefined && (
        <figure>
          <HourChart
            hours={at}
            series={memory}
            shape="line"
            heightPx={HEIGHT_PX}
            reach={FULL_PERCENT}
            format={inPercent}
          />
          <figcaption>{memoryWords}</figcaption>
        </figure>
      )}
      <figure>
        <HourChart
          hours={at}
          series={traffic}
          shape="bar"
          heightPx={HEIGHT_PX}
          reach={SOME_BYTES}
          format={formatBytes}
        />
        <figcaption>{describeTraffic(hours)}</figcaption>
      </figure>
    </div>
  )
}
