import styles from './closing.module.css'

export function Closing() {
  return (
    <section className={styles.closing} aria-labelledby="closing">
      <div className={styles.inner}>
        <h2 id="closing">Start with one gate.</h2>
        <p>
          Put one camera where it bothers you most, and see for a week what really comes by. The beta programme tells
          you what to buy and what to expect.
        </p>
        <p className={styles.actions}>
          <a className={styles.primary} href="/beta">
            Join the beta
          </a>
          <a className={styles.secondary} href="/register">
            Create an account
          </a>
        </p>
        <p className={styles.engineer}>
          Rather look under the bonnet first? <code>npm ci && npm run demo</code> starts a hub and three gateways on one
          machine.
        </p>
      </div>
    </section>
  )
}
