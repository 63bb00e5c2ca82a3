import type { ResponseOf } from '@hedgerow/contract'
import type { deviceCalls } from '@hedgerow/contract/device-interface'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import styles from '../parts/form.module.css'

type MeaningProps = {
  preview: ResponseOf<typeof deviceCalls.previewSettings> | undefined
  /** Whether an answer about what the form has now is still to come. */
  isPending: boolean
  /** The number of the rule in the file. */
  index: number
  /** The fields with errors. */
  wrong: readonly string[]
}

/** The sentence that a rule means, and what it would have done in the last 24 hours. */
export function Meaning({ preview, isPending, index, wrong }: MeaningProps) {
  const rule = preview?.rehearsal?.rules[index]
  const warnings = preview?.warnings.filter(({ path }) => path[0] === 'rules' && path[1] === index) ?? []
  const seen = preview?.rehearsal?.detections.filter(({ rules }) => rule !== undefined && rules.includes(rule.name))
  return (
    <>
      <div className={styles.meaning}>
        <output>
          {rule === undefined ? (
            <p className={styles.quiet}>{insteadOfMeaning(isPending, preview, wrong)}</p>
          ) : (
            <>
              <p>
                <strong>{rule.sentence}</strong>
              </p>
              <p>{rehearsed(rule)}</p>
              <Reason {...rule} />
            </>
          )}
        </output>
        {seen !== undefined && seen.length > 0 && (
          <details>
            <summary>At which detections</summary>
            <ul aria-label="It would have fired at">
              {seen.map(({ id, label, camera, score, startedAt }) => (
                <li key={`${id} ${label} ${startedAt}`}>
                  {label} on {camera}, {Math.round(score * 100)} %, <RelativeTime at={startedAt} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {warnings.map(({ message }) => (
        <Notice key={message} tone="warning">
          {message}
        </Notice>
      ))}
    </>
  )
}

function insteadOfMeaning(isPending: boolean, preview: MeaningProps['preview'], wrong: readonly string[]): string {
  if (isPending) return 'Working it out …'
  if (preview === undefined) return 'What it means could not be worked out.'
  const where = wrong.length === 0 ? '' : `: see “${wrong.join('”, “')}” above`
  return `What it means appears when the errors are corrected${where}.`
}

function rehearsed({ fired, firedBefore }: { fired: number; firedBefore: number | null }): string {
  const now = firedInWords(fired)
  return firedBefore === null || firedBefore === fired ? now : `${now} As it is now: ${timesInWords(firedBefore)}.`
}

/** Why a rule would not have fired for what it names. */
export function Reason({ fired, reason }: { fired: number; reason: string | null }) {
  if (fired > 0 || reason === null) return null
  return <p className={styles.quiet}>Why not, most often: {reason.replace(/\.?$/, '.')}</p>
}

export function firedInWords(fired: number): string {
  return fired === 0
    ? 'It would not have fired in the last 24 hours.'
    : `It would have fired ${timesInWords(fired)} in the last 24 hours.`
}

function timesInWords(count: number): string {
  if (count === 0) return 'not once'
  return count === 1 ? 'once' : `${count} times`
}
