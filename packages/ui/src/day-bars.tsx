import styles from './day-bars.module.css'

type Series = {
  /** The unit after the number: `3 false alarms`. */
  words: string
  tone: 'right' | 'wrong' | 'signal'
  /** One value for each day. */
  values: readonly number[]
}

type DayBarsProps = {
  days: readonly string[]
  /** Stacked above the axis, and below it. */
  above: readonly Series[]
  below: readonly Series[]
  /** Events of days in words, by the day's index in `days`. */
  marks?: ReadonlyMap<number, string>
  /** The value of the highest bar; the highest of these days when left out. */
  most?: number
  /** As wide as its container, instead of small enough for a table. */
  wide?: boolean
}

const BAR_WIDTH = 6
const GAP = 2

/**
 * Bars up and down for each day. Its accessible name lists the days with values; a table beside it has room for all
 * figures.
 */
export function DayBars({ days, above, below, marks = new Map(), most, wide = false }: DayBarsProps) {
  const sum = (series: readonly Series[], day: number) =>
    series.reduce((total, { values }) => total + (values[day] ?? 0), 0)
  const highest = Math.max(1, most ?? 0, ...days.flatMap((_day, index) => [sum(above, index), sum(below, index)]))
  const half = wide ? 40 : 18
  const scale = half / highest
  const width = days.length * (BAR_WIDTH + GAP)
  const figures = [...above, ...below]
  const label = (index: number) =>
    [...figures.map(({ words, values }) => `${values[index] ?? 0} ${words}`), marks.get(index) ?? ''].filter(Boolean)
  const isQuiet = (index: number) => figures.every(({ values }) => (values[index] ?? 0) === 0) && !marks.has(index)
  return (
    <svg
      className={wide ? styles.wide : styles.days}
      viewBox={`0 0 ${width} ${half * 2}`}
      width={wide ? undefined : width}
      height={wide ? undefined : half * 2}
      preserveAspectRatio="none"
      role="img"
      aria-label={
        days.flatMap((day, index) => (isQuiet(index) ? [] : [`${day}: ${label(index).join(', ')}`])).join('; ') ||
        'Nothing on these days'
      }
    >
      {days.map((day, index) => {
        const x = index * (BAR_WIDTH + GAP)
        return (
          <g key={day}>
            <title>{`${day}: ${label(index).join(', ')}`}</title>
            <rect className={styles.none} x={x} y={0} width={BAR_WIDTH} height={half * 2} />
            {stack(above, index, scale).map(({ tone, from, height }) => (
              <rect
                key={tone}
                className={styles[tone]}
                x={x}
                y={half - from - height}
                width={BAR_WIDTH}
                height={height}
              />
            ))}
            {stack(below, index, scale).map(({ tone, from, height }) => (
              <rect key={tone} className={styles[tone]} x={x} y={half + from} width={BAR_WIDTH} height={height} />
            ))}
            {marks.has(index) && (
              <line className={styles.mark} x1={x - GAP / 2} x2={x - GAP / 2} y1={0} y2={half * 2} />
            )}
          </g>
        )
      })}
      <line className={styles.axis} x1={0} x2={width} y1={half} y2={half} />
    </svg>
  )
}

/** A value above 0 is always visible. */
function stack(series: readonly Series[], day: number, scale: number) {
  let from = 0
  return series.map(({ tone, values }) => {
    const value = values[day] ?? 0
    const bar = { tone, from, height: value === 0 ? 0 : Math.max(1, value * scale) }
    from += bar.height
    return bar
  })
}
