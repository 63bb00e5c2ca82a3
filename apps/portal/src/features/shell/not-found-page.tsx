import type { ReactNode } from 'react'
import { Wordmark } from '@hedgerow/ui/wordmark.tsx'
import styles from './not-found-page.module.css'

/** A whole page with one message and one action. */
export function NotFoundPage({ title, children }: { title: string; children: ReactNode }) {
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
