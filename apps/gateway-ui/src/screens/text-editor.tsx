/** The editor of gateway.yaml: a chunk of its own, because CodeMirror is as large as the rest of the interface. */
import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, nextDiagnostic, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { EditorState, type Text } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useImperativeHandle, useRef, type Ref } from 'react'
import type { DeviceFileError } from '@hedgerow/contract/device-interface'
import { createCompletion, type Names, type Schema } from '../parts/completion.ts'
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
  errors: readonly DeviceFileError[]
  warnings: readonly DeviceFileError[]
  /** What the file may hold. */
  schema: Schema
  /** Names of the device that the file need not hold. */
  names: Names
}

/** Enter keeps the indentation; Tab leaves the editor, as everywhere. */
export default function TextEditor({ ref, label, text, onChange, errors, warnings, schema, names }: TextEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const read = useEffectEvent(() => ({ label, text, schema }))
  const changed = useEffectEvent(onChange)
  const namesNow = useEffectEvent(() => names)

  useEffect(() => {
    const { label: name, text: doc, schema: known } = read()
    const element = host.current!
    // In a shadow root CodeMirror's styles are a sheet of its own: the page's policy allows no `style` element.
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc,
        extensions: [
          EditorState.lineSeparator.of(doc.includes('\r\n') ? '\r\n' : '\n'),
          lineNumbers(),
          lintGutter(),
          history(),
          highlightActiveLine(),
          yaml(),
          syntaxHighlighting(colours),
          autocompletion({ override: [createCompletion(known, namesNow)], icons: false }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, { key: 'F8', run: nextDiagnostic }]),
          EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' }),
          EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed(state.sliceDoc())),
          theme,
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  /** Another text than the one that is typed: the file was loaded again, or changes were undone. */
  useEffect(() => {
    const { state } = view.current!
    if (state.sliceDoc() !== text) view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } })
  }, [text])

  useEffect(() => {
    const { state } = view.current!
    const found = [
      ...errors.map((error) => diagnosticOf(error, 'error', state.doc)),
      ...warnings.map((warning) => diagnosticOf(warning, 'warning', state.doc)),
    ]
    view.current!.dispatch(setDiagnostics(state, found))
  }, [errors, warnings])

  useImperativeHandle(ref, () => ({
    goTo(place) {
      const editor = view.current!
      editor.dispatch({ selection: { anchor: offsetOf(place, editor.state.doc) }, scrollIntoView: true })
      editor.focus()
    },
  }))

  return <div ref={host} className={styles.editor} />
}

/** The text may have changed since it was checked. */
function offsetOf({ line, column }: { line: number; column: number }, text: Text): number {
  const { from, to } = text.line(Math.min(line, text.lines))
  return Math.min(from + column - 1, to)
}

function diagnosticOf(found: DeviceFileError, severity: Diagnostic['severity'], text: Text): Diagnostic {
  const from = offsetOf(found, text)
  const rest = text.sliceString(from, text.lineAt(from).to)
  const [word = ''] = /^(?:"[^"]*"|'[^']*'|[^\s,[\]{}:]+)/.exec(rest) ?? []
  return { from, to: from + (word.length || Math.min(1, rest.length)), severity, message: found.message }
}

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--brand)' },
  { tag: tags.string, color: 'var(--warning)' },
  { tag: [tags.comment, tags.punctuation, tags.separator, tags.bracket], color: 'var(--muted)' },
  { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: 'var(--danger)' },
])

const TYPE = { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: 1.55 }
const MARKED = { fontWeight: 640 }

const theme = EditorView.theme({
  '&': { height: 'min(62vh, 640px)', background: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': TYPE,
  '.cm-content': { caretColor: 'var(--ink)', padding: '10px 0' },
  '.cm-gutters': { background: 'var(--sunken)', color: 'var(--muted)', border: '0' },
  '.cm-activeLine': { background: 'transparent', boxShadow: 'inset 0 0 0 1px var(--line)' },
  '.cm-tooltip': {
    background: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    boxShadow: 'var(--lift)',
    maxWidth: 'min(460px, 86vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { ...TYPE, maxWidth: '86vw' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--brand-wash)', color: 'var(--ink)' },
  '.cm-completionMatchedText': { textDecoration: 'none', ...MARKED },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
  '.cm-completionInfo': { padding: '8px 10px', fontFamily: 'var(--mantine-font-family)' },
  // A phone has no room beside the list.
  '.cm-completionInfo-left-narrow, .cm-completionInfo-right-narrow': {
    inset: '100% 0 auto 0 !important',
    margin: '4px 0 0',
  },
  '.cm-diagnostic': { fontFamily: 'var(--mantine-font-family)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warning)' },
})
