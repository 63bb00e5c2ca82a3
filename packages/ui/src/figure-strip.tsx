import { Skeleton } from '@mantine/core'
import styles from './figure-strip.module.css'

/** `value` is null while it is unknown. */
export type Figure = { label: string; value: number | null; tone?: 'danger' | 'warning' }

/** A few figures as one divided strip. It has the same height while `loading`, so nothing moves later. */
export function FigureStrip({
  label,
  figures,
  loading,
}: {
  label: string
  figures: readonly Figure[]
  loading: boolean
}) {
  return (
    <dl className={styles.strip} aria-label={label}>
      {figures.map((figure) => (
        <div key={figure.label} className={styles.figure}>
          <dt>{figure.label}</dt>
          <dd data-tone={(figure.value ?? 0) > 0 ? figure.tone : undefined}>
            {loading ? (
              <Skeleton height={24} width={48} mt={6} mb={4} radius={4} />
            ) : (
              (figure.value?.toLocaleString() ?? '–')
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
