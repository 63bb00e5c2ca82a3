import type { ReactNode } from 'react'
import { Wordmark } from '#ui/wordmark.tsx'
import styles from './lost-page.module.css'

/** A whole page that says one thing and offers one way on. */
export function LostPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.screen}>
      <title>{`${title} · Hub`}</title>
      <header className={styles.bar}>
        <Wordmark />
      </header>
      <main className={styles.main}>
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  )
}
