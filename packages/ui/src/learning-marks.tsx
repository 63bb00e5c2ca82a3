import { Chip } from './chip.tsx'
import styles from './learning-marks.module.css'

type LearningMarksProps = {
  suppressed?: boolean | undefined
  doubtful?: boolean | undefined
  snoozed?: boolean | undefined
}

/** The marks of learning and of a snooze on a detection or an incident. */
export function LearningMarks({ suppressed = false, doubtful = false, snoozed = false }: LearningMarksProps) {
  if (!suppressed && !doubtful && !snoozed) return null
  return (
    <span className={styles.marks}>
      {suppressed && <Chip tone="neutral">hidden by learning</Chip>}
      {snoozed && <Chip tone="neutral">snoozed: no alert</Chip>}
      {doubtful && <Chip tone="warning">worth a second look</Chip>}
    </span>
  )
}
