/**
 * The setup of two-factor: the password again, the secret for the authenticator app, a first code as proof, and the
 * recovery codes, which are shown once. In a dialog of the profile, or as a page when the hub requires it.
 */
import type { ResponseOf, setUpTwoFactor as setUpCall } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { enableTwoFactor, setUpTwoFactor } from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { ProofForm } from '#parts/proof-form.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
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
  return (
    <ProofForm
      empty="Enter your password"
      wrong="password_wrong"
      failureOf={failureOfSetup}
      prove={async (password) => onSecret(await api(setUpTwoFactor, { body: { password } }))}
      submit={{ words: 'Continue' }}
      renderField={(field) => (
        <PasswordField
          label="Password"
          description="Your account’s password, so that nobody can set this up in a browser that you left open."
          autoComplete="current-password"
          data-autofocus
          {...field}
        />
      )}
    />
  )
}

type ConfirmationProps = { secret: Secret; onEnabled: (recoveryCodes: readonly string[]) => void }

function Confirmation({ secret: { secret, otpauthUrl }, onEnabled }: ConfirmationProps) {
  return (
    <ProofForm
      empty="Enter the code"
      wrong="two_factor_code_wrong"
      failureOf={failureOfSetup}
      prove={async (code) => onEnabled((await api(enableTwoFactor, { body: { code } })).recoveryCodes)}
      submit={{ words: 'Switch Two-Factor On' }}
      renderField={(field) => (
        <TextInput
          label="Code"
          description="The six digits that the app shows now."
          autoComplete="one-time-code"
          inputMode="numeric"
          ref={focusOnce}
          {...field}
        />
      )}
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
    </ProofForm>
  )
}

const failureOfSetup = (error: unknown) => ({ message: messageOf(error) })

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
