/** The first screen: what the product is and for which people, a camera frame, and the log that the hub would show. */
import buttons from './buttons.module.css'
import { DemoVideo } from './demo-video.tsx'
import styles from './hero.module.css'
import { NightFrame } from './night-frame.tsx'

/** The hub's own sentences for a detection; times and score are made up, and the caption says so. */
const LOG = [
  { at: '21:04:07', words: 'deer, orchard-gate', detail: '0.94' },
  { at: '21:04:08', words: 'Sprinkler row 12 set off', detail: '' },
  { at: '21:04:09', words: 'Alert: deer on cam orchard-gate', detail: '' },
]

export function Hero({ hasDemo }: { hasDemo: boolean }) {
  return (
    <section className={styles.hero} data-tone="night" aria-labelledby="top">
      <div className={styles.inner}>
        <div className={styles.words}>
          <h1 id="top">See what comes over the hedge.</h1>
          <p className={styles.lead}>
            Small computers beside your cameras look out for animals and strangers, and set off a sprinkler or a siren.
            You see it all on one screen.
          </p>

          <p className={styles.actions}>
            <a className={buttons.primary} href="/beta">
              Join the beta
            </a>
            {hasDemo && (
              <a className={buttons.secondary} href="#demo">
                Watch the demo
              </a>
            )}
          </p>
        </div>
        <figure className={styles.camera}>
          <NightFrame />
          <ol className={styles.log} aria-label="Log">
            {LOG.map(({ at, words, detail }) => (
              <li key={words}>
                <time>{at}</time> <span>{words}</span> <b>{detail}</b>
              </li>
            ))}
          </ol>
          <figcaption>Drawn, not recorded.</figcaption>
        </figure>
      </div>
      {hasDemo && <DemoVideo />}
    </section>
  )
}
