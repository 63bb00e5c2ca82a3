import buttons from './buttons.module.css'
import styles from './closing.module.css'
import { Hedge } from './hedge.tsx'

export function Closing() {
  return (
    <section className={styles.closing} aria-labelledby="closing">
      <Hedge />
      <div className={styles.ground}>
        <div className={styles.inner}>
          <h2 id="closing">Start with one gate.</h2>
          <p className={styles.lead}>
            Put one camera where it bothers you most, and see for a week what really comes by. The beta page tells you
            what to buy, what works and what is still to come.
          </p>
          <p className={styles.actions}>
            <a className={buttons.primary} href="/beta">
              Join the beta
            </a>
            <a className={buttons.secondary} href="/register">
              Create an account
            </a>
          </p>
          <p className={styles.engineer}>
            Rather look under the bonnet first? In its source, <code>npm ci && npm run demo</code> starts a hub and
            three gateways on one machine.
          </p>
        </div>
      </div>
    </section>
  )
}
