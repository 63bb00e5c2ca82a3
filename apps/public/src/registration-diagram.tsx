import styles from './registration.module.css'

/**
 * The four steps as one drawing. Without motion it shows the end: found, proven, approved and joined. visit.ts plays it
 * step by step unless the visitor asked for reduced motion. On a narrow screen the browser is below the hub.
 */
export function RegistrationDiagram({ shape }: { shape: 'wide' | 'narrow' }) {
  return (
    <svg
      className={styles.diagram}
      data-shape={shape}
      viewBox={shape === 'wide' ? '0 0 1160 340' : '80 14 640 596'}
      role="img"
      aria-label={
        'A gateway finds the hub by DNS, exchanges keys with it, is approved by a person in a browser, and is ' +
        'joined to it by a tunnel'
      }
    >
      <g className={styles.finding}>
        <path className={styles.thread} d="M180 132C220 50 330 40 404 52" />
        <path className={styles.thread} d="M520 62c40 12 62 34 76 62" />
        <rect className={styles.card} x="404" y="26" width="116" height="54" rx="6" />
        <text x="462" y="60" textAnchor="middle">
          DNS
        </text>
      </g>

      <g className={styles.proving}>
        <path className={styles.thread} d="M252 190h276" />
        <path className={styles.thread} d="M528 222H252" />
        <g className={styles.there}>
          <Key />
        </g>
        <g className={styles.back}>
          <Key />
        </g>
      </g>

      <g className={styles.tunnel}>
        <path className={styles.pipe} d="M252 268h276" />
        <path className={styles.flow} d="M252 268h276" />
      </g>

      <g>
        <rect className={styles.card} x="92" y="132" width="160" height="164" rx="8" />
        <text className={styles.name} x="116" y="170">
          Gateway
        </text>
        <path className={styles.faint} d="M116 190h112M116 208h84" />
        <g className={styles.print}>
          <text x="116" y="244">
            3HKU UXRJ
          </text>
        </g>
        <circle className={styles.waiting} cx="122" cy="272" r="6" />
        <circle className={styles.online} cx="122" cy="272" r="6" />
        <text className={styles.small} x="136" y="277">
          <tspan className={styles.online}>online</tspan>
        </text>
      </g>

      <g>
        <rect className={styles.card} x="528" y="120" width="180" height="188" rx="8" />
        <text className={styles.name} x="552" y="160">
          Hub
        </text>
        <path className={styles.faint} d="M552 182h132M552 202h132M552 222h92" />
        <path className={styles.faint} d="M552 268h60" />
      </g>

      <path className={styles.faint} d={shape === 'wide' ? 'M708 214h112' : 'M618 308v76'} />
      <g transform={shape === 'wide' ? undefined : 'translate(-382 288)'}>
        <rect className={styles.card} x="820" y="96" width="270" height="212" rx="8" />
        <path className={styles.faint} d="M820 132h270" />
        <circle className={styles.speck} cx="842" cy="114" r="4" />
        <circle className={styles.speck} cx="858" cy="114" r="4" />
        <circle className={styles.speck} cx="874" cy="114" r="4" />
        <g className={styles.asking}>
          <text className={styles.name} x="846" y="172">
            North orchard
          </text>
          <g className={styles.print}>
            <text x="846" y="202">
              3HKU UXRJ
            </text>
          </g>
          <rect className={styles.approve} x="846" y="226" width="112" height="44" rx="6" />
          <text className={styles.onApprove} x="902" y="254" textAnchor="middle">
            Approve
          </text>
          <path className={styles.tick} d="m982 248 10 10 18-20" />
        </g>
      </g>
    </svg>
  )
}

function Key() {
  return <path className={styles.key} d="M0-9a9 9 0 1 0 .1 0M9 0h24v9M24 0v7" />
}
