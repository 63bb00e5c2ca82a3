import styles from './hardware.module.css'
import { DesignFigure, Section } from './section.tsx'

export function Hardware() {
  return (
    <Section id="hardware" title="A camera, a small computer, a tap">
      <Post />
      <div className={styles.figures}>
        <DesignFigure value="from $50">for a small site’s computer</DesignFigure>
        <DesignFigure value="30+ FPS">examined on the gateway</DesignFigure>
      </div>
    </Section>
  )
}

/** A post with a camera and a gateway, beside the row of trees that its sprinkler waters. */
function Post() {
  return (
    <svg
      className={styles.post}
      viewBox="0 0 1160 420"
      preserveAspectRatio="xMidYMax slice"
      role="img"
      aria-label={
        'A post with a camera at its top and a gateway in a box below, wired to a valve and a sprinkler among ' +
        'trees'
      }
    >
      <path className={styles.ground} d="M0 352c140-18 300-20 520-8 240-14 440-12 640 4v72H0z" />
      {[760, 900, 1040].map((x) => (
        <g key={x} transform={`translate(${x} 352)`}>
          <path className={styles.trunk} d="M-7 6h14l-3-90h-8z" />
          <path
            className={styles.leaves}
            d="M-66-84c-8-34 20-54 40-50 8-32 54-34 64-2 30-6 48 30 32 54 4 24-28 38-46 26-18 16-48 14-56-2-20
              6-36-8-34-26z"
          />
        </g>
      ))}
      <g className={styles.lines}>
        <path d="M430 352V64" strokeWidth="9" />
        <path d="M430 96h32" strokeWidth="5" />
        <path d="M462 76h66l10 10v20l-10 10h-66z" className={styles.filled} />
        <path d="m538 90 20-10v32l-20-10" className={styles.filled} />
        <rect x="392" y="186" width="76" height="92" rx="6" className={styles.filled} />
        <path d="M410 208h40M410 222h26" />
        <path d="M416 262h.1M430 262h.1M444 262h.1" className={styles.lamps} />
        <path d="M430 116v70" className={styles.wire} />
        <path d="M468 250c70 0 60 104 132 104h54" className={styles.wire} />
        <path d="M654 354v-34M642 320h24l-5-14h-14z" className={styles.filled} />
      </g>
      <path
        className={styles.spray}
        d="M654 300c-20-40-62-60-108-48M654 300c-12-46-46-78-92-84M654 300c20-40 62-60 108-48M654 300c12-46 46-78
          92-84M654 298v-92"
      />
      <path className={styles.pointer} d="M416 96H226M380 232H226" />
      <g className={styles.names}>
        <text x="212" y="101" textAnchor="end">
          camera
        </text>
        <text x="212" y="237" textAnchor="end">
          gateway
        </text>
        <text x="654" y="398" textAnchor="middle">
          sprinkler
        </text>
      </g>
    </svg>
  )
}
