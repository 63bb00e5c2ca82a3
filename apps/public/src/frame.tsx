/** Every public page's frame: the skip link, a header for visitors and one for signed-in people, the footer. */
import type { ReactNode } from 'react'
import { Wordmark } from '@hedgerow/ui/wordmark.tsx'
import styles from './frame.module.css'

export function Frame({ current, children }: { current?: 'beta'; children: ReactNode }) {
  const currentPage = current === 'beta' ? 'page' : undefined
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <header className={styles.header}>
        <div className={styles.bar}>
          <a className={styles.home} href="/">
            <Wordmark />
            {current !== undefined && <span className={styles.homeWord}>Home</span>}
          </a>
          <nav className={`${styles.links} ${styles.visitors}`} aria-label="Main" data-for="visitors">
            <a href="/beta" aria-current={currentPage}>
              Beta Program
            </a>
            <a href="/login">Login</a>
            <a className={styles.strong} href="/register">
              Register
            </a>
          </nav>
          <nav className={styles.links} aria-label="Main" data-for="signed-in" hidden>
            <span className={styles.welcome}>
              Welcome, <span data-field="name" />
            </span>
            <a href="/dashboard">Dashboard</a>
            <a className={styles.strong} href="/gateways">
              Gateways
            </a>
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className={styles.footer}>
        <div className={styles.foot}>
          <p>Free software under the MIT licence. No cookies, nothing from other servers.</p>
          <ul>
            <li>
              <a href="/beta">Beta Program</a>
            </li>
            <li>
              <a href="/login">Login</a>
            </li>
            <li>
              <a href="/api/docs">API</a>
            </li>
          </ul>
        </div>
      </footer>
    </>
  )
}
