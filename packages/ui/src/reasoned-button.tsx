import { Button, type ButtonProps } from '@mantine/core'
import { useId, type ReactNode } from 'react'
import styles from './reasoned-button.module.css'

type ReasonedButtonProps = ButtonProps & { onClick: () => void; reason: string | undefined; children: ReactNode }

/** A button that shows the reason beside it while it is disabled. */
export function ReasonedButton({ reason, children, ...button }: ReasonedButtonProps) {
  const id = useId()
  if (reason === undefined) return <Button {...button}>{children}</Button>
  return (
    <span className={styles.pair}>
      <span id={id} className={styles.reason}>
        {reason}
      </span>
      <Button {...button} disabled aria-describedby={id}>
        {children}
      </Button>
    </span>
  )
}
