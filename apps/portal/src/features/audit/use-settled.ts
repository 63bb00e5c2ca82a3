import { useEffect, useState } from 'react'

const SETTLED_MS = 300

/** `value` once it has not changed for a moment, so that not every keystroke asks the hub. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
