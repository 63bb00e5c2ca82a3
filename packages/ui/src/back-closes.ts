/**
 * Back and Forward close an open dialog and keep the page open, because people on a phone close a dialog with Back. The
 * browser has already moved when its event arrives (back-first.ts), so this moves it back; the router notices neither
 * move.
 */
import { useEffect, useRef } from 'react'

let open: { place: number; close: () => void } | undefined
let returningTo: number | undefined

/** The router's number of a history entry. */
function placeOf(state: unknown): number | undefined {
  const idx = typeof state === 'object' && state !== null && 'idx' in state ? state.idx : undefined
  return typeof idx === 'number' ? idx : undefined
}

window.addEventListener('hub:back', (event) => {
  const there = event instanceof CustomEvent ? placeOf(event.detail) : undefined
  if (there === undefined) return
  if (there === returningTo) returningTo = undefined
  else if (open === undefined) return
  else {
    returningTo = open.place
    history.go(open.place - there)
    open.close()
  }
  event.preventDefault()
})

export function useBackCloses(opened: boolean, close: () => void): void {
  const latest = useRef(close)
  useEffect(() => {
    latest.current = close
  })
  useEffect(() => {
    const place = placeOf(history.state)
    if (!opened || place === undefined) return undefined
    const mine = { place, close: () => latest.current() }
    open = mine
    return () => {
      if (open === mine) open = undefined
    }
  }, [opened])
}
