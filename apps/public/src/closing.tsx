import buttons from './buttons.module.css'
import styles from './closing.module.css'
import { Hedge } from './hedge.tsx'

export function Closing() {
  return (
    <section className={styles.closing} aria-labelledby="closing">
      <Hedge />
      <div className={styles.ground} data-tone="night">
        <div className={styles.inner}>
          <h2 id="closing">Start with one gate.</h2>
          <p className={styles.lead}>The beta page says what to buy, what works and what comes later.</p>
          <p className={styles.actions}>
            <a className={buttons.primary} href="/beta">
              Join the beta
            </a>
            <a className={buttons.secondary} href="/register">
              Create an account
            </a>
          </p>
          <p className={styles.engineer}>
            Or try it: <code>npm ci && npm run demo</code>
          </p>
        </div>
      </div>
    </section>
  )
}
