import { DesignMark, Section } from './section.tsx'
import styles from './hardware.module.css'

const COMPUTERS = [
  { name: 'Small single-board computer', use: 'One camera, at a gate or a pond' },
  { name: 'Edge AI module', use: 'A few cameras where power is scarce' },
  { name: 'Compact desktop computer', use: 'A farmyard; what beta testers use' },
  { name: 'GPU-powered Windows PC', use: 'Many cameras, or the largest models' },
]

const PARTS = [
  { name: 'Camera', words: 'One network camera that we know well. Testers use it too.' },
  {
    name: 'Smart irrigation',
    words:
      'Controllers such as Rachio, Hydrawise and OpenSprinkler: one zone runs for half a minute, where the deer stand.',
  },
  { name: 'GPIO devices', words: 'Relays, valves, sirens and lamps on the pins of the gateway itself.' },
]

export function SupportedHardware() {
  return (
    <Section
      id="supported-hardware"
      title="Supported hardware"
      lead="From a board the size of a playing card to the workstation under the desk, and what they can switch."
      tone="raised"
    >
      <div className={styles.supported}>
        <section aria-labelledby="computers">
          <h3 id="computers">Computers</h3>
          <dl className={styles.list}>
            {COMPUTERS.map(({ name, use }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{use}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-labelledby="around">
          <h3 id="around">Around them</h3>
          <dl className={styles.list}>
            {PARTS.map(({ name, words }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      <p className={styles.note}>
        <DesignMark>
          What a gateway is designed for. The agent of the beta runs on Linux, and was tested with simulated cameras,
          controllers and relays.
        </DesignMark>
      </p>
    </Section>
  )
}
