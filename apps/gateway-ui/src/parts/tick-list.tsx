import { useId } from 'react'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import styles from './form.module.css'

type TickListProps = {
  legend: string
  /** What it means that none is ticked. */
  hint?: string
  options: readonly (readonly [value: string, words: string])[]
  ticked: readonly string[]
  error?: string | undefined
  onChange: (ticked: string[]) => void
}

/** Some of several values, in the order of the options. */
export function TickList({ legend, hint, options, ticked, error, onChange }: TickListProps) {
  const id = useId()
  if (options.length === 0) return null
  return (
    <fieldset className={styles.group} aria-describedby={error === undefined ? undefined : id}>
      <legend>{legend}</legend>
      {hint !== undefined && <p className={styles.quiet}>{hint}</p>}
      <div className={styles.ticks}>
        {options.map(([value, words]) => (
          <TickBox
            key={value}
            checked={ticked.includes(value)}
            invalid={error !== undefined}
            onChange={(isTicked) =>
              onChange(options.flatMap(([each]) => ((each === value ? isTicked : ticked.includes(each)) ? [each] : [])))
            }
          >
            {words}
          </TickBox>
        ))}
      </div>
      {error !== undefined && (
        <p id={id} className={styles.error}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
