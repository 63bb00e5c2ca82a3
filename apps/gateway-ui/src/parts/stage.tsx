import { useCallback, type ReactNode } from 'react'
import { deviceCalls } from 'virtual:device-calls'
import { useLivePicture } from '@hedgerow/ui/live-picture.tsx'
import { askPicture } from '../calls.ts'
import styles from './stage.module.css'

export type Shape = {
  key: string
  tone: 'zone' | 'mask' | 'chosen'
  /** Corners in shares of the picture. */
  polygon: readonly (readonly [number, number])[]
}

/** A camera's whole picture, again and again while the page is looked at, with shapes on it. */
export function Stage({
  camera,
  shapes,
  children,
}: {
  camera: string
  shapes: readonly Shape[]
  /** Lies over the picture. */
  children?: ReactNode
}) {
  const load = useCallback(
    async (signal: AbortSignal) => ({
      picture: await askPicture(deviceCalls.readLatest, { params: { name: camera }, query: {}, signal }),
      takenAt: Date.now(),
    }),
    [camera],
  )
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
          <polygon key={key} data-tone={tone} points={polygon.map((corner) => corner.join(',')).join(' ')} />
        ))}
      </svg>
      {children}
    </div>
  )
}

const REFRESH_MS = 1_000
