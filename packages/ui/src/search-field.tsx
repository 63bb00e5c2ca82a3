import { startTransition, useEffect, useRef, useState } from 'react'
import { SearchIcon } from './icons.tsx'
import styles from './search-field.module.css'

type SearchFieldProps = {
  label: string
  /** What it begins with. To change its text from outside, give it another key. */
  initial: string
  onSearch: (text: string) => void
}

/**
 * A search over a long list. A key changes this field alone and is painted; only after that is the list told, and what
 * the list draws then gives way to the next key.
 */
export function SearchField({ label, initial, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(initial)
  const untold = useRef<Untold>({ frame: 0, timer: undefined })
  useEffect(() => {
    const left = untold.current
    return () => forget(left)
  }, [])
  const change = (next: string) => {
    setText(next)
    forget(untold.current)
    // The next frame's own task comes before its paint, so what follows it waits for a task of its own.
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

function forget({ frame, timer }: Untold): void {
  cancelAnimationFrame(frame)
  clearTimeout(timer)
}
