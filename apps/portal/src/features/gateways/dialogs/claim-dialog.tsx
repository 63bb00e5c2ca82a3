import { claimGateway } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { lazy, Suspense, useCallback, useState } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { CameraIcon } from '@hedgerow/ui/icons.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { claimedMessage } from '../messages.ts'
import { useClaimGateway } from '../queries.ts'
import styles from '../page.module.css'

const Scanner = lazy(() => import('./scanner.tsx'))

/** Makes the person the owner of the device with this token. */
export function ClaimDialog({ deviceToken, opened, onClose, onGone }: DialogLife & { deviceToken: string }) {
  const claim = useClaimGateway()
  const [scanning, setScanning] = useState(false)
  const form = useForm({ initialValues: { deviceToken }, validate: schemaResolver(claimGateway.body, { sync: true }) })
  useDraft('gateways.claim', form.isDirty() ? form.values : undefined, form.setValues)
  const { setFieldValue } = form
  const takeToken = useCallback(
    (token: string) => {
      setFieldValue('deviceToken', token)
      setScanning(false)
    },
    [setFieldValue],
  )
  const submit = form.onSubmit(async (values) => {
    try {
      void toast(claimedMessage(await claim.mutateAsync(values)))
      onClose()
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        console.warn('Claiming answered 401: the session may have ended.')
    }
  })
  return (
    <Dialog title="Claim Gateway" opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        <p>
          The device token is on the gateway’s device-info page, and on its QR label. It looks like{' '}
          <span className={styles.token}>
            <Mono>DT-0123456789AB</Mono>
          </span>
          .
        </p>
        {claim.isError && <Notice tone="danger">Failed to claim gateway: {messageOf(claim.error)}</Notice>}
        {scanning && (
          <Suspense fallback={<PanelSkeleton rows={3} label="Starting the camera" />}>
            <Scanner onToken={takeToken} />
          </Suspense>
        )}
        <TextInput
          label="Device Token"
          placeholder="DT-0123456789AB"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps('deviceToken')}
        />
        {hasCamera() ? (
          <div>
            <Button variant="default" leftSection={<CameraIcon />} onClick={() => setScanning(!scanning)}>
              {scanning ? 'Stop the camera' : 'Scan the label'}
            </Button>
          </div>
        ) : (
          <p>A phone’s own camera app can scan the label: it opens this dialog with the token filled in.</p>
        )}
        <DialogActions onCancel={onClose}>
          <Button type="submit" loading={claim.isPending} disabled={form.values.deviceToken.trim() === ''}>
            Claim
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/**
 * Browsers offer cameras only to secure pages. On other pages `mediaDevices` is missing, although its type says
 * otherwise.
 */
const hasCamera = (): boolean => (navigator.mediaDevices as MediaDevices | undefined) !== undefined
