import { Button } from '@mantine/core'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

const HOLD_MS = 1_000

/** A button that acts only after it was held down for a second, by pointer or by the space or Enter key. */
export function HoldButton({ children, disabled, onHeld, 'aria-describedby': describedBy }: Props) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [held, setHeld] = useState(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  const end = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    setHeld(false)
  }
  const begin = () => {
    if (disabled || timer.current !== undefined) return
    setHeld(true)
    timer.current = setTimeout(() => {
      end()
      onHeld()
    }, HOLD_MS)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== ' ' && event.key !== 'Enter') return
    event.preventDefault()
    begin()
  }
  return (
    <Button
      variant="default"
      size="sm"
      disabled={disabled}
      aria-describedby={describedBy}
      onPointerDown={begin}
      onPointerUp={end}
      onPointerLeave={end}
      onPointerCancel={end}
      onKeyDown={onKeyDown}
      onKeyUp={end}
      onBlur={end}
      onContextMenu={(event) => event.preventDefault()}
    >
      {held ? 'Keep holding' : children}
    </Button>
  )
}
type Props = { children: ReactNode; disabled: boolean; onHeld: () => void; 'aria-describedby'?: string | undefined }
