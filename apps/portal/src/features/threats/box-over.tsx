import type { Box } from '@hedgerow/contract'
import styles from './threats.module.css'

/** A box over a picture that is scaled as with `object-fit: contain`. */
export function BoxOver({ box, size, words }: { box: Box; size: { width: number; height: number }; words: string }) {
  const { width, height } = size
  const [x, y] = [box.x * width, box.y * height]
  const line = Math.max(width, height) / 320
  return (
    <svg
      className={styles.boxes}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      role="img"
      aria-label={`Box around ${words}`}
    >
      <rect x={x} y={y} width={box.width * width} height={box.height * height} rx={line} strokeWidth={line} />
    </svg>
  )
}
