import styles from './gateway-features.module.css'
import { Section } from './section.tsx'

const FEATURES: { title: string; words: string }[] = [
  {
    title: 'Acts by your rules',
    words:
      'This label on that camera after sunset: the sprinkler, for ten seconds. Every firing has an end, a limit an hour, and a person in the picture keeps it off.',
  },
  {
    title: 'Carries on alone',
    words: 'Detections go to its own disk first. When the line is back, up to 10,000 of them follow in order.',
  },
  {
    title: 'Says how it is',
    words:
      'Every 30 seconds: load, memory, disk, temperature, each camera with its frame rate, and every problem in a sentence.',
  },
  {
    title: 'Finds a way out',
    words:
      'Where a network blocks WireGuard’s packets, heartbeats and detections go over HTTPS until the tunnel works again.',
  },
  {
    title: 'Has a page of its own',
    words: 'It shows its name, token, QR code and fingerprint at the device. The hub opens that page from anywhere.',
  },
  {
    title: 'Brings your software along',
    words: 'Point it at an application on the device, and the hub opens that application, WebSockets included.',
  },
  {
    title: 'Cannot touch the hub',
    words:
      'Each gateway’s page has an origin of its own, so a gateway that was stolen or broken into can’t read anybody’s session with the hub.',
  },
]

export function GatewayFeatures() {
  return (
    <Section
      id="gateway"
      title="What a gateway does for you"
      lead="It may stand in a shed for years with nobody near it, so it is built to look after itself."
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
