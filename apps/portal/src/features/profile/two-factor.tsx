import type { Profile } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useHubSettings } from '#api/hub-settings.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import styles from './page.module.css'

const Dialogs = lazy(() => import('./two-factor-dialogs.tsx'))

const FEW_CODES = 3

/** Whether two-factor sign-in is on, and a button to change that. */
export function TwoFactor({ profile: { twoFactorEnabled, recoveryCodesLeft } }: { profile: Profile }) {
  const required = useHubSettings().data?.twoFactorRequired ?? false
  const [dialog, setDialog] = useState<'on' | 'off' | null>(null)
  return (
    <div className={styles.form}>
      {twoFactorEnabled ? (
        <>
          <StatusMark shape="dot" word="On" reason={`${recoveryCodesLeft} of 10 recovery codes left`} />
          {recoveryCodesLeft < FEW_CODES && (
            <Notice tone="warning">
              Few recovery codes are left. Switch two-factor off and on again to get ten new ones.
            </Notice>
          )}
          <div>
            <Button variant="default" onClick={() => setDialog('off')}>
              Switch Off
            </Button>
          </div>
          {required && (
            <p className={styles.hint}>
              This hub requires two-factor: when you switch it off, you must set it up again at once.
            </p>
          )}
        </>
      ) : (
        <>
          <StatusMark shape="ring" word="Off" reason="The password alone is enough to sign in" />
          <div>
            <Button onClick={() => setDialog('on')}>Set Up Two-Factor</Button>
          </div>
        </>
      )}
      <Suspense>{dialog !== null && <Dialogs wanted={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </div>
  )
}
