import { Button } from '@mantine/core'
import { TRIAL_SECONDS } from '@hedgerow/contract/constants'
import { HoldButton } from '@hedgerow/ui/hold-button.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { messageOf } from '../calls.ts'
import type { useTrialFiring } from '../deterrent-queries.ts'
import styles from './form.module.css'

type TrialFiringProps = {
  name: string
  trial: ReturnType<typeof useTrialFiring>
  isReady: boolean
  onFire: () => void
}

/** A short firing of what the form has, by a held press, with Stop beside it. */
export function TrialFiring({ name, trial: { firing, stop }, isReady, onFire }: TrialFiringProps) {
  return (
    <div className={styles.form}>
      <p className={styles.quiet}>
        Make sure that nobody stands in its way. It is on for at most {TRIAL_SECONDS} s, and its limits hold.
      </p>
      <div className={styles.buttons}>
        <HoldButton
          disabled={!isReady || firing.isPending}
          onHeld={() => {
            stop.reset()
            onFire()
          }}
        >
          Hold to test {TRIAL_SECONDS} s
        </HoldButton>
        <Button
          color="red"
          size="sm"
          disabled={firing.isIdle}
          onClick={() => stop.mutate({ action: 'stop', deterrent: name })}
        >
          Stop
        </Button>
      </div>
      <output>
        {firing.isPending && <Notice tone="plain">Making sure that it is off, then switching it on.</Notice>}
        {firing.data !== undefined && !stop.isSuccess && (
          <Notice tone="good">
            It reported that it switched on, for {firing.data.seconds} s. Was it the right one?
          </Notice>
        )}
        {stop.isSuccess && <Notice tone="good">Stopped.</Notice>}
        {firing.error !== null && <Notice tone="warning">{messageOf(firing.error)}</Notice>}
        {stop.error !== null && <Notice tone="danger">{messageOf(stop.error)}</Notice>}
      </output>
    </div>
  )
}
