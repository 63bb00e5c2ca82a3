import styles from './learning.module.css'
import { DesignFigure, DesignMark, Section } from './section.tsx'

const NIGHT = [
  { at: 'Evening', words: 'You mark mistakes with one key: a branch, not a deer.' },
  {
    at: 'Overnight',
    words: 'The gateway trains a check on them.',
  },
  {
    at: 'Morning',
    words: 'The check is used only if it makes fewer mistakes.',
  },
]

/** False alarms in each of seven nights: the design figure as dots, not a measurement. */
const FALSE_ALARMS = [10, 8, 6, 4, 3, 2, 1]

export function Learning() {
  return (
    <Section id="learning" title="It learns your branches overnight" tone="raised">
      <NightSky />
      <ol className={styles.night}>
        {NIGHT.map(({ at, words }) => (
          <li key={at}>
            <h3>{at}</h3>
            <p>{words}</p>
          </li>
        ))}
      </ol>
      <div className={styles.week}>
        <DesignFigure value="90%">fewer false positives after a week</DesignFigure>
        <Week />
      </div>
      <p className={styles.note}>
        <DesignMark>Measured with simulated cameras, not at a real site.</DesignMark>
      </p>
    </Section>
  )
}

/** The sky from dusk to dawn, with the path of the moon. */
function NightSky() {
  return (
    <svg className={styles.sky} viewBox="0 0 1160 200" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <defs>
        <linearGradient id="night-passes">
          <stop offset="0" stopColor="#d9905b" />
          <stop offset="0.16" stopColor="#7d6a86" />
          <stop offset="0.36" stopColor="#16283a" />
          <stop offset="0.62" stopColor="#12222f" />
          <stop offset="0.84" stopColor="#5f8292" />
          <stop offset="1" stopColor="#f3d9a5" />
        </linearGradient>
      </defs>
      <path d="M0 0h1160v200H0z" fill="url(#night-passes)" />
      <path
        d="M70 210C290 10 870 10 1090 210"
        fill="none"
        stroke="#f5f1e2"
        strokeWidth="1.500"
        strokeDasharray="2 8"
        opacity="0.6"
      />
      <circle cx="580" cy="60" r="22" fill="#f5f1e2" />
      <circle cx="590" cy="54" r="19" fill="#14252f" />
      <path
        d="M380 40h.1M460 92h.1M520 34h.1M668 30h.1M724 84h.1M786 48h.1M640 110h.1M430 128h.1M330 88h.1M850 100h.1"
        stroke="#f5f1e2"
        strokeWidth="3"
        strokeLinecap="round"
      />
      <path
        d="M0 200v-22c18-18 38-16 54-2 14-24 44-26 62-4 20-14 40-10 52 4 20-20 48-18 62 2 26-22 60-20 76 0 22-16 48-14
          62 2 20-26 54-24 70 0 20-14 44-12 58 2 24-22 58-20 74 0 20-18 46-16 60 2 26-24 58-22 76 0 20-14 44-12 58 2
          22-24 54-22 70 0 22-16 46-14 60 2 22-20 52-18 68 0 22-14 44-12 60 2 20-20 48-18 62 0 22-16 44-14 60 4 8-8
          12-10 16-10v20z"
        fill="#0b1915"
      />
    </svg>
  )
}

function Week() {
  return (
    <svg
      className={styles.dots}
      viewBox="0 0 640 218"
      role="img"
      aria-label="False alarms a night, as designed: ten in the first night, one in the seventh"
    >
      {FALSE_ALARMS.map((count, night) => (
        <g key={night} transform={`translate(${34 + night * 95} 0)`}>
          {Array.from({ length: count }, (_, index) => (
            <circle key={index} cx={index % 2 === 0 ? -11 : 11} cy={168 - Math.floor(index / 2) * 26} r="8.500" />
          ))}
          <text x={night === 0 ? -32 : 0} y="208" textAnchor={night === 0 ? 'start' : 'middle'}>
            {night === 0 ? 'night 1' : night + 1}
          </text>
        </g>
      ))}
      <path d="M0 184h640" />
    </svg>
  )
}
