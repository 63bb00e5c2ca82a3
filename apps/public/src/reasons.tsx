import styles from './reasons.module.css'
import { DesignFigure, Section } from './section.tsx'

const REASONS = [
  {
    title: 'It is yours',
    words: 'The hub runs on your machine, without a subscription.',
  },
  {
    title: 'Nothing to open at the far end',
    words: 'A gateway calls out: a mobile router will do.',
  },
  {
    title: 'Strangers stay strangers',
    words: 'A device waits for approval; its agent’s private keys never leave it.',
  },
  {
    title: 'One command',
    words: 'WireGuard and database included; no root, no Docker.',
  },
]

export function Reasons() {
  return (
    <Section
      id="why"
      title="Why choose Hedgerow"

      aside={
        <div className={styles.faster}>
          <DesignFigure value="5x faster">than asking a large model about every frame</DesignFigure>
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
