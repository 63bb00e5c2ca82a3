import { Button } from '@mantine/core'
import { useHeightVariable, wholePage } from '@hedgerow/ui/height-variable.ts'
import { useRef } from 'react'
import { LabelForm } from './label-form.tsx'
import type { Verdict } from './use-review.ts'
import styles from './threats.module.css'

type BulkBarProps = {
  count: number
  labels: readonly string[]
  isBusy: boolean
  isLabelling: boolean
  onLabelling: (labelling: boolean) => void
  onSay: (decision: Verdict) => void
  onClear: () => void
}

/** Reviews of all selected incidents, at the bottom of the window; the page ends above it. */
export function BulkBar({ count, labels, isBusy, isLabelling, onLabelling, onSay, onClear }: BulkBarProps) {
  const bar = useRef<HTMLElement>(null)
  useHeightVariable(bar, '--sticky-bar-height', wholePage)
  return (
    <section ref={bar} className={styles.bulk} aria-label="Selected incidents">
      <strong>{count} selected</strong>
      {isLabelling ? (
        <LabelForm
          labels={labels}
          onCancel={() => onLabelling(false)}
          onSave={(label) => {
            onLabelling(false)
            onSay({ verdict: 'wrong', label })
          }}
        />
      ) : (
        <>
          <Button size="sm" loading={isBusy} onClick={() => onSay({ verdict: 'right' })}>
            Correct
          </Button>
          <Button size="sm" variant="default" disabled={isBusy} onClick={() => onSay({ verdict: 'wrong' })}>
            Wrong
          </Button>
          <Button size="sm" variant="default" disabled={isBusy} onClick={() => onLabelling(true)}>
            Other…
          </Button>
          <Button size="sm" variant="subtle" onClick={onClear}>
            Clear selection
          </Button>
        </>
      )}
    </section>
  )
}
