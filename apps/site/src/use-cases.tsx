import { FarmyardScene, GardenScene, RidgeScene, VineyardScene } from './scenes.tsx'
import { DesignMark, Section } from './section.tsx'
import styles from './use-cases.module.css'

export function UseCases() {
  return (
    <Section
      id="use-cases"
      title="Four things to keep an eye on"
      lead="One gateway can watch for several of them, each with its own answer."
      tone="raised"
    >
      <div className={styles.grid}>
        <article className={styles.wildlife}>
          <VineyardScene />
          <h3>Wildlife deterrent</h3>
          <p>
            Deer in the vines, boar in the maize, a fox by the hens. Water or noise at the moment they arrive wears off
            less than the same thing all night long, and it hurts nobody.
          </p>
        </article>
        <article>
          <RidgeScene />
          <h3>Wildfire detection</h3>
          <p>
            A camera on the ridge looks for smoke at every hour. Minutes count, so the alert comes with its picture.
          </p>
        </article>
        <article>
          <FarmyardScene />
          <h3>Security monitoring</h3>
          <p>The yard at night, the fuel tank, the machine shed: people where nobody should be.</p>
        </article>
        <article className={styles.garden}>
          <GardenScene />
          <div>
            <h3>Garden protection</h3>
            <p>
              Herons at the pond, rabbits in the salad, cats in the seed bed. A short spray from the hose is all it
              takes.
            </p>
          </div>
        </article>
      </div>
      <p className={styles.note}>
        <DesignMark>
          These are what the product is designed for. A gateway finds what your model knows; smoke needs one for smoke.
        </DesignMark>
      </p>
    </Section>
  )
}
