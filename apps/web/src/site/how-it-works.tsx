import styles from './how-it-works.module.css'
import { Section } from './section.tsx'

const STEPS = [
  {
    title: 'A camera looks',
    words:
      'An ordinary network camera at the gate, the barn or the tree line. Its stream goes to the gateway beside it and no further.',
  },
  {
    title: 'A gateway decides',
    words:
      'A small computer on the spot looks at each frame for what you asked it to find: a boar, a thread of smoke, somebody at the shed.',
  },
  {
    title: 'Something happens there',
    words:
      'It opens a sprinkler or sounds a siren by itself. That needs no internet, so it works while the line is down.',
  },
  {
    title: 'You see it here',
    words:
      'The hub gets a line and a small picture: what, where, when, how sure, and what was set off. From there you open the gateway itself.',
  },
]

export function HowItWorks() {
  return (
    <Section
      id="how-it-works"
      title="How it works"
      lead="The looking is done where the camera is. Only the findings travel, through a tunnel that the gateway opens from its side."
    >
      <ol className={styles.steps}>
        {STEPS.map(({ title, words }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{words}</p>
          </li>
        ))}
      </ol>
    </Section>
  )
}
