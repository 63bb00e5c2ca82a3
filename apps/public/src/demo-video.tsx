import buttons from './buttons.module.css'
import styles from './hero.module.css'

/** The recorded demo: a picture of it until somebody plays it (visit.ts). Without a script the link opens the film. */
export function DemoVideo() {
  return (
    <figure id="demo" className={styles.demo} data-film="">
      <div className={styles.screen}>
        <img
          src="/media/demo-poster.jpg"
          alt="The hub’s Threats: pictures of cows, horses and persons, with the gateway that saw them"
          width="1280"
          height="720"
          loading="lazy"
        />
        <video controls playsInline preload="none" width="1280" height="720" aria-label="Demo of the hub" hidden>
          <source src="/media/demo.webm" type="video/webm" />
          <source src="/media/demo.mp4" type="video/mp4" />
          <track kind="captions" src="/media/demo.vtt" srcLang="en" label="English" />
        </video>
      </div>
      <div className={styles.film}>
        <a className={buttons.secondary} href="/media/demo.mp4" data-play="">
          Play the film
        </a>
        <figcaption>
          From <code>npm run demo</code>: a real detector names photographs in drawn places, but no boar, deer or fox.
          Valve simulated.
        </figcaption>
      </div>
    </figure>
  )
}
