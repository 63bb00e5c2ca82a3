import styles from './management.module.css'
import { DesignFigure, Section } from './section.tsx'

export function Management() {
  return (
    <Section
      id="management"
      title="Every site on one screen"
      lead="You run the whole fleet from the hub: which gateways are online, what came by tonight, and which device asks to join."
    >
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
          <li>A status always gives its reason in words, such as a heartbeat without a VPN handshake</li>
          <li>Threats appear with their pictures as they arrive, and you say with one key which are right</li>
          <li>Alert rules tell you by mail, Telegram, ntfy, Pushover or a webhook, at the hours that you choose</li>
          <li>Three roles: a user sees the gateways they claimed, a manager the fleet, an admin everything</li>
          <li>Two-factor sign-in, and an audit log of who changed what</li>
          <li>Connect opens any gateway’s own page, carried through its tunnel to your browser</li>
        </ul>
      </div>
    </Section>
  )
}
