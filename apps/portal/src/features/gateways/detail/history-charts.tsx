/**
 * Charts of a gateway's last 24 hours, each with a one-sentence summary. The table below has the figures.
 */
import type { GatewayHour } from '@hedgerow/contract'
import { useMemo } from 'react'
import HourChart from '@hedgerow/ui/hour-chart.tsx'
import { formatBytes } from './amounts.ts'
import { describeLoad, describeTraffic } from './history.ts'
import styles from './history.module.css'

const HEIGHT_PX = 210
const FULL_PERCENT = 100
const SOME_BYTES = 10_000

/** In percent, so that the axis has round steps. */
const percentOf = (span: { mean: number } | null) => (span === null ? null : span.mean * 100)
const words = (hundredths: number) => `${Math.round(hundredths)} %`

export default function HistoryCharts({ hours }: { hours: readonly GatewayHour[] }) {
  const { at, load, traffic } = useMemo(
    () => ({
      at: hours.map(({ hour }) => hour),
      load: [
        { label: 'Load', values: hours.map((hour) => percentOf(hour.load)), tone: 'brand' as const },
        { label: 'Memory', values: hours.map((hour) => percentOf(hour.memory)), tone: 'quiet' as const },
      ],
      traffic: [
        { label: 'From the gateway', values: hours.map((hour) => hour.receivedBytes), tone: 'brand' as const },
        { label: 'To the gateway', values: hours.map((hour) => hour.sentBytes), tone: 'quiet' as const },
      ],
    }),
    [hours],
  )
  const loadWords = describeLoad(hours)
  return (
    <div className={styles.charts}>
      {loadWords !== undefined && (
        <figure>
          <HourChart hours={at} series={load} shape="line" heightPx={HEIGHT_PX} reach={FULL_PERCENT} format={words} />
          <figcaption>{loadWords}</figcaption>
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
