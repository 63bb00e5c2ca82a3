import styles from './gateway-features.module.css'
import { DesignMark, Section } from './section.tsx'

/** `designed` says which part of a feature is not in the software yet. */
const FEATURES: { title: string; words: string; designed?: string }[] = [
  {
    title: 'Carries on alone',
    words: 'Detections go to its own disk first. When the line is back, up to 10,000 of them follow in order.',
    designed: 'The queue is ready; no camera fills it yet.',
  },
  {
    title: 'Says how it is',
    words:
      'Every 30 seconds: load, memory, disk, temperature, each camera with its frame rate, and every problem in a sentence.',
    designed: 'The cameras are not in the report yet.',
  },
  {
    title: 'Finds a way out',
    words:
      'Where a network blocks WireGuard’s packets, heartbeats and detections go over HTTPS until the tunnel works again.',
    designed: 'Heartbeats do so today; there are no detections to send yet.',
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
        {FEATURES.map(({ title, words, designed }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              {words}
              {designed !== undefined && <DesignMark>{designed}</DesignMark>}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
