import styles from './reasons.module.css'
import { DesignFigure, Section } from './section.tsx'

const REASONS = [
  {
    title: 'It is yours',
    words: 'The hub runs on your machine. It needs no account with us, no subscription and no other service.',
  },
  {
    title: 'Nothing to open at the far end',
    words:
      'A gateway calls out and is never called. No port to forward, no fixed address: a mobile router in a barn will do.',
  },
  {
    title: 'Strangers stay strangers',
    words:
      'A new device waits until you approve it, and its private keys never leave it. You compare one fingerprint, and say yes or no.',
  },
  {
    title: 'One command, no extras',
    words:
      'WireGuard, TCP and the database are inside one program. It asks for no root, no Docker and no kernel module.',
  },
]

export function Reasons() {
  return (
    <Section
      id="why"
      title="Why choose Hedgerow"
      lead="Many camera systems rent you a view of your own land. Hedgerow works the other way round."
      aside={
        <div className={styles.faster}>
          <DesignFigure value="5x faster">
            than asking a large model about every frame, because a small one sorts them first
          </DesignFigure>
        </div>
      }
    >
      <dl className={styles.reasons}>
        {REASONS.map(({ title, words }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
