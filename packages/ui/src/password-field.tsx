import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useState, type KeyboardEvent } from 'react'
import styles from './password-field.module.css'

type PasswordFieldProps = Omit<
  PasswordInputProps,
  'visibilityToggleFocusable' | 'visibilityToggleButtonProps' | 'onKeyDown' | 'onKeyUp'
> & {
  /** The name of the button that shows the password. */
  showLabel?: string
}

/** A password field with a button that shows the password, and a warning while Caps Lock is on. */
export function PasswordField({ showLabel = 'Show password', onBlur, ...props }: PasswordFieldProps) {
  const [capsLock, setCapsLock] = useState(false)
  const look = (event: KeyboardEvent) => setCapsLock(event.getModifierState('CapsLock'))
  return (
    <div className={styles.field}>
      <PasswordInput
        {...props}
        autoCapitalize="none"
        spellCheck={false}
        visibilityToggleFocusable
        visibilityToggleButtonProps={{ 'aria-label': showLabel }}
        onKeyDown={look}
        onKeyUp={look}
        onBlur={(event) => {
          setCapsLock(false)
          onBlur?.(event)
        }}
      />
      <output className={styles.note}>{capsLock && 'Caps Lock is on.'}</output>
    </div>
  )
}
