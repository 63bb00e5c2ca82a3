import styles from './command-line.module.css'

/** A line to paste into a shell. */
export function CommandLine({ children }: { children: string }) {
  return <pre className={styles.command}>{children}</pre>
}
