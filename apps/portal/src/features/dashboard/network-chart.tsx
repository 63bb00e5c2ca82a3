/** The chart of the last 24 hours, with the same numbers as a table for screen readers. */
import type { hubTimeline, ResponseOf } from '@hedgerow/contract'
import { useCallback, useMemo } from 'react'
import { Link, useNavigate } from 'react-router'
import HourChart from '@hedgerow/ui/hour-chart.tsx'
import { hourLabel } from '@hedgerow/ui/hours.ts'
import { threatsOfHour } from './targets.ts'
import styles from './page.module.css'

type Hours = ResponseOf<typeof hubTimeline>

const HEIGHT_PX = 342
const count = (value: number) => value.toLocaleString()

export default function NetworkChart({ hours }: { hours: Hours }) {
  const chart = useMemo(
    () => ({
      hours: hours.map(({ hour }) => hour),
      series: [
        {
          label: 'Active Connections',
          values: hours.map(({ activeConnections }) => activeConnections),
          tone: 'brand' as const,
        },
        { label: 'Threats Detected', values: hours.map(({ threats }) => threats), tone: 'danger' as const },
      ],
    }),
    [hours],
  )
  const navigate = useNavigate()
  const openHour = useCallback(
    (index: number) => {
      const hour = hours[index]?.hour
      if (hour !== undefined) void navigate(threatsOfHour(hour))
    },
    [hours, navigate],
  )
  return (
    <>
      <HourChart {...chart} shape="line" heightPx={HEIGHT_PX} reach={4} format={count} onHour={openHour} />
      <div className={styles.table}>
        <table>
          <caption>Network activity by the hour, last 24 hours</caption>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              <th scope="col">Active Connections</th>
              <th scope="col">Threats Detected</th>
            </tr>
          </thead>
          <tbody>
            {hours.map(({ hour, activeConnections, threats }) => (
              <tr key={hour}>
                <th scope="row">
                  <Link to={threatsOfHour(hour)}>{hourLabel(hour)}</Link>
                </th>
                <td>{activeConnections}</td>
                <td>{threats}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
