import { Button, type ButtonProps } from '@mantine/core'
import { useId, type ReactNode } from 'react'
import styles from './reasoned-button.module.css'

type ReasonedButtonProps = ButtonProps & { onClick: () => void; reason: string | undefined; children: ReactNode }

type Refusal = { disabled?: true; 'aria-describedby'?: string }

/** Buttons that show their common reason once while they are disabled: each takes the given properties. */
export function Reasoned({
  reason,
  children,
}: {
  reason: string | undefined
  children: (refusal: Refusal) => ReactNode
}) {
  const id = useId()
  if (reason === undefined) return children({})
  return (
    <span className={styles.pair}>
      <span id={id} className={styles.reason}>
        {reason}
      </span>
      {children({ disabled: true, 'aria-describedby': id })}
    </span>
  )
}

/** A button that shows the reason beside it while it is disabled. */
export function ReasonedButton({ reason, children, ...button }: ReasonedButtonProps) {
  return (
    <Reasoned reason={reason}>
      {(refusal) => (
        <Button {...button} {...refusal}>
          {children}
        </Button>
      )}
    </Reasoned>
  )
}
