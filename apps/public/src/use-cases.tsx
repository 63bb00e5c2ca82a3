import { FarmyardScene, GardenScene, RidgeScene, VineyardScene } from './scenes.tsx'
import { DesignMark, Section } from './section.tsx'
import styles from './use-cases.module.css'

export function UseCases() {
  return (
    <Section id="use-cases" title="Four things to keep an eye on" tone="raised">
      <div className={styles.grid}>
        <article className={styles.wildlife}>
          <VineyardScene />
          <h3>Wildlife deterrent</h3>
          <p>Deer in the vines, boar in the maize: water or noise.</p>
        </article>
        <article>
          <RidgeScene />
          <h3>Wildfire detection</h3>
          <p>Smoke over the ridge.</p>
        </article>
        <article>
          <FarmyardScene />
          <h3>Security monitoring</h3>
          <p>People in the yard at night.</p>
        </article>
        <article className={styles.garden}>
          <GardenScene />
          <div>
            <h3>Garden protection</h3>
            <p>Herons at the pond, rabbits in the salad: a short spray.</p>
          </div>
        </article>
      </div>
      <p className={styles.note}>
        <DesignMark>The product is designed for these four.</DesignMark>
      </p>
    </Section>
  )
}
