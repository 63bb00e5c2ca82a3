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
        The hub at work, recorded from <code>npm run demo</code> as it runs: pictures of what gateways saw, a valve that
        a gateway opens, the alert on a phone, and the approval of a new gateway. Scenes and valve are made up; the rest
        is the product.
      </figcaption>
    </figure>
  )
}
