import type { ReactNode } from 'react'
import styles from './mono.module.css'

/** For ids, addresses and keys, which people compare character by character. */
export function Mono({ children, quiet = false }: { children: ReactNode; quiet?: boolean }) {
  return <span className={quiet ? `${styles.mono} ${styles.quiet}` : styles.mono}>{children}</span>
}
