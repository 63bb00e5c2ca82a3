import { useImperativeHandle, useRef, type KeyboardEvent, type Ref } from 'react'
import styles from './text-editor.module.css'

export type TextEditorHandle = {
  /** Moves the cursor to a line and column, which count from 1. */
  goTo(place: { line: number; column: number }): void
}

type TextEditorProps = {
  ref: Ref<TextEditorHandle>
  label: string
  text: string
  onChange: (text: string) => void
  /** Lines that are marked in the margin. */
  errorLines: ReadonlySet<number>
}

/** Plain text with line numbers. Enter keeps the indentation; Tab leaves the field, as everywhere. */
export function TextEditor({ ref, label, text, onChange, errorLines }: TextEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const margin = useRef<HTMLDivElement>(null)
  useImperativeHandle(ref, () => ({
    goTo({ line, column }) {
      const area = field.current
      if (area === null) return
      const before = text.split('\n').slice(0, line - 1)
      const at = before.reduce((length, each) => length + each.length + 1, 0) + column - 1
      area.focus()
      area.setSelectionRange(at, at)
      const lineHeight = area.scrollHeight / text.split('\n').length
      area.scrollTop = Math.max(0, (line - 4) * lineHeight)
    },
  }))

  function indent(event: KeyboardEvent<HTMLTextAreaElement>): void {
    const area = event.currentTarget
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || area.selectionStart !== area.selectionEnd) return
    const lineStart = text.lastIndexOf('\n', area.selectionStart - 1) + 1
    const [spaces = ''] = /^ */.exec(text.slice(lineStart, area.selectionStart)) ?? []
    if (spaces === '') return
    event.preventDefault()
    area.setRangeText(`\n${spaces}`, area.selectionStart, area.selectionEnd, 'end')
    onChange(area.value)
  }

  return (
    <div className={styles.editor}>
      <div ref={margin} className={styles.margin} aria-hidden="true">
        {text.split('\n').map((_line, index) => (
          <span key={index} data-error={errorLines.has(index + 1)}>
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={field}
        className={styles.text}
        aria-label={label}
        aria-invalid={errorLines.size > 0}
        value={text}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        wrap="off"
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={indent}
        onScroll={(event) => {
          if (margin.current !== null) margin.current.scrollTop = event.currentTarget.scrollTop
        }}
      />
    </div>
  )
}
