/**
 * Figures by the hour, drawn with Chart.js; always loaded lazily, because Chart.js is a third of the portal. A canvas
 * is not accessible, so every chart needs a table with the same figures.
 */
import { useComputedColorScheme } from '@mantine/core'
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ActiveElement,
  type ChartEvent,
  type ChartOptions,
  type ScriptableContext,
  type ScriptableLineSegmentContext,
} from 'chart.js'
import { useMemo } from 'react'
import { Bar, Line } from 'react-chartjs-2'
import { hourLabel, tickLabel } from './hours.ts'
import styles from './hour-chart.module.css'

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Legend,
  Tooltip,
)

/** A canvas can't read CSS variables, so the chart gets the colour scheme as a value. */
const COLOURS = {
  light: {
    brand: '#0f8f7c',
    danger: '#c22f27',
    quiet: '#6a7d75',
    ink: '#54655e',
    line: '#e6ecea',
    surface: '#ffffff',
    text: '#14201c',
    border: '#c6d1cc',
  },
  dark: {
    brand: '#4fc3a8',
    danger: '#ff7a70',
    quiet: '#7c9087',
    ink: '#9db0a8',
    line: '#1d2924',
    surface: '#19231f',
    text: '#e6eeea',
    border: '#31413a',
  },
}

type HourSeries = {
  label: string
  /** One value for each hour; null for an unknown one leaves a gap. */
  values: readonly (number | null)[]
  tone: 'brand' | 'danger' | 'quiet'
}

type HourChartProps = {
  /** The beginning of each hour, oldest first. The last one is the running hour, which is drawn dashed or hollow. */
  hours: readonly string[]
  series: readonly HourSeries[]
  shape: 'line' | 'bar'
  heightPx: number
  /** The least upper end of the axis, so that small values have small bars. */
  reach: number
  format: (value: number) => string
  /** A click on the hour with this index. The table beside the chart leads there by keyboard. */
  onHour?: (index: number) => void
}

export default function HourChart({ hours, series, shape, heightPx, reach, format, onHour }: HourChartProps) {
  const colours = COLOURS[useComputedColorScheme('light')]
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches
  const data = useMemo(
    () => ({
      labels: [...hours],
      datasets: series.map(({ label, values, tone }) => ({
        label,
        data: [...values],
        borderColor: colours[tone],
        backgroundColor:
          shape === 'line'
            ? colours[tone]
            : hours.map((_, index) => (isRunning(index, hours.length) ? 'transparent' : colours[tone])),
        pointBackgroundColor: colours[tone],
        ...(shape === 'line' && { segment: { borderDash: dashOf(hours.length) } }),
      })),
    }),
    [hours, series, colours, shape],
  )
  const options = useMemo<ChartOptions<'line'> & ChartOptions<'bar'>>(() => {
    const font = { family: "'Geist Variable', system-ui, sans-serif", size: 12 }
    return {
      responsive: true,
      maintainAspectRatio: false,
      animation: still ? false : { duration: 250 },
      interaction: { mode: 'index', intersect: false },
      ...(onHour && {
        onClick: (_event: ChartEvent, [point]: ActiveElement[]) => point && onHour(point.index),
        onHover: ({ native }: ChartEvent, points: ActiveElement[]) => {
          const canvas = native?.target
          if (canvas instanceof HTMLElement) canvas.style.cursor = points.length > 0 ? 'pointer' : ''
        },
      }),
      datasets: {
        line: { borderWidth: 2, pointRadius: radiusOfPoint, pointHoverRadius: 4, tension: 0.1 },
        bar: { borderRadius: 2, borderWidth: 1, borderSkipped: false, categoryPercentage: 0.7, barPercentage: 0.95 },
      },
      plugins: {
        legend: {
          position: 'top',
          align: 'start',
          labels: {
            color: colours.text,
            font,
            usePointStyle: true,
            pointStyle: shape === 'line' ? 'line' : 'rectRounded',
            boxWidth: shape === 'line' ? 22 : 8,
            ...(shape === 'bar' && { boxHeight: 8 }),
            padding: 16,
          },
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
          callbacks: {
            title: ([item]) =>
              hourLabel(hours[item?.dataIndex ?? 0] ?? '') +
              (isRunning(item?.dataIndex, hours.length) ? ', so far' : ''),
            label: ({ dataset, parsed }) => `${dataset.label}: ${parsed.y === null ? 'unknown' : format(parsed.y)}`,
          },
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
            callback: (_, index) => tickLabel(hours[index] ?? ''),
          },
        },
        y: {
          beginAtZero: true,
          suggestedMax: reach,
          border: { display: false },
          grid: { color: colours.line },
          ticks: {
            color: colours.ink,
            font,
            precision: 0,
            maxTicksLimit: 6,
            callback: (value) => format(Number(value)),
          },
        },
      },
    }
  }, [hours, shape, reach, format, colours, still, onHour])
  return (
    <div className={styles.canvas} style={{ height: heightPx }} aria-hidden="true">
      {shape === 'line' ? <Line data={data} options={options} /> : <Bar data={data} options={options} />}
    </div>
  )
}

const isRunning = (index: number | undefined, hours: number) => index === hours - 1
const dashOf =
  (hours: number) =>
  ({ p1DataIndex }: ScriptableLineSegmentContext) =>
    isRunning(p1DataIndex, hours) ? [4, 4] : undefined

/** A line has no points, except for an hour between two unknown ones, which would be invisible. */
function radiusOfPoint({ dataset, dataIndex }: ScriptableContext<'line'>): number {
  const hasValue = (index: number) => typeof dataset.data[index] === 'number'
  return hasValue(dataIndex) && !hasValue(dataIndex - 1) && !hasValue(dataIndex + 1) ? 3 : 0
}
