import styles from './management.module.css'
import { DesignFigure, Section } from './section.tsx'

export function Management() {
  return (
    <Section
      id="management"
      title="Every site on one screen"
      lead="The hub is the desk from which you run all of it: who is online, what came by tonight, which device asks to be let in."
    >
      <div className={styles.columns}>
        <ul className={styles.list}>
          <li>Status that gives its reason: “heartbeat 20 s ago, no VPN handshake for 9 min”</li>
          <li>Findings as they happen, without reloading, with the last 24 hours as a chart</li>
          <li>Three roles: a user sees their own gateways, a manager the fleet, an admin everything</li>
          <li>Two-factor sign-in, and an audit log of who changed what</li>
          <li>Connect: any gateway’s own page, carried through its tunnel to your browser</li>
        </ul>
        <DesignFigure value="245">concurrent gateways on one hub</DesignFigure>
      </div>
    </Section>
  )
}
