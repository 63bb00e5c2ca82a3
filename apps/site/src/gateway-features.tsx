import styles from './gateway-features.module.css'
import { Section } from './section.tsx'

const FEATURES = [
  {
    title: 'Carries on alone',
    words: 'What it found goes to its own disk first. When the line is back, up to 10,000 findings follow in order.',
  },
  {
    title: 'Says how it is',
    words:
      'Every 30 seconds: each camera and its frame rate, temperature, disk, and anything that is wrong, in a sentence.',
  },
  {
    title: 'Finds a way out',
    words:
      'Where a network blocks WireGuard’s packets, heartbeats and findings take HTTPS until it lets them through again.',
  },
  {
    title: 'Has a page of its own',
    words: 'Its name, token, QR code and fingerprint, to be read at the device. The hub opens that page from anywhere.',
  },
  {
    title: 'Brings your software along',
    words: 'Point it at what already runs on the device, and that opens through the hub, WebSockets and all.',
  },
  {
    title: 'Cannot touch the hub',
    words:
      'Each gateway’s page has an origin of its own. One that was stolen or broken into still reads nobody’s session with the hub.',
  },
]

export function GatewayFeatures() {
  return (
    <Section
      id="gateway"
      title="What a gateway does for you"
      lead="It stands in a shed for years with nobody near it. So it is built to look after itself."
    >
      <dl className={styles.features}>
        {FEATURES.map(({ title, words }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
