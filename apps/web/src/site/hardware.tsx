import { DesignFigure, Section } from './section.tsx'
import styles from './hardware.module.css'

export function Hardware() {
  return (
    <Section
      id="hardware"
      title="A camera, a small computer, a tap"
      lead="A site needs no rack and no server room. What looks and decides fits into a weatherproof box beside the camera."
    >
      <div className={styles.figures}>
        <DesignFigure value="from $50">for the computer that a small site needs</DesignFigure>
        <DesignFigure value="30+ FPS">looked at, frame by frame, on the gateway</DesignFigure>
      </div>
    </Section>
  )
}

const COMPUTERS = [
  { name: 'Small single-board computer', use: 'One camera at a gate or a pond', cost: 'from $50' },
  { name: 'Edge AI module', use: 'A few cameras where power is scarce', cost: '' },
  { name: 'Compact desktop computer', use: 'A farmyard; what beta testers use', cost: 'about $499 or $599' },
  { name: 'GPU-powered Windows PC', use: 'Many cameras, or large models', cost: '' },
]

export function SupportedHardware() {
  return (
    <Section
      id="supported-hardware"
      title="Supported hardware"
      lead="Four kinds of computer, one camera that we know well, and what a gateway can switch."
      tone="raised"
    >
      <div className={styles.supported}>
        <table className={styles.computers}>
          <thead>
            <tr>
              <th scope="col">Computer</th>
              <th scope="col">Good for</th>
              <th scope="col">Price</th>
            </tr>
          </thead>
          <tbody>
            {COMPUTERS.map(({ name, use, cost }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{use}</td>
                <td>{cost}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <dl className={styles.parts}>
          <div>
            <dt>Camera</dt>
            <dd>One supported network camera, about $299.</dd>
          </div>
          <div>
            <dt>Smart irrigation</dt>
            <dd>The controllers of two brands, so that a zone runs for half a minute where the deer stand.</dd>
          </div>
          <div>
            <dt>GPIO</dt>
            <dd>Relays, valves, sirens and lamps, wired directly to the pins of the gateway.</dd>
          </div>
        </dl>
      </div>
    </Section>
  )
}
