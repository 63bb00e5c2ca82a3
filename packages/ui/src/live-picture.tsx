import { useDocumentVisibility, useIntersection } from '@mantine/hooks'
import { useEffect, useState, type RefCallback } from 'react'
import { lastSeen } from './last-seen.ts'
import { useNow } from './now.ts'
import styles from './live-picture.module.css'

/** `takenAt` in milliseconds since 1970. */
export type LoadedPicture = { picture: Blob; takenAt: number }

type Load<L extends LoadedPicture> = (signal: AbortSignal) => Promise<L>

type LivePictureProps = {
  /** Loads the newest picture. A new function starts again. */
  load: Load<LoadedPicture>
  alt: string
  /** The reason why there is nothing to load, such as `Offline`. */
  off?: string | undefined
  /** What is wrong with the picture, such as that it is black. */
  problem?: string | undefined
}

const REFRESH_MS = 5_000
/** An older picture is marked as old. */
const STALE_MS = 20_000
/** After this long without a first picture the person learns that none comes. */
const SLOW_MS = 3_000

/** The current picture of a camera, reloaded while it is in view and the page is visible. */
export function LivePicture({ load, alt, off, problem: wrong }: LivePictureProps) {
  const now = useNow()
  const { ref, shown, problem, isSlow } = useLivePicture(load, { refreshMs: REFRESH_MS, isOff: off !== undefined })
  return (
    <span ref={ref} className={styles.picture}>
      {shown === undefined ? (
        <span title={off}>{off ?? problem ?? (isSlow ? 'No answer yet' : 'Loading…')}</span>
      ) : (
        <img src={shown.address} alt={alt} data-stale={now - shown.takenAt > STALE_MS} />
      )}
      {shown !== undefined && (off ?? wrong) !== undefined && (
        <span className={styles.problem} title={off ?? wrong}>
          {off ?? wrong}
        </span>
      )}
      {shown !== undefined && <PictureAge takenAt={shown.takenAt} />}
    </span>
  )
}

/** How old a picture is, once that matters; in a corner of the element that holds the picture. */
export function PictureAge({ takenAt }: Pick<LoadedPicture, 'takenAt'>) {
  const now = useNow()
  return now - takenAt > STALE_MS && <span className={styles.age}>{ageInWords(takenAt, now)}</span>
}

/** `30s ago`, then as other times. */
function ageInWords(takenAt: number, now: number): string {
  const ageMs = now - takenAt
  return ageMs < 60_000 ? `${Math.floor(ageMs / 1_000)}s ago` : lastSeen(new Date(takenAt).toISOString(), now)
}

type Shown<L> = Omit<L, 'picture'> & { address: string }

/**
 * Loads while the element of `ref` is in view and the page is visible. The last picture stays when the next one does
 * not arrive.
 */
export function useLivePicture<L extends LoadedPicture>(
  load: Load<L>,
  { refreshMs, isOff = false }: { refreshMs: number; isOff?: boolean },
): { ref: RefCallback<HTMLElement>; shown: Shown<L> | undefined; problem: string | undefined; isSlow: boolean } {
  const { ref, entry } = useIntersection({ rootMargin: '100px' })
  const isVisible = useDocumentVisibility() === 'visible'
  const isLookedAt = isVisible && !isOff && (entry?.isIntersecting ?? false)
  const [shown, setShown] = useState<Shown<L>>()
  const [problem, setProblem] = useState<string>()
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    if (!isLookedAt) return undefined
    const stopped = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const slow = setTimeout(() => setSlow(true), SLOW_MS)
    const look = async () => {
      try {
        const { picture, ...rest } = await load(stopped.signal)
        const address = URL.createObjectURL(picture)
        setProblem(undefined)
        setShown((before) => {
          if (before) URL.revokeObjectURL(before.address)
          return { ...rest, address }
        })
      } catch (error) {
        if (!stopped.signal.aborted) setProblem(error instanceof Error ? error.message : 'No picture.')
      }
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(), refreshMs)
    }
    void look()
    return () => {
      stopped.abort()
      clearTimeout(timer)
      clearTimeout(slow)
    }
  }, [load, isLookedAt, refreshMs])
  return { ref, shown, problem, isSlow }
}
