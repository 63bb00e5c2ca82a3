import { DesignMark, Section } from './section.tsx'
import styles from './two-stages.module.css'

const FRAMES = 28
/** The frames that the first model stops at, and the one of them that the second agrees with. */
const CANDIDATES = [4, 11, 12, 21]
const CONFIRMED = [12]

const STAGES = [
  {
    title: 'First look',
    words: 'A lightweight primary model sees every frame. It may be wrong, but it must not miss.',
    passed: Array.from({ length: FRAMES }, (_, index) => index),
  },
  {
    title: 'Second look',
    words:
      'A large model validates what the first one stopped at, and only that. What it doubts is kept for the night’s lesson.',
    passed: CANDIDATES,
  },
  {
    title: 'Then, and only then',
    words: 'The sprinkler, the siren, and an alert with its picture in the hub.',
    passed: CONFIRMED,
  },
]

export function TwoStages() {
  return (
    <Section
      id="multi-model"
      title="Two models look before anything is set off"
      lead="One is quick and easily excited, the other slow and hard to fool. Together they see every frame and still let you sleep."
      tone="night"
    >
      <ol className={styles.stages}>
        {STAGES.map(({ title, words, passed }, stage) => (
          <li key={title}>
            <div>
              <h3>{title}</h3>
              <p>{words}</p>
            </div>
            <svg viewBox="0 0 700 96" aria-hidden="true">
              {passed.map((frame) => (
                <g key={frame} transform={`translate(${frame * 25} 0)`}>
                  {stage > 0 && <path className={styles.fall} d="M10 0v30" />}
                  <rect
                    className={
                      CONFIRMED.includes(frame) && stage === 2
                        ? styles.confirmed
                        : CANDIDATES.includes(frame)
                          ? styles.candidate
                          : styles.plain
                    }
                    x="1"
                    y="34"
                    width="18"
                    height="28"
                    rx="2"
                  />
                  {stage < 2 && (stage === 0 ? CANDIDATES : CONFIRMED).includes(frame) && (
                    <path className={styles.fall} d="M10 66v30" />
                  )}
                </g>
              ))}
            </svg>
          </li>
        ))}
      </ol>
      <p className={styles.note}>
        <DesignMark>This is how the detector is designed; it is not in the software yet.</DesignMark>
      </p>
    </Section>
  )
}
