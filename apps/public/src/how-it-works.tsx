import type { ReactNode } from 'react'
import styles from './how-it-works.module.css'
import { DesignMark, Section } from './section.tsx'

const STEPS: { title: string; words: string; drawing: ReactNode }[] = [
  {
    title: 'A camera looks',
    words: 'It streams to a gateway nearby.',
    drawing: (
      <>
        <path d="M14 30h44l8 8v10l-8 8H14z" />
        <path d="M66 40l16-7v20l-16-7M32 56v18M20 74h24" />
        <circle cx="30" cy="43" r="6" />
      </>
    ),
  },
  {
    title: 'A gateway decides',
    words: 'It sees what moves; your model says: a boar.',
    drawing: (
      <>
        <rect x="20" y="26" width="56" height="44" rx="4" />
        <path d="M34 40v-4h6M56 36h6v4M62 56v4h-6M40 60h-6v-4M30 26v-8M48 26v-8M66 26v-8M30 78v-8M48 78v-8M66 78v-8" />
        <circle className={styles.found} cx="48" cy="48" r="5" />
      </>
    ),
  },
  {
    title: 'Something happens there',
    words: 'A sprinkler or a siren, even while the line is down.',
    drawing: (
      <>
        <path d="M48 78V48M36 78h24M40 48h16l-3-10H43z" />
        <path
          className={styles.water}
          d="M42 32C34 20 22 18 12 26M54 32c8-12 20-14 30-6M44 30c-4-10-12-16-20-18M52 30c4-10 12-16 20-18M48 30V10"
          strokeDasharray="1 6.5"
        />
      </>
    ),
  },
  {
    title: 'You see it here',
    words: 'The hub gets the picture; your phone gets the alert.',
    drawing: (
      <>
        <rect x="12" y="20" width="72" height="46" rx="4" />
        <path d="M38 78h20M48 66v12M22 32h24M22 42h34M22 52h18" />
        <path className={styles.found} d="m70 47 7 12H63z" />
      </>
    ),
  },
]

export function HowItWorks() {
  return (
    <Section id="how-it-works" title="How it works" lead="Detection runs next to the camera, not in a cloud.">
      <div className={styles.places} aria-hidden="true">
        <span>On your land</span>
        <span>Where you are</span>
      </div>
      <ol className={styles.steps}>
        {STEPS.map(({ title, words, drawing }) => (
          <li key={title}>
            <svg viewBox="0 0 96 88" width="96" height="88" aria-hidden="true">
              {drawing}
            </svg>
            <h3>{title}</h3>
            <p>{words}</p>
          </li>
        ))}
      </ol>
      <p className={styles.note}>
        <DesignMark>
          An amber diamond marks what is designed, but not in the software or not measured at a real site. You bring the
          detector: Frigate, an ONNX model or any program. Without one it knows only that something moves. Nothing comes
          for smoke.
        </DesignMark>
      </p>
    </Section>
  )
}
