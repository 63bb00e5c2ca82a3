/**
 * Back (and Forward) close an open dialog and leave the page: on a phone that is how people leave a dialog. The browser
 * has moved by the time it says so (back-first.ts), so it is sent back to where it was; the router hears of neither
 * move.
 */
import { useEffect, useRef } from 'react'

let open: { place: number; close: () => void } | undefined
let returningTo: number | undefined

/** Where an entry of the history stands, as the router numbers them. */
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
