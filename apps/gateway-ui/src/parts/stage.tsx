import { useCallback, type ReactNode } from 'react'
import { PictureAge, useLivePicture } from '@hedgerow/ui/live-picture.tsx'
import { askLatest } from '../calls.ts'
import styles from './stage.module.css'

export type Shape = {
  key: string
  tone: 'zone' | 'mask' | 'object mask' | 'chosen'
  /** Corners in shares of the picture. */
  polygon: readonly (readonly [number, number])[]
}

type StageProps = {
  camera: string
  shapes: readonly Shape[]
  /** A click on a shape; each shape must also have a way to be chosen by keyboard. */
  onChoose?: ((key: string) => void) | undefined
  /** Drawn over the picture. */
  children?: ReactNode
}

const REFRESH_MS = 500

/**
 * A camera's whole picture, twice a second while the page is visible, with followed objects and shapes on it, and its
 * age when it is old.
 */
export function Stage({ camera, shapes, onChoose, children }: StageProps) {
  const load = useCallback((signal: AbortSignal) => askLatest(camera, signal), [camera])
  const { ref, shown, problem } = useLivePicture(load, { refreshMs: REFRESH_MS })
  return (
    <div ref={ref} className={styles.stage} data-empty={shown === undefined}>
      {shown === undefined ? (
        <span>{problem ?? 'Loading…'}</span>
      ) : (
        <img src={shown.address} alt={`${camera} now`} draggable={false} />
      )}
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {shapes.map(({ key, tone, polygon }) => (
          <polygon
            key={key}
            data-tone={tone}
            data-choosable={onChoose !== undefined}
            points={polygon.map((corner) => corner.join(',')).join(' ')}
            onClick={() => onChoose?.(key)}
          />
        ))}
      </svg>
      {shown?.boxes.map(({ label, score, box }) => (
        <span
          key={`${label} ${box.x} ${box.y} ${box.width} ${box.height}`}
          className={styles.box}
          style={{
            left: `${box.x * 100}%`,
            top: `${box.y * 100}%`,
            width: `${box.width * 100}%`,
            height: `${box.height * 100}%`,
          }}
        >
          <span>
            {label}, {Math.round(score * 100)} %
          </span>
        </span>
      ))}
      {shown !== undefined && <PictureAge takenAt={shown.takenAt} />}
      {children}
    </div>
  )
}
