import { Button } from '@mantine/core'
import { useId, useState } from 'react'
import type { CameraSettings } from '@hedgerow/contract/device-interface'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from '../calls.ts'
import { foundInWords, type Candidate, type Settings } from '../parts/candidates.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { useCandidates, useChangeCamera } from '../queries.ts'
import styles from './camera.module.css'

type TuningProps = { name: string; settings: CameraSettings; mayChange: boolean }

/** Rate and lowest score of a camera, beside an estimate of what they would have found in the last 24 hours. */
export function Tuning({ name, settings: { hash, framesPerSecond, minimumScore }, mayChange }: TuningProps) {
  const query = useCandidates(name)
  const { data } = query
  return (
    <Panel title="Rate and score">
      {minimumScore === null ? (
        <p className={styles.note}>
          The eye does not look at this camera: name it under sources.eye in the configuration.
        </p>
      ) : data === undefined ? (
        <PanelWaiting query={query} rows={3} label="Loading what moved" />
      ) : (
        <Sliders
          name={name}
          hash={hash}
          before={{ framesPerSecond, minimumScore }}
          candidates={data}
          mayChange={mayChange}
        />
      )}
    </Panel>
  )
}

type SlidersProps = {
  name: string
  hash: string
  before: Settings
  candidates: readonly Candidate[]
  mayChange: boolean
}

const RATES = [0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30]

function Sliders({ name, hash, before, candidates, mayChange }: SlidersProps) {
  const [touched, setTouched] = useState<Partial<Settings>>({})
  const now = { ...before, ...touched }
  const change = useChangeCamera(name)
  const password = useFilePassword()
  const isChanged = now.framesPerSecond !== before.framesPerSecond || now.minimumScore !== before.minimumScore
  const rates = [...new Set([...RATES, before.framesPerSecond])].toSorted((a, b) => a - b)
  return (
    <div className={styles.side}>
      <Slider
        label="Pictures a second to look at"
        words={String(now.framesPerSecond)}
        range={[0, rates.length - 1]}
        value={rates.indexOf(now.framesPerSecond)}
        disabled={!mayChange}
        onChange={(place) => setTouched({ ...touched, framesPerSecond: rates[place] ?? now.framesPerSecond })}
      />
      <Slider
        label="Lowest score of a detection"
        words={percent(now.minimumScore)}
        range={[10, 100]}
        value={Math.round(now.minimumScore * 100)}
        disabled={!mayChange}
        onChange={(hundredths) => setTouched({ ...touched, minimumScore: hundredths / 100 })}
      />
      <p>
        In the last 24 hours this would have been <strong>{foundInWords(candidates, now)}</strong>.
        {isChanged && ` With the current settings: ${foundInWords(candidates, before)}.`}
      </p>
      <p className={styles.quiet}>
        An estimate from the score and the duration of everything that moved while the eye looked at this camera.
      </p>
      {mayChange && (
        <>
          {isChanged && <FilePassword {...password} />}
          {change.error !== null && <Notice tone="danger">{messageOf(change.error)}</Notice>}
          <div className={styles.buttons}>
            <Button
              loading={change.isPending}
              disabled={!isChanged || password.isMissing}
              onClick={() =>
                change.mutate(
                  { change: changeOf(before, now), hash, ...password.given },
                  {
                    onSuccess() {
                      setTouched((latest) => (latest === touched ? {} : latest))
                      void toast('Saved. It is active.')
                    },
                  },
                )
              }
            >
              Save rate and score
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={() => setTouched({})}>
              Undo rate and score
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

type SliderProps = {
  label: string
  /** The value in words. */
  words: string
  range: readonly [least: number, most: number]
  value: number
  disabled: boolean
  onChange: (value: number) => void
}

function Slider({ label, words, range: [min, max], value, disabled, onChange }: SliderProps) {
  const id = useId()
  return (
    <div className={styles.slider}>
      <label htmlFor={id}>{label}</label>
      <span aria-hidden="true">{words}</span>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={1}
        value={value}
        aria-valuetext={words}
        disabled={disabled}
        onChange={(event) => onChange(Number(event.currentTarget.value))}
      />
    </div>
  )
}

/** Unchanged values are not written, because the eye's score may apply to this camera. */
function changeOf(before: Settings, now: Settings): Partial<Settings> {
  return {
    ...(now.framesPerSecond !== before.framesPerSecond && { framesPerSecond: now.framesPerSecond }),
    ...(now.minimumScore !== before.minimumScore && { minimumScore: now.minimumScore }),
  }
}

const percent = (share: number) => `${Math.round(share * 100)} %`
