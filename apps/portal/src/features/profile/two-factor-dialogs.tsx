/** The dialogs that switch two-factor on and off, loaded when one is opened. */
import { disableTwoFactor } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useDisableTwoFactor, useRefreshProfile } from './queries.ts'
import { RecoveryCodes, TwoFactorSetup } from './two-factor-setup.tsx'

export default function TwoFactorDialogs({ wanted, onGone }: { wanted: 'on' | 'off'; onGone: () => void }) {
  const [opened, setOpened] = useState(true)
  const life = { opened, onClose: () => setOpened(false), onGone }
  return wanted === 'on' ? <OnDialog {...life} /> : <OffDialog {...life} />
}

function OnDialog({ opened, onClose, onGone }: DialogLife) {
  const [codes, setCodes] = useState<readonly string[] | undefined>()
  const refreshProfile = useRefreshProfile()
  return (
    <Dialog
      title={codes === undefined ? 'Set Up Two-Factor' : 'Recovery codes'}
      shownOnce={codes !== undefined}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {codes === undefined ? (
        <TwoFactorSetup
          onEnabled={(made) => {
            setCodes(made)
            void refreshProfile()
          }}
        />
      ) : (
        <RecoveryCodes codes={codes} onSaved={onClose} />
      )}
    </Dialog>
  )
}

function OffDialog({ opened, onClose, onGone }: DialogLife) {
  const disable = useDisableTwoFactor()
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: schemaResolver(disableTwoFactor.body, { sync: true }),
  })
  const submit = submitTo(
    form,
    async (values) => {
      await disable.mutateAsync(values)
      void toast('Two-factor sign-in is off.')
      onClose()
    },
    (error) => (error.code === 'two_factor_code_wrong' ? { code: error.message } : error.fieldErrors),
  )
  const isBeside = disable.error instanceof ApiError && Object.keys(form.errors).length > 0
  return (
    <Dialog title="Switch two-factor off?" opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        <p>After this, the password alone is enough to sign in as you. Your remaining recovery codes are deleted.</p>
        {disable.isError && !isBeside && <Notice tone="danger">{messageOf(disable.error)}</Notice>}
        <PasswordField
          label="Password"
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
        <TextInput
          label="Code"
          description="From the authenticator app, or a recovery code."
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
        <DialogActions onCancel={onClose}>
          <Button type="submit" color="red" loading={disable.isPending}>
            Switch Off
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
