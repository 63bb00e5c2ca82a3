import { useEffect, useRef, type KeyboardEvent, type PointerEvent } from 'react'
import { insertCorner, middleOf, moveCorner, removeCorner, type Corner, type Polygon } from './polygon.ts'
import styles from './stage.module.css'

type HandlesProps = {
  /** The shape's name, for the names of the corners. */
  label: string
  polygon: Polygon
  /** The index of the corner that the person last used. */
  chosen: number | undefined
  onChoose: (index: number) => void
  /** `goesOn`: the same corner is still being dragged, or moved by a key that is held. */
  onChange: (polygon: Polygon, goesOn: boolean) => void
}

const STEP = 0.01
const LONG_STEP = 0.05
const DIRECTIONS: Readonly<Record<string, Corner>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The corners of a polygon as buttons over the picture: chosen, dragged, moved by arrow keys, removed by Delete. */
export function Handles({ label, polygon, chosen, onChoose, onChange }: HandlesProps) {
  const corners = useRef<(HTMLButtonElement | null)[]>([])
  const focusNext = useRef<number>(undefined)
  const isDragging = useRef(false)
  useEffect(() => {
    if (focusNext.current !== undefined) corners.current[focusNext.current]?.focus()
    focusNext.current = undefined
  })

  function drag(event: PointerEvent<HTMLButtonElement>, index: number): void {
    const handle = event.currentTarget
    const area = handle.parentElement?.getBoundingClientRect()
    if (!handle.hasPointerCapture(event.pointerId) || !area || area.width === 0) return
    const to: Corner = [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height]
    onChange(moveCorner(polygon, index, to), isDragging.current)
    isDragging.current = true
  }

  function onKey(event: KeyboardEvent, index: number): void {
    const direction = DIRECTIONS[event.key]
    const [x, y] = polygon[index]!
    if (direction) {
      event.preventDefault()
      onChoose(index)
      const step = event.shiftKey ? LONG_STEP : STEP
      onChange(moveCorner(polygon, index, [x + direction[0] * step, y + direction[1] * step]), event.repeat)
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      remove(index)
    }
  }

  function remove(index: number): void {
    const rest = removeCorner(polygon, index)
    if (rest === polygon) return
    focusNext.current = Math.min(index, rest.length - 1)
    onChoose(focusNext.current)
    onChange(rest, false)
  }

  return (
    <fieldset className={styles.handles} aria-label={`Corners of ${label}`}>
      {polygon.map((corner, index) => (
        <button
          // A corner is identified by its place in the list.
          key={index}
          ref={(button) => {
            corners.current[index] = button
          }}
          type="button"
          className={styles.corner}
          style={placeOf(corner)}
          aria-pressed={index === chosen}
          aria-label={
            `Corner ${index + 1} of ${polygon.length}, ${percent(corner[0])} from the left, ${percent(corner[1])} ` +
            'from the top'
          }
          onKeyDown={(event) => onKey(event, index)}
          onClick={() => onChoose(index)}
          onPointerDown={(event) => {
            onChoose(index)
            isDragging.current = false
            event.currentTarget.setPointerCapture(event.pointerId)
          }}
          onPointerMove={(event) => drag(event, index)}
        />
      ))}
      {polygon.map((_corner, index) => (
        <button
          key={index}
          type="button"
          className={styles.middle}
          style={placeOf(middleOf(polygon, index))}
          aria-label={`Add a corner after corner ${index + 1}`}
          onClick={() => {
            focusNext.current = index + 1
            onChoose(index + 1)
            onChange(insertCorner(polygon, index), false)
          }}
        >
          +
        </button>
      ))}
    </fieldset>
  )
}

const placeOf = ([x, y]: Corner) => ({ left: `${x * 100}%`, top: `${y * 100}%` })
const percent = (share: number) => `${Math.round(share * 100)} %`
