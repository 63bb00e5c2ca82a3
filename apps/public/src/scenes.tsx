/** Drawings of four camera views, each with a bracket around the detection. */
import { Deer } from './deer.tsx'
import styles from './use-cases.module.css'

/** Rows of vines at dusk, and a deer in the third. */
export function VineyardScene() {
  return (
    <svg
      viewBox="0 0 700 640"
      preserveAspectRatio="xMidYMax slice"
      role="img"
      aria-label="A deer between rows of vines at dusk, in a bracket"
    >
      <defs>
        <linearGradient id="dusk" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="#c98d72" />
          <stop offset="0.55" stopColor="#edbf87" />
          <stop offset="1" stopColor="#f7dba8" />
        </linearGradient>
      </defs>
      <path d="M0-160h700v520H0z" fill="url(#dusk)" />
      <circle cx="556" cy="222" r="46" fill="#fdf0cf" />
      <path d="M0 250c110-50 190-40 280-12 120-60 280-46 420 2v120H0z" fill="#7c9a84" />
      <path d="M0 292c160-34 260-22 360-6 130-26 240-20 340 2v80H0z" fill="#527a66" />
      <path d="M0 316h700v330H0z" fill="#35604f" />
      {[0, 1, 2, 3, 4, 5, 6].map((row) => {
        const foot = row * 190 - 220
        const top = 330 + (row - 3) * 34
        return (
          <g key={row}>
            <path
              d={`M${top - 5} 318 L${foot - 74} 660 L${foot + 84} 660 L${top + 7} 318z`}
              fill={row % 2 ? '#1f4a3b' : '#24513f'}
            />
            <path d={`M${top + 7} 318 L${foot + 84} 660 L${foot + 112} 660 L${top + 9} 318z`} fill="#193d31" />
          </g>
        )
      })}
      <g transform="translate(300 392) scale(1.16)">
        <Deer fill="#0d211b" eye="#f5e7c0" />
      </g>
      <Bracket x={318} y={376} width={230} height={238} label="deer 0.94" />
    </svg>
  )
}

/** Wooded ridges by day, and a thread of smoke behind the second one. */
export function RidgeScene() {
  return (
    <svg viewBox="0 0 500 270" role="img" aria-label="A thread of smoke behind a wooded ridge, in a bracket">
      <path d="M0 0h500v270H0z" fill="#d8e6e4" />
      <path d="M0 128c70-40 120-46 190-24 60-44 140-52 310-8v90H0z" fill="#b3ccc6" />
      <path
        transform="translate(0 18)"
        d="M322 146c-10-18 12-26 2-46-8-16 10-22 6-40-2-10 8-20 20-24-6 12 2 20-4 34-6 16 6 22-2 40-6 14 2 24-4 36z"
        fill="#8d9794"
        opacity="0.85"
      />
      <path transform="translate(0 18)" d="M350 36c14-12 40-14 60-8-18 4-26 14-44 18z" fill="#a9b1ae" opacity="0.7" />
      <path d="M0 176c90-46 150-44 230-20 90-34 180-30 270 4v110H0z" fill="#74a091" />
      <path
        d="M0 214c12-16 20-16 30-2 10-22 24-22 34 0 12-18 24-16 34 2 10-20 22-22 34 0 14-16 24-14 34 2 12-22 26-20 36
          0 12-16 24-16 34 2 10-20 24-20 34 0 12-18 24-16 36 2 10-22 24-22 34-2 12-14 22-14 32 2 12-20 24-20 36 0
          10-16 24-14 34 2 12-18 22-18 32 0v58H0z"
        fill="#3f6f5e"
      />
      <path d="M0 244c60-16 130-14 240-4 90-14 180-12 260 2v28H0z" fill="#2c5547" />
      <Bracket x={292} y={46} width={128} height={112} label="smoke 0.88" />
    </svg>
  )
}

/** A yard at night under one lamp, and a person at the shed door. */
export function FarmyardScene() {
  return (
    <svg viewBox="0 0 500 270" role="img" aria-label="A person at a shed door under a yard lamp, in a bracket">
      <path d="M0 0h500v270H0z" fill="#101c26" />
      <path d="M300 60 190 222h250z" fill="#f2d9a0" opacity="0.22" />
      <path d="M0 216h500v54H0z" fill="#1a2a33" />
      <ellipse cx="316" cy="232" rx="140" ry="24" fill="#f2d9a0" opacity="0.2" />
      <path d="M20 218V112L110 66l90 46v106z" fill="#22343f" />
      <path d="M10 116 110 64l100 52-8 10-92-46-92 46z" fill="#2d4450" />
      <path d="M78 218v-74h64v74z" fill="#16242d" />
      <path d="M78 144l64 74M142 144l-64 74" stroke="#2d4450" strokeWidth="3" />
      <path d="M300 218V52M300 52h-26" stroke="#3b5361" strokeWidth="5" fill="none" />
      <path d="M262 50h24l-4 12h-16z" fill="#fbe7bf" />
      <path d="M386 218v-58l52-22 52 22v58z" fill="#1b2b35" />
      <g fill="#0a1218">
        <circle cx="236" cy="142" r="11" />
        <path d="M222 158c6-6 22-6 28 0l5 34-8 3-4-20 2 50h-9l-1-30-3 30h-9l2-50-5 20-8-3z" />
      </g>
      <Bracket x={206} y={122} width={62} height={112} label="person 0.91" />
    </svg>
  )
}

/** A kitchen garden in the morning, and a rabbit among the lettuce. */
export function GardenScene() {
  return (
    <svg viewBox="0 0 700 260" role="img" aria-label="A rabbit among rows of lettuce, in a bracket">
      <path d="M0 0h700v260H0z" fill="#e4efdf" />
      <path
        d="M0 92c40-18 60-18 90-2 30-30 66-28 90 0 40-26 70-22 100 2 30-34 80-32 110 0 36-22 66-20 96 2 26-30 70-28 96
          0 40-22 78-20 118 0v44H0z"
        fill="#9cc0a0"
      />
      <path d="M0 116h700v144H0z" fill="#8a6b4f" />
      {[0, 1, 2].map((row) => (
        <g key={row}>
          <path d={`M0 ${132 + row * 44}h700v${18 + row * 6}H0z`} fill="#785a41" />
          {Array.from({ length: 11 - row * 2 }, (_, index) => (
            <Lettuce
              key={index}
              x={24 + row * 14 + index * (66 + row * 18)}
              y={136 + row * 44}
              scale={0.62 + row * 0.24}
            />
          ))}
        </g>
      ))}
      <g transform="translate(372 122)" fill="#5d4a3d">
        <path
          d="M18 92c-14-2-20-14-16-28 4-16 18-24 34-24 6-10 16-14 26-12-10-14-14-30-8-34 8-2 14 14 16 30 2-14 6-30
          14-29 7 2 4 20-2 34 8 4 13 11 12 17-1 8-10 10-18 10-2 18-6 30-10 36z"
        />
        <circle cx="4" cy="76" r="8" fill="#f6efe6" />
        <circle cx="80" cy="41" r="2.600" fill="#1c130d" />
      </g>
      <Bracket x={358} y={104} width={116} height={122} label="rabbit 0.90" />
    </svg>
  )
}

function Lettuce({ x, y, scale }: { x: number; y: number; scale: number }) {
  return (
    <g transform={`translate(${x} ${y}) scale(${scale})`}>
      <path d="M-26 6c-4-16 6-24 14-20 2-12 20-12 24 0 10-4 18 6 14 20-16 8-38 8-52 0z" fill="#4f8f4a" />
      <path d="M-14 6c0-12 6-16 14-16s14 4 14 16c-8 4-20 4-28 0z" fill="#76b465" />
    </g>
  )
}

/** A detection's bracket with its label, in the coordinates of its scene. */
function Bracket({
  x,
  y,
  width,
  height,
  label,
}: {
  x: number
  y: number
  width: number
  height: number
  label: string
}) {
  const corner = Math.min(width, height) / 5
  const [right, bottom] = [x + width, y + height]
  return (
    <>
      <path
        fill="none"
        stroke="#f2b544"
        strokeWidth="3.500"
        d={
          `M${x} ${y + corner}V${y}h${corner}M${right - corner} ${y}h${corner}v${corner}M${right} ` +
          `${bottom - corner}v${corner}h${-corner}M${x + corner} ${bottom}h${-corner}v${-corner}`
        }
      />
      <path d={`M${x - 2} ${y - 30}h${label.length * 9.1 + 20}v26h-${label.length * 9.1 + 20}z`} fill="#f2b544" />
      <text className={styles.tag} x={x + 8} y={y - 12} fill="#2a1c00">
        {label}
      </text>
    </>
  )
}
