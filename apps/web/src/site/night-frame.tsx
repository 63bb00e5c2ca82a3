import { Deer } from './deer.tsx'
import styles from './hero.module.css'

/** Rows of fruit trees that run to a vanishing point, from far to near. */
const ROWS = [
  { y: 318, scale: 0.34, step: 44 },
  { y: 340, scale: 0.52, step: 74 },
  { y: 378, scale: 0.86, step: 132 },
]

/** What a camera at the edge of an orchard sees after dusk, with the bracket around what it noticed. */
export function NightFrame() {
  return (
    <svg
      className={styles.frame}
      viewBox="0 0 960 600"
      role="img"
      aria-label="A camera frame at night: a deer between rows of trees, in an amber bracket with the words deer 0.94"
    >
      <defs>
        <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="#0b1d1b" />
          <stop offset="1" stopColor="#2a5148" />
        </linearGradient>
        <linearGradient id="grass" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="#1d4037" />
          <stop offset="1" stopColor="#0a1916" />
        </linearGradient>
        <radialGradient id="lamp" cx="0.56" cy="0.7" r="0.55">
          <stop offset="0" stopColor="#9fd4c7" stopOpacity="0.34" />
          <stop offset="1" stopColor="#9fd4c7" stopOpacity="0" />
        </radialGradient>
        <g id="tree">
          <path d="M-5 0h10l-3-46h-4z" fill="#0b1f1a" />
          <path
            d="M-50-62c-6-26 16-40 30-38 6-24 40-26 48-2 22-4 36 22 24 40 4 18-20 28-34 20-14 12-36 10-42-2-16 4-28-6-26-18z"
            fill="#10302a"
          />
        </g>
      </defs>
      <path d="M0 0h960v600H0z" fill="url(#sky)" />
      <circle cx="742" cy="112" r="34" fill="#dcebe4" opacity="0.82" />
      <path d="M0 286c120-52 208-42 300-18 128-66 262-54 350-14 112-44 214-30 310 8v90H0z" fill="#17352f" />
      <path d="M0 300c80-16 150-12 240 2 110-20 220-18 330-2 130-16 250-12 390 4v60H0z" fill="#122b26" />
      <path d="M0 318h960v282H0z" fill="url(#grass)" />
      {ROWS.map(({ y, scale, step }) => (
        <g key={y}>
          {Array.from({ length: Math.ceil(960 / step) + 2 }, (_, index) => (
            <use
              key={index}
              href="#tree"
              transform={`translate(${index * step - step / 2 + (y % 37)} ${y}) scale(${scale})`}
            />
          ))}
        </g>
      ))}
      <path d="M0 600V430c60 20 90 90 120 170zM960 600V420c-70 24-96 96-112 180z" fill="#07120f" />
      <path d="M0 0h960v600H0z" fill="url(#lamp)" />
      <g transform="translate(452 318) scale(1.02)">
        <Deer fill="#061210" eye="#f5e7c0" />
      </g>
      <g className={styles.bracket} fill="none" stroke="#f2b544" strokeWidth="3.5" strokeLinecap="square">
        <path d="M462 352v-34h34M662 318h34v34M696 482v34h-34M496 516h-34v-34" />
      </g>
      <g className={styles.label}>
        <path d="M460 280h118v30H460z" fill="#f2b544" />
        <text x="471" y="301" fill="#2a1c00">
          deer 0.94
        </text>
      </g>
      <g className={styles.osd} fill="#e6eeea">
        <text x="28" y="42">
          orchard-gate
        </text>
        <text x="932" y="42" textAnchor="end">
          2026-10-17 21:04:07
        </text>
      </g>
    </svg>
  )
}
