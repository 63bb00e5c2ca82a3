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
          <p className={styles.lead}>
            Put one gateway where you need it most, join it to your hub, and open it from anywhere. The beta page tells
            you what to buy, what works and what is still to come.
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
            Do you want to look under the bonnet first? In the source, <code>npm ci && npm run demo</code> starts a hub
            and five gateways on one machine, which look at rendered scenes and switch a simulated valve and siren.
          </p>
        </div>
      </div>
    </section>
  )
}
