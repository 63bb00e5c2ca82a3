import { useEffect, useState } from 'react'

const SETTLED_MS = 300

/** `value` after a pause in its changes, so that not every keystroke calls the hub. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
