import { profileFields, type Profile } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { changesOf, follow } from '#parts/follow.ts'
import { submitTo } from '#parts/submit-to.ts'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useSaveProfile } from './queries.ts'
import styles from './page.module.css'

const fieldsOf = ({ email, firstName, lastName }: Profile) => ({ email, firstName, lastName })

/** The person's name and email. Only an administrator can change the username and the role. */
export function AboutForm({ saved }: { saved: Profile }) {
  const save = useSaveProfile()
  const form = useForm({
    initialValues: fieldsOf(saved),
    validate: schemaResolver(profileFields, { sync: true }),
  })
  useDraft('profile', form.isDirty() ? form.values : undefined, form.setValues)
  const [password, setPassword] = useState('')
  const hasNewAddress = form.values.email.trim() !== saved.email
  const submit = submitTo(form, async (values) => {
    const changes = changesOf(values, form.getInitialValues())
    const answer = await save.mutateAsync({
      ...changes,
      ...(hasNewAddress && password !== '' && { currentPassword: password }),
    })
    setPassword('')
    form.setValues(follow(form.getValues(), values, fieldsOf(answer)))
    form.setInitialValues(fieldsOf(answer))
    void toast('Profile saved.')
  })
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <DetailList
        details={[
          ['Username', saved.username],
          ['Role', saved.role],
          ['Member since', <RelativeTime key="since" at={saved.createdAt} />],
        ]}
      />
      {save.isError && form.errors['currentPassword'] === undefined && (
        <Notice tone="danger">{messageOf(save.error)}</Notice>
      )}
      <div className={styles.names}>
        <TextInput label="First name" autoComplete="given-name" {...form.getInputProps('firstName')} />
        <TextInput label="Last name" autoComplete="family-name" {...form.getInputProps('lastName')} />
      </div>
      <TextInput
        type="email"
        label="Email"
        {...(saved.role === 'admin' && { description: 'Public on the beta page, if you are the first administrator.' })}
        {...(!saved.hasPassword && { description: 'A new address takes a password, and you have none.' })}
        disabled={!saved.hasPassword}
        autoComplete="email"
        withAsterisk
        {...form.getInputProps('email')}
      />
      {hasNewAddress && (
        <PasswordField
          label="Your password"
          description="For a new address: links that set another password go there."
          autoComplete="current-password"
          value={password}
          error={form.errors['currentPassword']}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      )}
      <div>
        <Button type="submit" loading={save.isPending}>
          Save Profile
        </Button>
      </div>
    </form>
  )
}
