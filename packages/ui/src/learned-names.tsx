/** The names that a gateway learned for animals: how far each is, the versions with undo, what they change. */
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Chip } from './chip.tsx'
import { Notice } from './notice.tsx'
import { RelativeTime } from './relative-time.tsx'
import styles from './learned.module.css'

type Version = {
  number: number
  at: string
  state: 'active' | 'replaced' | 'undone'
  endedAt: string | null
  endedBy: string | null
  names: readonly string[]
  from: string | null
}

export type LearnedNamesShown = {
  problem: string | null
  list: readonly { name: string; corrections: number; state: 'collecting' | 'failed' | 'passed'; message: string }[]
  versions: readonly Version[]
  looked: number
  before: readonly { id: string; camera: string; at: string; label: string; now: string }[]
}

type LearnedNamesProps = {
  names: LearnedNamesShown
  /** Both undefined when the person may not. */
  onUndo?: ((version: number) => void) | undefined
  onTrain?: (() => void) | undefined
  isTraining: boolean
  isBusy: boolean
  /** Beside Train now. */
  actions?: ReactNode
  children?: ReactNode
}

const STATES = {
  collecting: { words: 'more corrections', tone: 'neutral' },
  failed: { words: 'not yet', tone: 'warning' },
  passed: { words: 'learned', tone: 'good' },
} as const

export function LearnedNames({ names, onUndo, onTrain, isTraining, isBusy, actions, children }: LearnedNamesProps) {
  const { problem, list, versions, looked, before } = names
  return (
    <section className={styles.names} aria-label="Names of your animals">
      <h3>Names of your animals</h3>
      <p className={styles.quiet}>
        Correct a detection with “Other…” in Threats. From 20 corrections of a name the gateway learns it, and gives it
        to the next animal of its kind. It never renames persons, vehicles, fire and smoke.
      </p>
      {problem !== null && <Notice tone="warning">{problem}</Notice>}
      {list.length > 0 && (
        <ul className={styles.versions} aria-label="Learned names">
          {list.map(({ name, corrections, state, message }) => (
            <li key={name}>
              <span className={styles.head}>
                <strong>{name}</strong>
                <Chip tone={STATES[state].tone}>{STATES[state].words}</Chip>
              </span>
              <span className={styles.quiet}>
                {corrections} corrections. {message}
              </span>
            </li>
          ))}
        </ul>
      )}
      {versions.length > 0 && (
        <ul className={styles.versions} aria-label="Versions of names">
          {versions.map((version) => (
            <li key={version.number}>
              <span className={styles.head}>
                <strong>Version {version.number}</strong>
                <Chip tone={version.state === 'active' ? 'good' : 'neutral'}>{version.state}</Chip>
              </span>
              <span className={styles.quiet}>
                {version.names.join(', ')}
                {version.from !== null && `, learned by ${version.from}`}, since <RelativeTime at={version.at} />
                {version.endedAt !== null && (
                  <>
                    , ended <RelativeTime at={version.endedAt} />
                    {version.endedBy !== null && ` by ${version.endedBy}`}
                  </>
                )}
                .
              </span>
              {onUndo && version.state === 'active' && (
                <Button variant="default" size="compact-sm" disabled={isBusy} onClick={() => onUndo(version.number)}>
                  Undo version {version.number}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {looked > 0 && (
        <details>
          <summary>
            {before.length === 0
              ? `It changes none of the newest ${looked} detections of animals`
              : 'What it says of earlier detections'}
          </summary>
          <ul className={styles.versions}>
            {before.map(({ id, camera, at, label, now }) => (
              <li key={id}>
                <strong>
                  {label} → {now}
                </strong>
                <span className={styles.quiet}>
                  {camera}, <RelativeTime at={at} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {onTrain && (
        <div className={styles.buttons}>
          <Button variant="default" size="compact-sm" loading={isTraining} onClick={onTrain}>
            Train now
          </Button>
          {actions}
        </div>
      )}
      {children}
    </section>
  )
}
