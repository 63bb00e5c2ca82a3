import { useRef, useState, type PointerEvent } from 'react'

const SWIPE_MIN = 48
const SCALE_MAX = 6

type Point = { x: number; y: number }
type View = Point & { scale: number }
const WHOLE: View = { scale: 1, x: 0, y: 0 }

/** Fingers on a picture: two zoom it, one moves a zoomed one, and a swipe of one leads to the next incident. */
export function useGestures({
  onPrevious,
  onNext,
}: {
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
}) {
  const fingers = useRef(new Map<number, Point>())
  const start = useRef({ view: WHOLE, middle: { x: 0, y: 0 }, spread: 0, isSwipe: false })
  const [view, setView] = useState(WHOLE)

  function begin(isSwipe: boolean): void {
    const held = [...fingers.current.values()]
    start.current = { view, middle: middleOf(held), spread: spreadOf(held), isSwipe }
  }

  const gestures = {
    onPointerDown({ pointerType, pointerId, clientX: x, clientY: y }: PointerEvent) {
      if (pointerType !== 'touch') return
      fingers.current.set(pointerId, { x, y })
      begin(fingers.current.size === 1 && view.scale === 1)
    },
    onPointerMove({ pointerId, clientX: x, clientY: y }: PointerEvent) {
      if (!fingers.current.has(pointerId)) return
      fingers.current.set(pointerId, { x, y })
      const held = [...fingers.current.values()]
      const { view: before, middle, spread } = start.current
      const scale =
        held.length < 2 ? before.scale : Math.min(SCALE_MAX, Math.max(1, (before.scale * spreadOf(held)) / spread))
      if (scale === 1) return setView(WHOLE)
      const now = middleOf(held)
      setView({ scale, x: before.x + now.x - middle.x, y: before.y + now.y - middle.y })
    },
    onPointerUp({ pointerId, clientX, clientY }: PointerEvent) {
      if (!fingers.current.delete(pointerId)) return
      const { middle, isSwipe } = start.current
      const [across, down] = [clientX - middle.x, clientY - middle.y]
      if (isSwipe && Math.abs(across) > SWIPE_MIN && Math.abs(across) > 2 * Math.abs(down))
        (across < 0 ? onNext : onPrevious)?.()
      else begin(false)
    },
    onPointerCancel({ pointerId }: PointerEvent) {
      fingers.current.delete(pointerId)
      begin(false)
    },
  }
  const transform = view.scale === 1 ? undefined : `translate(${view.x}px, ${view.y}px) scale(${view.scale})`
  return { gestures, transform }
}

function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 })
  return { x: sum.x / (points.length || 1), y: sum.y / (points.length || 1) }
}

function spreadOf([a, b]: readonly Point[]): number {
  return a && b ? Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) : 1
}
