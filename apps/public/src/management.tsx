import styles from './management.module.css'
import { DesignFigure, Section } from './section.tsx'

export function Management() {
  return (
    <Section id="management" title="Every site on one screen">
      <figure className={styles.picture}>
        <picture>
          <source media="(prefers-color-scheme: dark)" srcSet="/media/dashboard-dark.webp" />
          <img
            src="/media/dashboard-light.webp"
            alt={
              'The hub’s dashboard: four figures, a chart of the last 24 hours, and the recent activity of the ' +
              'gateways'
            }
            width="1440"
            height="900"
            loading="lazy"
          />
        </picture>
        <figcaption>The demo’s dashboard with made-up hours.</figcaption>
      </figure>
      <div className={styles.columns}>
        <DesignFigure value="245">concurrent gateways on one hub</DesignFigure>
        <ul className={styles.list}>
          <li>Every status with its reason in words</li>
          <li>Threats as pictures, live</li>
          <li>Alert rules: push, mail, Telegram, ntfy, Pushover, webhooks</li>
          <li>Three roles: user, manager, admin</li>
          <li>Two-factor sign-in, audit log</li>
          <li>Connect opens a gateway’s own page and applications</li>
        </ul>
      </div>
    </Section>
  )
}
