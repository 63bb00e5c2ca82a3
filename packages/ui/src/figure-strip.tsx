import { Skeleton } from '@mantine/core'
import { Link } from 'react-router'
import styles from './figure-strip.module.css'

export type Figure = {
  label: string
  /** Null while it is unknown. */
  value: number | null
  tone?: 'danger' | 'warning'
  /** Makes the figure a button that can be on; `name` is for screen readers. */
  toggle?: { name: string; on: boolean; onPress: () => void }
  /** Makes the figure a link to the things that it counts. */
  to?: string
}

/**
 * A few figures as one divided strip. It has the same height while `loading`, so nothing moves later. `low`: of one
 * line in a wide window.
 */
export function FigureStrip({
  label,
  figures,
  loading = false,
  low = false,
}: {
  label: string
  figures: readonly Figure[]
  loading?: boolean
  low?: boolean
}) {
  return (
    <dl className={styles.strip} data-low={low} aria-label={label}>
      {figures.map((figure) => (
        <div key={figure.label} className={styles.figure} data-on={figure.toggle?.on}>
          <dt>{figure.label}</dt>
          <dd data-tone={(figure.value ?? 0) > 0 ? figure.tone : undefined}>
            {loading ? (
              <Skeleton height={24} width={48} mt={6} mb={4} radius={4} />
            ) : (
              (figure.value?.toLocaleString() ?? '–')
            )}
            {figure.to !== undefined && <Link to={figure.to} aria-label={`Show ${figure.label}`} />}
            {figure.toggle !== undefined && (
              <button
                type="button"
                aria-label={figure.toggle.name}
                aria-pressed={figure.toggle.on}
                onClick={figure.toggle.onPress}
              />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
