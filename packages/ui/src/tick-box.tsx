import type { ReactNode } from 'react'
import styles from './tick-box.module.css'

type TickBoxProps = { checked: boolean; invalid?: boolean; onChange: (checked: boolean) => void } & (
  | { children: ReactNode; label?: never }
  | { label: string; children?: never }
)

/** The browser's own tick box in our colour, with its text beside it or, as `label`, only for screen readers. */
export function TickBox({ checked, invalid = false, onChange, label, children }: TickBoxProps) {
  const box = (
    <input
      type="checkbox"
      className={styles.box}
      checked={checked}
      aria-label={label}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
  if (label !== undefined) return <label className={styles.alone}>{box}</label>
  return (
    <label className={styles.label}>
      {box}
      {children}
    </label>
  )
}
