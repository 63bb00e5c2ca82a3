/** The review of the incident before, which the person no longer sees: what it was, and the way back. */
import { Button } from '@mantine/core'
import { useEffect } from 'react'
import type { Verdict } from './use-review.ts'
import styles from './threats.module.css'

const SHOWN_MS = 8_000

export type Marked = { id: string; said: Verdict }

export function MarkedBefore({ said, onUndo, onGone }: Pick<Marked, 'said'> & { onUndo(): void; onGone(): void }) {
  useEffect(() => {
    const timer = setTimeout(onGone, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [onGone])
  return (
    <output className={styles.marked}>
      {wordsOfMark(said)}
      <Button variant="default" onClick={onUndo}>
        Undo
      </Button>
    </output>
  )
}

/** What was said about an incident that is no longer shown. */
const wordsOfMark = ({ verdict, label }: Verdict): string =>
  verdict === 'right' ? 'Marked correct' : label ? `Marked as ${label}` : 'Marked wrong'
