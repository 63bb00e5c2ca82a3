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
            alt="The hub’s dashboard: four figures, a chart of the last 24 hours, and the recent activity of the gateways"
            width="1440"
            height="900"
            loading="lazy"
          />
        </picture>
        <figcaption>The dashboard with made-up detections.</figcaption>
      </figure>
      <div className={styles.columns}>
        <DesignFigure value="245">concurrent gateways on one hub</DesignFigure>
        <ul className={styles.list}>
          <li>A status gives its reason in words</li>
          <li>Threats appear with their pictures as they arrive</li>
          <li>Alert rules tell you by push, mail, Telegram, ntfy, Pushover or a webhook</li>
          <li>Three roles: a user sees their own gateways, a manager the fleet, an admin everything</li>
          <li>Two-factor sign-in, and an audit log of who changed what</li>
          <li>Connect opens any gateway’s own page through its tunnel</li>
        </ul>
      </div>
    </Section>
  )
}
