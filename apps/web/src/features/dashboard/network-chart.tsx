/** The chart of the last 24 hours, with the same numbers as a table for those who do not see it. */
import type { hubTimeline, ResponseOf } from '@hedgerow/contract'
import { useComputedColorScheme } from '@mantine/core'
import {
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ChartOptions,
} from 'chart.js'
import { useMemo } from 'react'
import { Line } from 'react-chartjs-2'
import { hourLabel, tickLabel } from './hours.ts'
import styles from './page.module.css'

Chart.register(CategoryScale, LinearScale, LineController, LineElement, PointElement, Legend, Tooltip)

/** A canvas can't read tokens, so the chart is told the scheme. */
const COLOURS = {
  light: {
    teal: '#0f8f7c',
    red: '#c22f27',
    ink: '#54655e',
    line: '#e6ecea',
    surface: '#ffffff',
    text: '#14201c',
    border: '#c6d1cc',
  },
  dark: {
    teal: '#4fc3a8',
    red: '#ff7a70',
    ink: '#9db0a8',
    line: '#1d2924',
    surface: '#19231f',
    text: '#e6eeea',
    border: '#31413a',
  },
}

type Hours = ResponseOf<typeof hubTimeline>

export default function NetworkChart({ hours }: { hours: Hours }) {
  const scheme = useComputedColorScheme('light')
  const colours = COLOURS[scheme]
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches
  const data = useMemo(
    () => ({
      labels: hours.map(({ hour }) => hour),
      datasets: [
        series(
          'Active Connections',
          hours.map((hour) => hour.activeConnections),
          colours.teal,
        ),
        series(
          'Threats Detected',
          hours.map((hour) => hour.threats),
          colours.red,
        ),
      ],
    }),
    [hours, colours],
  )
  const options = useMemo<ChartOptions<'line'>>(() => {
    const font = { family: "'Geist Variable', system-ui, sans-serif", size: 12 }
    return {
      responsive: true,
      maintainAspectRatio: false,
      animation: still ? false : { duration: 250 },
      interaction: { mode: 'index', intersect: false },
      plugins: {
        legend: {
          position: 'top',
          align: 'start',
          labels: { color: colours.text, font, usePointStyle: true, pointStyle: 'line', boxWidth: 22, padding: 16 },
        },
        tooltip: {
          backgroundColor: colours.surface,
          titleColor: colours.text,
          bodyColor: colours.text,
          borderColor: colours.border,
          borderWidth: 1,
          titleFont: font,
          bodyFont: font,
          padding: 10,
          usePointStyle: true,
          callbacks: { title: ([item]) => hourLabel(hours[item?.dataIndex ?? 0]?.hour ?? '') },
        },
      },
      scales: {
        x: {
          border: { color: colours.border },
          grid: { display: false },
          ticks: {
            color: colours.ink,
            font,
            autoSkip: false,
            maxRotation: 0,
            callback: (_, index) => tickLabel(hours[index]?.hour ?? ''),
          },
        },
        y: {
          beginAtZero: true,
          suggestedMax: 4,
          border: { display: false },
          grid: { color: colours.line },
          ticks: { color: colours.ink, font, precision: 0, maxTicksLimit: 6 },
        },
      },
    }
  }, [hours, colours, still])

  return (
    <>
      <div className={styles.canvas} aria-hidden="true">
        <Line data={data} options={options} />
      </div>
      <div className="visually-hidden">
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
                <th scope="row">{hourLabel(hour)}</th>
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

const series = (label: string, values: number[], colour: string) => ({
  label,
  data: values,
  borderColor: colour,
  backgroundColor: colour,
  pointBackgroundColor: colour,
  borderWidth: 2,
  pointRadius: 0,
  pointHoverRadius: 4,
  tension: 0.1,
})
