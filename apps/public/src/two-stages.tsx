import { DesignMark, Section } from './section.tsx'
import styles from './two-stages.module.css'

const FRAMES = 28
/** The frames that the first model picks, and the one of them that the second model confirms. */
const CANDIDATES = [4, 11, 12, 21]
const CONFIRMED = [12]

const STAGES = [
  {
    title: 'First look',
    words: 'A lightweight primary model looks wherever something moves.',
    passed: Array.from({ length: FRAMES }, (_, index) => index),
  },
  {
    title: 'Second look',
    words: 'If set up, a larger model checks what it picked.',
    passed: CANDIDATES,
  },
  {
    title: 'Then, and only then',
    words: 'A rule that waits for it fires.',
    passed: CONFIRMED,
  },
]

export function TwoStages() {
  return (
    <Section id="multi-model" title="A second model can look before anything is set off" tone="night">
      <div className={styles.columns}>
        <ol className={styles.stages}>
          {STAGES.map(({ title, words }) => (
            <li key={title}>
              <h3>{title}</h3>
              <p>{words}</p>
            </li>
          ))}
        </ol>
        <Sieve />
      </div>
      <p className={styles.note}>
        <DesignMark>You bring both models. Not measured at a real site.</DesignMark>
      </p>
    </Section>
  )
}

/** Three rows: all frames, the candidates, and the confirmed frame. */
function Sieve() {
  return (
    <svg className={styles.sieve} viewBox="0 0 700 480" aria-hidden="true">
      {STAGES.map(({ title, passed }, stage) => (
        <g key={title} transform={`translate(0 ${stage * 180})`}>
          {passed.map((frame) => (
            <rect
              key={frame}
              className={stage === 2 ? styles.confirmed : CANDIDATES.includes(frame) ? styles.candidate : styles.plain}
              x={frame * 25 + 1}
              y="20"
              width="18"
              height="44"
              rx="2"
            />
          ))}
          {STAGES[stage + 1]?.passed.map((frame) => (
            <path key={frame} className={styles.fall} d={`M${frame * 25 + 10} 72v120`} />
          ))}
        </g>
      ))}
    </svg>
  )
}
