import styles from './learning.module.css'
import { DesignFigure, DesignMark, Section } from './section.tsx'

const NIGHT = [
  { at: 'Evening', words: 'You mark what was wrong: not a deer, a branch. Two taps are enough.' },
  {
    at: 'Overnight',
    words: 'The gateway fine-tunes its small model on those pictures, on the spot, while the field is quiet.',
  },
  {
    at: 'Morning',
    words:
      'The new model takes over only if it does better on what the old one got right. Otherwise the old one stays.',
  },
]

export function Learning() {
  return (
    <Section
      id="learning"
      title="It learns your branches overnight"
      lead="Every place has its own false alarms: the flag, the headlights, the neighbour’s cat. A gateway is designed to learn yours from its mistakes."
      tone="raised"
    >
      <div className={styles.columns}>
        <ol className={styles.night}>
          {NIGHT.map(({ at, words }) => (
            <li key={at}>
              <h3>{at}</h3>
              <p>{words}</p>
            </li>
          ))}
        </ol>
        <div className={styles.week}>
          <DesignFigure value="90%">fewer false positives after a week</DesignFigure>
        </div>
      </div>
      <p>
        <DesignMark>How the detector is designed. The beta page says what is ready.</DesignMark>
      </p>
    </Section>
  )
}
