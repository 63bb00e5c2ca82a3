import styles from './management.module.css'
import { DesignFigure, DesignMark, Section } from './section.tsx'

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
        <figcaption>
          <DesignMark>
            The dashboard of the demo, with made-up detections. Detection is not in the software yet.
          </DesignMark>
        </figcaption>
      </figure>
      <div className={styles.columns}>
        <DesignFigure value="245">concurrent gateways on one hub</DesignFigure>
        <ul className={styles.list}>
          <li>A status always gives its reason in words, such as a heartbeat without a VPN handshake</li>
          <li>
            Detections appear as they arrive, with the last 24 hours as a chart{' '}
            <DesignMark>The screens are ready; no camera fills them yet.</DesignMark>
          </li>
          <li>Three roles: a user sees the gateways they claimed, a manager the fleet, an admin everything</li>
          <li>Two-factor sign-in, and an audit log of who changed what</li>
          <li>Connect opens any gateway’s own page, carried through its tunnel to your browser</li>
        </ul>
      </div>
    </Section>
  )
}
