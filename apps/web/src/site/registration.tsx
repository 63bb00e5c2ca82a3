import styles from './registration.module.css'
import { DesignFigure, Section } from './section.tsx'

const STEPS = [
  { title: 'It finds the hub', words: 'By a DNS service record, an environment variable or a direct URL.' },
  {
    title: 'Both prove their keys',
    words: 'A handshake: the hub signs a challenge, the gateway answers with both of its keys. No secret travels.',
  },
  {
    title: 'You approve it',
    words: 'It waits in the hub with its fingerprint. You compare it with the one on the device and click Approve.',
  },
  {
    title: 'The tunnel is up',
    words:
      'The hub adds the VPN peer while it runs. No restart, no file to edit; the gateway is online a moment later.',
  },
]

export function Registration() {
  return (
    <Section
      id="registration"
      title="Zero-touch registration"
      lead="Plug it in and go home. The gateway introduces itself; the only thing left for a person is to say yes."
      tone="raised"
    >
      <ol className={styles.steps}>
        {STEPS.map(({ title, words }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{words}</p>
          </li>
        ))}
      </ol>
      <div className={styles.times}>
        <DesignFigure value="30+ minutes">of manual work: keys, addresses, configuration files, a restart</DesignFigure>
        <DesignFigure value="5 minutes">of registration, most of them on the way to the device</DesignFigure>
      </div>
    </Section>
  )
}
