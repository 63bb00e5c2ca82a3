import { useEffect, useLayoutEffect, useRef } from 'react'

/** Handlers by `KeyboardEvent.key`; one that returns false leaves the key to the browser. */
export type Keys = Readonly<Record<string, () => boolean | void>>

/**
 * Keys of a screen. They are ignored while a person types or seeks in a clip, with a modifier, and in dialogs other
 * than `within`.
 */
export function useKeys(keys: Keys, mayAct: () => boolean): void {
  const latest = useRef({ keys, mayAct })
  // Before the screen shows another incident, so that a quick key is about the one that the person sees.
  useLayoutEffect(() => {
    latest.current = { keys, mayAct }
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const act = latest.current.keys[event.key]
      if (!act || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !latest.current.mayAct())
        return
      if (act() !== false) event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select, video') !== null
}
