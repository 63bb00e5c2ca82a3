import { Deer } from './deer.tsx'
import styles from './hero.module.css'

/** Rows of fruit trees from far to near; each is lower and darker than the one behind it. */
const ROWS = [
  { y: 322, scale: 0.36, step: 46, shift: -8, fill: '#28534a' },
  { y: 346, scale: 0.58, step: 84, shift: -40, fill: '#1b4138' },
  { y: 392, scale: 1, step: 168, shift: -52, fill: '#11302a' },
]

/** The view of a camera at the edge of an orchard after dusk, with a bracket around the detection. */
export function NightFrame() {
  return (
    <svg
      className={styles.frame}
      viewBox="0 0 960 600"
      preserveAspectRatio="xMidYMid slice"
      role="img"
      aria-label="A camera frame at night: a deer between rows of trees, in an amber bracket with the words deer 0.94"
    >
      <defs>
        <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="#091816" />
          <stop offset="1" stopColor="#3d6a5e" />
        </linearGradient>
        <linearGradient id="grass" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="#2c5a4e" />
          <stop offset="1" stopColor="#0d211c" />
        </linearGradient>
        <radialGradient id="light">
          <stop offset="0" stopColor="#b9dccf" stopOpacity="0.5" />
          <stop offset="1" stopColor="#b9dccf" stopOpacity="0" />
        </radialGradient>
        <path
          id="tree"
          d="M-7 0h14l-3-50c14 8 34 4 42-8 18 6 38-6 34-24 12-18 0-42-22-42-8-22-40-24-50-4-14-10-38-2-38 16-22-2-36
            22-26 40-2 18 18 26 30 20 6 6 16 8 24 4z"
        />
      </defs>
      <path d="M0 0h960v340H0z" fill="url(#sky)" />
      <circle cx="800" cy="118" r="27" fill="#e8f1ec" />
      <path d="M0 292c120-62 208-48 300-22 128-70 262-58 350-16 112-46 214-32 310 8v70H0z" fill="#315c52" />
      <path d="M0 306h960v294H0z" fill="url(#grass)" />
      {ROWS.map(({ y, scale, step, shift, fill }) => (
        <g key={y} fill={fill}>
          {Array.from({ length: Math.ceil(1_000 / step) + 1 }, (_, index) => (
            <use key={index} href="#tree" transform={`translate(${index * step + shift} ${y}) scale(${scale})`} />
          ))}
        </g>
      ))}
      <ellipse cx="576" cy="500" rx="430" ry="120" fill="url(#light)" />
      <ellipse cx="578" cy="520" rx="130" ry="13" fill="#07140f" opacity="0.5" />
      <g transform="translate(396 242) scale(1.58)">
        <Deer fill="#050f0c" eye="#ffe9b0" />
      </g>
      <path
        d="M0 600V452c26-14 52-4 62 16 24-22 60-10 66 18 26-10 50 8 50 32 28-8 50 14 46 38 26-4 44 18 44 44zM960 600
          V470c-22-12-46 0-52 20-24-16-56-2-58 24-26-8-48 12-44 34-24-2-40 22-36 52z"
        fill="#040b09"
      />
      <g className={styles.bracket} fill="none" stroke="#f2b544" strokeWidth="4">
        <path d="M438 288v-46h46M676 242h46v46M722 500v46h-46M484 546h-46v-46" />
      </g>
      <path d="M436 200h128v32H436z" fill="#f2b544" />
      <text className={styles.osd} x="448" y="223" fill="#2a1c00">
        deer 0.94
      </text>
      <g className={styles.osd} fill="#e6eeea">
        <text x="28" y="44">
          orchard-gate
        </text>
        <text x="932" y="44" textAnchor="end">
          2026-10-17 21:04:07
        </text>
      </g>
    </svg>
  )
}
