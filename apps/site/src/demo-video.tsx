import styles from './hero.module.css'

/** The recorded demo. It loads when it comes near the screen; without a script, the image below it is its poster. */
export function DemoVideo() {
  return (
    <figure id="demo" className={styles.demo}>
      <div className={styles.screen}>
        <img src="/media/demo-poster.jpg" alt="" width="1280" height="720" loading="lazy" />
        <video
          controls
          playsInline
          preload="none"
          width="1280"
          height="720"
          aria-label="Demo of the hub"
          data-poster="/media/demo-poster.jpg"
        >
          <source src="/media/demo.webm" type="video/webm" />
          <source src="/media/demo.mp4" type="video/mp4" />
          <track kind="captions" src="/media/demo.vtt" srcLang="en" label="English" />
        </video>
      </div>
      <figcaption>
        The hub at work, recorded from the screen: a gateway arrives, is approved, and its own page opens through the
        tunnel. The detections and cameras in this film are made up; <code>npm run demo</code> shows rendered scenes
        that a gateway really looks at.
      </figcaption>
    </figure>
  )
}
