import { useState } from 'react'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { useVisitor } from '../session.ts'
import { ForgotPassword } from './forgot-password.tsx'

type FilePasswordState = {
  isNeeded: boolean
  isMissing: boolean
  /** For the body of a call that writes gateway.yaml. */
  given: { password?: string }
  password: string
  setPassword: (password: string) => void
}

/** The device's own password, which people who come through the hub must give for saving, once in a visit. */
export function useFilePassword(): FilePasswordState {
  const isNeeded = !useVisitor().confirmed
  const [password, setPassword] = useState('')
  return {
    isNeeded,
    isMissing: isNeeded && password === '',
    given: isNeeded ? { password } : {},
    password,
    setPassword,
  }
}

export function FilePassword({ isNeeded, password, setPassword }: FilePasswordState) {
  if (!isNeeded) return null
  return (
    <>
      <PasswordField
        label="Password of this device"
        description="The hub alone cannot change the file. The device asks once in a visit."
        autoComplete="off"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <ForgotPassword />
    </>
  )
}
