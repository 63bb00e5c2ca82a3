import styles from './gateway-features.module.css'
import { Section } from './section.tsx'

const FEATURES: { title: string; words: string }[] = [
  {
    title: 'Acts by your rules',
    words: 'Every firing ends by itself. A person whom the model sees prevents rules not about persons.',
  },
  { title: 'Carries on alone', words: 'Detections wait on its disk meanwhile.' },
  { title: 'Says how it is', words: 'Every problem in a sentence.' },
  { title: 'Finds a way out', words: 'Over HTTPS where WireGuard is blocked.' },
  { title: 'Updates itself', words: 'From signed releases, if the hub’s line installed it.' },
  {
    title: 'Cannot touch the hub',
    words: 'Its pages have their own origin.',
  },
]

export function GatewayFeatures() {
  return (
    <Section id="gateway" title="What a gateway does for you">
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
