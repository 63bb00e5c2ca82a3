/**
 * The setup of two-factor: the password again, the secret for the authenticator app, a first code as proof, and the
 * recovery codes, which are shown once. In a dialog of the profile, or as a page where the hub requires it.
 */
import type { ResponseOf, setUpTwoFactor as setUpCall } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { enableTwoFactor, setUpTwoFactor } from 'virtual:contract-calls'
import { api, ApiError, messageOf } from '#api/client.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { DownloadIcon } from '@hedgerow/ui/icons.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import styles from './two-factor.module.css'

type Secret = ResponseOf<typeof setUpCall>

/** In groups of four, which are easier to type. */
const grouped = (secret: string): string => secret.replaceAll(/.{4}(?=.)/g, '$& ')

/** `onEnabled` gets the recovery codes. */
export function TwoFactorSetup({ onEnabled }: { onEnabled: (recoveryCodes: readonly string[]) => void }) {
  const [secret, setSecret] = useState<Secret | undefined>()
  if (secret === undefined) return <PasswordStep onSecret={setSecret} />
  return <Confirmation secret={secret} onEnabled={onEnabled} />
}

function PasswordStep({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const [password, setPassword] = useState('')
  const [wrong, setWrong] = useState<string | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const [working, setWorking] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    setProblem(undefined)
    setWrong(password === '' ? 'Enter your password' : undefined)
    if (password === '') {
      focusFirstError(form)
      return
    }
    setWorking(true)
    try {
      onSecret(await api(setUpTwoFactor, { body: { password } }))
      return
    } catch (error) {
      if (error instanceof ApiError && error.code === 'password_wrong') {
        setWrong(error.message)
        focusFirstError(form)
      } else setProblem(messageOf(error))
    }
    setWorking(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
      noValidate
    >
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <PasswordField
        label="Password"
        description="Your account’s password, so that nobody can set this up in a browser that you left open."
        autoComplete="current-password"
        data-autofocus
        value={password}
        error={wrong}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Button type="submit" loading={working}>
        Continue
      </Button>
    </form>
  )
}

function Confirmation({
  secret: { secret, otpauthUrl },
  onEnabled,
}: {
  secret: Secret
  onEnabled: (recoveryCodes: readonly string[]) => void
}) {
  const [code, setCode] = useState('')
  const [wrong, setWrong] = useState<string | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const [working, setWorking] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    setProblem(undefined)
    setWrong(code.trim() === '' ? 'Enter the code' : undefined)
    if (code.trim() === '') {
      focusFirstError(form)
      return
    }
    setWorking(true)
    try {
      onEnabled((await api(enableTwoFactor, { body: { code } })).recoveryCodes)
      return
    } catch (error) {
      if (error instanceof ApiError && error.code === 'two_factor_code_wrong') {
        setWrong(error.message)
        focusFirstError(form)
      } else setProblem(messageOf(error))
    }
    setWorking(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
      noValidate
    >
      <div className={styles.scan}>
        <QrCode text={otpauthUrl} label="QR code for an authenticator app" />
        <div className={styles.words}>
          <p>Scan this with an authenticator app on your phone. Without a camera, type this key there instead:</p>
          <Mono>{grouped(secret)}</Mono>
          <div>
            <CopyButton text={secret}>Copy key</CopyButton>
          </div>
        </div>
      </div>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <TextInput
        label="Code"
        description="The six digits that the app shows now."
        autoComplete="one-time-code"
        inputMode="numeric"
        data-autofocus
        value={code}
        error={wrong}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Button type="submit" loading={working}>
        Switch Two-Factor On
      </Button>
    </form>
  )
}

/** Shown once. The person confirms with `onSaved` that they saved them. */
export function RecoveryCodes({ codes, onSaved }: { codes: readonly string[]; onSaved: () => void }) {
  return (
    <>
      <Notice tone="warning">
        Two-factor sign-in is on. Keep these recovery codes somewhere safe: each signs you in once without the app, and
        they are not shown again.
      </Notice>
      <ul className={styles.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <Mono>{code}</Mono>
          </li>
        ))}
      </ul>
      <div className={styles.actions}>
        <Button
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() =>
            saveFile(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }), 'hub-recovery-codes.txt')
          }
        >
          Download codes
        </Button>
        <CopyButton text={codes.join('\n')}>Copy codes</CopyButton>
        <Button onClick={onSaved} data-autofocus>
          I have saved them
        </Button>
      </div>
    </>
  )
}
