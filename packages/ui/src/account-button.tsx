import type { ComponentProps } from 'react'
import styles from './account-button.module.css'

/** The round button that opens the account menu; the items of that menu load apart from it, on demand. */
export function AccountButton({ name, ...props }: { name: string } & ComponentProps<'button'>) {
  return (
    <button type="button" {...props} className={styles.avatar} aria-label={`Account of ${name}`} aria-haspopup="menu">
      <span aria-hidden="true">{name.slice(0, 1).toUpperCase()}</span>
    </button>
  )
}
