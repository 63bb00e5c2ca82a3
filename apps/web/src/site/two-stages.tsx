import { DesignMark, Section } from './section.tsx'
import styles from './two-stages.module.css'

export function TwoStages() {
  return (
    <Section
      id="multi-model"
      title="Two models look before anything is set off"
      lead="One that is quick and easily excited, one that is slow and hard to fool. Together they see every frame and still let you sleep."
      tone="night"
    >
      <ol className={styles.stages}>
        <li>
          <h3>First look</h3>
          <p>A lightweight primary model sees every frame. It may be wrong, but it must not miss.</p>
        </li>
        <li>
          <h3>Second look</h3>
          <p>
            A large model validates what the first one found, and only that. What it doubts is kept for the night’s
            lesson.
          </p>
        </li>
        <li>
          <h3>Then, and only then</h3>
          <p>The sprinkler, the siren, and an alert with its picture in the hub.</p>
        </li>
      </ol>
      <p>
        <DesignMark>How the detector is designed. The beta page says what is ready.</DesignMark>
      </p>
    </Section>
  )
}
