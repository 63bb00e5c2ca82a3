/** The dialogs that make and revoke a token, loaded when one is opened. */
import {
  createToken,
  hasRole,
  role as roles,
  type ApiToken,
  type BodyOf,
  type ResponseOf,
  type Role,
} from '@hedgerow/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { Link } from 'react-router'
import { ApiError, messageOf } from '#api/client.ts'
import { useUser } from '#api/session.tsx'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, DialogActions, useDialogLife, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useCreateToken, useRevokeToken } from './queries.ts'
import { mayOf } from './token-words.ts'

const LIFETIMES = [
  { value: '7', label: '7 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '3650', label: '10 years' },
]
const ACCESS = [
  { value: 'read', label: 'Read' },
  { value: 'all', label: 'Read and change' },
]

type Wanted = Required<BodyOf<typeof createToken>>

export default function TokenDialogs({ about, onGone }: { about: ApiToken | 'make'; onGone: () => void }) {
  const life = useDialogLife(onGone)
  return about === 'make' ? <MakeDialog {...life} /> : <RevokeDialog {...life} token={about} />
}

function MakeDialog({ opened, onClose, onGone }: DialogLife) {
  const { role: own, username } = useUser()
  const create = useCreateToken()
  const initialValues: Wanted = { name: '', role: own, access: 'read', expiresInDays: 90, password: '' }
  const form = useForm({ initialValues, validate: schemaResolver(createToken.body, { sync: true }) })
  const submit = submitTo(form, async (values) => {
    await create.mutateAsync(values)
  })
  const made = create.data
  const isBeside = create.error instanceof ApiError && Object.keys(create.error.fieldErrors).length > 0
  return (
    <Dialog
      title={made === undefined ? 'Make a token' : 'Token made'}
      shownOnce={made !== undefined}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {made !== undefined ? (
        <Made made={made} onClose={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          {create.isError && !isBeside && <Notice tone="danger">{messageOf(create.error)}</Notice>}
          <TextInput
            label="Name"
            description="The audit shows it with your name."
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <NativeSelect
            label="It may"
            description="No token changes accounts, settings or channels, or lets devices join without a person."
            data={ACCESS}
            {...form.getInputProps('access')}
          />
          <NativeSelect
            label="Role"
            data={roles.options.filter((one: Role) => hasRole(own, one))}
            {...form.getInputProps('role')}
          />
          <NativeSelect
            label="Ends in"
            data={LIFETIMES}
            value={String(form.values.expiresInDays)}
            onChange={(event) => form.setFieldValue('expiresInDays', Number(event.currentTarget.value))}
          />
          <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
          <PasswordField label="Your password" autoComplete="current-password" {...form.getInputProps('password')} />
          <DialogActions onCancel={onClose}>
            <Button type="submit" loading={create.isPending}>
              Make Token
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  )
}

function Made({ made: { token, details }, onClose }: { made: ResponseOf<typeof createToken>; onClose: () => void }) {
  return (
    <>
      <Notice tone="warning">Copy the token now: the hub keeps only a hash of it.</Notice>
      <DetailList
        details={[
          ['Token', <Mono key="token">{token}</Mono>],
          ['May', mayOf(details)],
          ['Valid until', new Date(details.expiresAt).toLocaleString()],
        ]}
      />
      <p>
        Programs send it in the header <code>Authorization: Bearer</code>. <Link to="/help/programs">Recipes</Link>
      </p>
      <DialogActions>
        <CopyButton text={token}>Copy token</CopyButton>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </>
  )
}

function RevokeDialog({ token: { id, name }, ...life }: DialogLife & { token: ApiToken }) {
  const revoke = useRevokeToken()
  const confirm = async () => {
    await revoke.mutateAsync(id)
    void toast(`Token "${name}" revoked.`)
  }
  return (
    <ConfirmDialog {...life} title={`Revoke ${name}?`} button="Revoke" isHarmful onConfirm={confirm}>
      <p>Programs that use it are refused at once. Make a new token for them.</p>
    </ConfirmDialog>
  )
}
