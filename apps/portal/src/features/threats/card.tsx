import type { Incident } from '@hedgerow/contract'
import { memo } from 'react'
import { placeOf } from '#api/places.ts'
import { LearningMarks } from '@hedgerow/ui/learning-marks.tsx'
import { SiteTime } from '@hedgerow/ui/relative-time.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { Picture } from './picture.tsx'
import { reviewWords } from './use-review.ts'
import styles from './threats.module.css'

type CardProps = {
  incident: Incident
  /** Of its site; null when it is unknown. */
  timeZone: string | null
  index: number
  /** Its place on the wall, in CSS pixels. */
  left: number
  top: number
  width: number
  height: number
  isCurrent: boolean
  isSelected: boolean
  onOpen: (id: string) => void
  onSelect: (id: string, selected: boolean) => void
}

/** One incident: its picture first, then what, where and when. */
export const Card = memo(function Card({
  incident,
  timeZone,
  index,
  left,
  top,
  width,
  height,
  isCurrent,
  isSelected,
  onOpen,
  onSelect,
}: CardProps) {
  const { id, label, severity, gatewayName, camera, startedAt, detections, isFired, review } = incident
  const words = reviewWords(incident)
  return (
    <li
      className={styles.card}
      data-severity={severity}
      data-reviewed={review?.verdict}
      data-current={isCurrent}
      data-selected={isSelected}
      aria-posinset={index + 1}
      style={{ left, top, width, height }}
    >
      <button type="button" className={styles.open} data-incident={id} onClick={() => onOpen(id)}>
        <Picture incident={incident} />
        <span className={styles.caption}>
          <span className={styles.what}>
            <strong>{label}</strong>
            {severity === 'alert' && <span className={styles.alert}>alert</span>}
            {detections > 1 && <span className={styles.count}>{detections} times</span>}
          </span>
          <LearningMarks
            suppressed={incident.isSuppressed}
            doubtful={incident.isDoubtful}
            snoozed={incident.isSnoozed}
          />
          <span className={styles.where}>
            {camera} · {gatewayName}
            {placeOf(incident) !== '' && `, ${placeOf(incident)}`}
          </span>
          <span className={styles.when}>
            <SiteTime at={startedAt} timeZone={timeZone} />
            {(isFired || words !== undefined) && (
              <span className={styles.outcome}>
                {isFired && <span className={styles.fired}>fired</span>}
                {words !== undefined && <span className={styles.said}>{words}</span>}
              </span>
            )}
          </span>
        </span>
      </button>
      <span className={styles.tick}>
        <TickBox
          checked={isSelected}
          label={`Select ${label} at ${gatewayName}`}
          onChange={(selected) => onSelect(id, selected)}
        />
      </span>
    </li>
  )
})
