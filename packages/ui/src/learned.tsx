/** What a gateway learned from reviews: a curve for each camera, and the versions of each label with their undo. */
import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Chip } from './chip.tsx'
import { DayBars } from './day-bars.tsx'
import { Dialog, DialogActions, useDialogLife } from './dialog.tsx'
import { RelativeTime } from './relative-time.tsx'
import styles from './learned.module.css'

type Version = {
  number: number
  at: string
  state: 'active' | 'replaced' | 'undone'
  endedAt: string | null
  endedBy: string | null
  missedAtMost: number
  heldBack: number
  missed: number
}

type Label = {
  label: string
  right: number
  wrong: number
  message: string
  versions: readonly Version[]
  drift: { expected: number; observed: number; reviews: number } | null
}

type Night = { day: string; right: number; wrong: number; lost: number; heldBack: number }

export type LearnedMask = {
  id: string
  label: string
  times: number
  wrong: number
  polygon: readonly (readonly [number, number])[]
  lines: string
}

export type LearnedCamera = {
  camera: string
  nights: readonly Night[]
  labels: readonly Label[]
  masks: readonly LearnedMask[]
}

/** `to`: the version that becomes active, null for none. */
export type Undo = { camera: string; label: string; to: number | null }

type LearnedProps = {
  camera: LearnedCamera
  /** Undefined when the person may not undo. */
  onUndo?: ((undo: Undo) => void) | undefined
  isUndoing: boolean
  /** A link to the held-back detections of this camera. */
  heldBack: ReactNode
  /** Renders a proposed mask with its actions. */
  renderMask: (mask: LearnedMask) => ReactNode
}

export function Learned({ camera, onUndo, isUndoing, heldBack, renderMask }: LearnedProps) {
  const [chosen, setChosen] = useState<Undo>()
  return (
    <div className={styles.camera}>
      <Curve camera={camera} />
      <p>{heldBack}</p>
      {camera.labels.map((label) => (
        <section key={label.label} aria-label={`${label.label} on ${camera.camera}`}>
          <h3>{label.label}</h3>
          <p>
            {label.right} correct and {label.wrong} wrong in the last 60 days. {label.message}
          </p>
          {label.drift !== null && (
            <p className={styles.quiet}>
              Of the newest {label.drift.reviews} it expected {percent(label.drift.expected)} to be correct;{' '}
              {percent(label.drift.observed)} were.
            </p>
          )}
          {label.versions.length > 0 && (
            <Versions
              label={label}
              isUndoing={isUndoing}
              onAsk={onUndo && ((to) => setChosen({ camera: camera.camera, label: label.label, to }))}
            />
          )}
        </section>
      ))}
      {camera.masks.length > 0 && (
        <section aria-label={`Proposed masks on ${camera.camera}`}>
          <h3>Proposed masks</h3>
          <p className={styles.quiet}>The same box came again and again here, and nobody marked it correct.</p>
          <ul className={styles.masks}>
            {camera.masks.map((mask) => (
              <li key={mask.id}>
                <strong>
                  {mask.label}, {mask.times} times{mask.wrong > 0 && `, ${mask.wrong} of them called wrong`}
                </strong>
                {renderMask(mask)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {chosen !== undefined && (
        <UndoDialog undo={chosen} onUndo={() => onUndo?.(chosen)} onGone={() => setChosen(undefined)} />
      )}
    </div>
  )
}

const WEEK = 7

/** Counted from reviews, never estimated. */
function Curve({ camera: { camera, nights, labels } }: { camera: LearnedCamera }) {
  const days = nights.map(({ day }) => day)
  const marks = new Map(
    labels.flatMap(({ label, versions }) =>
      versions.map(({ at, number }): [number, string] => [
        nightOf(at, days),
        `version ${number} of ${label} took over`,
      ]),
    ),
  )
  marks.delete(-1)
  const wrong = nights.map((night) => night.wrong)
  const [before, lately] = [sum(wrong.slice(-2 * WEEK, -WEEK)), sum(wrong.slice(-WEEK))]
  return (
    <figure className={styles.curve}>
      <DayBars
        days={days}
        above={[
          { words: 'correct', tone: 'right', values: nights.map(({ right }) => right) },
          { words: 'missed', tone: 'signal', values: nights.map(({ lost }) => lost) },
        ]}
        below={[{ words: 'false alarms', tone: 'wrong', values: wrong }]}
        marks={marks}
        wide
      />
      <figcaption>
        <span className={styles.legend}>
          <span data-tone="right">correct</span>
          <span data-tone="lost">missed: wrongly hidden</span>
          <span data-tone="wrong">false alarms</span>
          <span data-tone="mark">a version took over</span>
        </span>
        False alarms that people marked: {lately} in the last {WEEK} nights, {before} in the {WEEK} before. Missed in
        the last {nights.length} nights: {sum(nights.map(({ lost }) => lost))}.
      </figcaption>
      <details>
        <summary>Night by night</summary>
        <div className={styles.scroll}>
          <table className={styles.figures} aria-label={`Nights of ${camera}`}>
            <thead>
              <tr>
                <th scope="col">Night</th>
                <th scope="col">Correct</th>
                <th scope="col">False alarms</th>
                <th scope="col">Hidden</th>
                <th scope="col">Missed</th>
              </tr>
            </thead>
            <tbody>
              {nights.toReversed().map((night) => (
                <tr key={night.day}>
                  <th scope="row">{night.day}</th>
                  <td>{night.right}</td>
                  <td>{night.wrong}</td>
                  <td>{night.heldBack}</td>
                  <td>{night.lost}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

type VersionsProps = {
  label: Label
  isUndoing: boolean
  onAsk: ((to: number | null) => void) | undefined
}

function Versions({ label: { label, versions }, isUndoing, onAsk }: VersionsProps) {
  const active = versions.find(({ state }) => state === 'active')
  return (
    <ul className={styles.versions} aria-label={`Versions for ${label}`}>
      {versions.map((version) => (
        <li key={version.number}>
          <span className={styles.head}>
            <strong>Version {version.number}</strong>
            <Chip tone={version.state === 'active' ? 'good' : 'neutral'}>{version.state}</Chip>
          </span>
          <span className={styles.quiet}>
            since <RelativeTime at={version.at} />
            {version.endedAt !== null && (
              <>
                , ended <RelativeTime at={version.endedAt} />
                {version.endedBy !== null && ` by ${version.endedBy === 'misses' ? 'its misses' : version.endedBy}`}
              </>
            )}
            . {version.heldBack} hidden, {version.missed} missed; it misses at most {percent(version.missedAtMost)}.
          </span>
          {onAsk && active && version.state === 'active' && (
            <Button variant="default" size="compact-sm" disabled={isUndoing} onClick={() => onAsk(null)}>
              Switch off
            </Button>
          )}
          {onAsk && active && version.state === 'replaced' && version.number < active.number && (
            <Button variant="default" size="compact-sm" disabled={isUndoing} onClick={() => onAsk(version.number)}>
              Go back to version {version.number}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

type UndoDialogProps = { undo: Undo; onUndo: () => void; onGone: () => void }

function UndoDialog({ undo: { camera, label, to }, onUndo, onGone }: UndoDialogProps) {
  const life = useDialogLife(onGone)
  const title = to === null ? `Switch off learning for ${label}?` : `Go back to version ${to} for ${label}?`
  return (
    <Dialog title={title} size="sm" {...life}>
      <p>
        On {camera}, {to === null ? 'nothing is hidden' : `version ${to} decides what is hidden`} from now on. No other
        version takes over for a week.
      </p>
      <DialogActions onCancel={life.onClose}>
        <Button
          onClick={() => {
            onUndo()
            life.onClose()
          }}
        >
          {to === null ? 'Switch off' : 'Go back'}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** The index of the last night that began before `at`, or -1. */
function nightOf(at: string, days: readonly string[]): number {
  return days.findLastIndex((day) => day < at.slice(0, 10))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`
}
