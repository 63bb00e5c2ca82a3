import { Chip } from './chip.tsx'
import styles from './learning-marks.module.css'

type LearningMarksProps = { suppressed?: boolean | undefined; doubtful?: boolean | undefined }

/** The marks of learning on a detection or an incident. */
export function LearningMarks({ suppressed = false, doubtful = false }: LearningMarksProps) {
  if (!suppressed && !doubtful) return null
  return (
    <span className={styles.marks}>
      {suppressed && <Chip tone="neutral">hidden by learning</Chip>}
      {doubtful && <Chip tone="warning">worth a second look</Chip>}
    </span>
  )
}
