import { DesignMark, Section } from './section.tsx'
import styles from './hardware.module.css'

const COMPUTERS = [
  { name: 'Small single-board computer', use: 'One camera' },
  { name: 'Edge AI module', use: 'A few cameras' },
  { name: 'Compact desktop computer', use: 'What beta testers use' },
  { name: 'GPU-powered Windows PC', use: 'Under Linux, on its processor' },
]

const PARTS = [
  { name: 'Camera', words: 'By RTSP or MJPEG.' },
  {
    name: 'Smart irrigation',
    words: 'Rachio, Hydrawise, OpenSprinkler.',
  },
  { name: 'GPIO devices', words: 'Relays, valves, sirens, lamps.' },
]

export function SupportedHardware() {
  return (
    <Section id="supported-hardware" title="Supported hardware" tone="raised">
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
          Models run on the processor, not on a GPU or an AI chip. Sizes are not measured; tests use simulated devices.
        </DesignMark>
      </p>
    </Section>
  )
}
