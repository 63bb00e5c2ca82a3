import { startTransition, useEffect, useRef, useState } from 'react'
import { SearchIcon } from './icons.tsx'
import styles from './search-field.module.css'

type SearchFieldProps = {
  label: string
  /** The initial text. To change the text from outside, give the field another key. */
  initial: string
  onSearch: (text: string) => void
}

/**
 * A search over a long list. A key press first changes and paints only this field; then the list gets the text, and its
 * render can be interrupted by the next key press.
 */
export function SearchField({ label, initial, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(initial)
  const untold = useRef<Untold>({ frame: 0, timer: undefined })
  useEffect(() => {
    const left = untold.current
    return () => cancel(left)
  }, [])
  const change = (next: string) => {
    setText(next)
    cancel(untold.current)
    // A frame's callback runs before its paint, so the list is updated in a task after it.
    untold.current.frame = requestAnimationFrame(() => {
      untold.current.timer = setTimeout(() => startTransition(() => onSearch(next)))
    })
  }
  return (
    <span className={styles.field}>
      <SearchIcon />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </span>
  )
}

type Untold = { frame: number; timer: ReturnType<typeof setTimeout> | undefined }

function cancel({ frame, timer }: Untold): void {
  cancelAnimationFrame(frame)
  clearTimeout(timer)
}
