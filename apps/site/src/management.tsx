import styles from './management.module.css'
import { DesignFigure, Section } from './section.tsx'

export function Management() {
  return (
    <Section
      id="management"
      title="Every site on one screen"
      lead="The hub is the desk from which all of it is run: who is online, what came by tonight, which device asks to be let in."
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
      </figure>
      <div className={styles.columns}>
        <DesignFigure value="245">concurrent gateways on one hub</DesignFigure>
        <ul className={styles.list}>
          <li>A status always gives its reason in words, such as a heartbeat that came and a handshake that did not</li>
          <li>Findings appear as they happen, with the last 24 hours as a chart</li>
          <li>Three roles: a user sees the gateways they claimed, a manager the fleet, an admin everything</li>
          <li>Two-factor sign-in, and an audit log of who changed what</li>
          <li>Connect opens any gateway’s own page, carried through its tunnel to your browser</li>
        </ul>
      </div>
    </Section>
  )
}
