import type { ReactNode } from 'react'
import styles from './forgotten.module.css'

/** Below a password field: what somebody does who forgot the password. */
export function Forgotten({ children }: { children: ReactNode }) {
  return (
    <details className={styles.forgotten}>
      <summary>Forgot it?</summary>
      {children}
    </details>
  )
}
