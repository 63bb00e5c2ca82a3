import { RegistrationDiagram } from './registration-diagram.tsx'
import styles from './registration.module.css'
import { DesignFigure, Section } from './section.tsx'

const STEPS = [
  { title: 'It finds the hub', words: 'By a DNS service record, an environment variable or a direct URL.' },
  {
    title: 'Both prove their keys',
    words: 'A key-exchange handshake; each signs for the other.',
  },
  {
    title: 'You approve it',
    words: 'By fingerprints, an invitation or your rule.',
  },
  {
    title: 'The tunnel is up',
    words: 'The VPN peer is added live, with no hub restart.',
  },
]

export function Registration() {
  return (
    <Section id="registration" title="Zero-touch registration" tone="raised">
      <div className={styles.player} data-player="">
        <div className={styles.stage}>
          <RegistrationDiagram shape="wide" />
          <RegistrationDiagram shape="narrow" />
          <button className={styles.button} type="button" data-player-button="" hidden>
            Pause
          </button>
        </div>
        <ol className={styles.steps}>
          {STEPS.map(({ title, words }) => (
            <li key={title}>
              <h3>{title}</h3>
              <p>{words}</p>
            </li>
          ))}
        </ol>
      </div>
      <div className={styles.times}>
        <div>
          <DesignFigure value="30+ minutes">of manual work</DesignFigure>
          <span className={styles.bar} aria-hidden="true" />
        </div>
        <div>
          <DesignFigure value="5 minutes">of registration</DesignFigure>
          <span className={`${styles.bar} ${styles.short}`} aria-hidden="true" />
        </div>
      </div>
    </Section>
  )
}
