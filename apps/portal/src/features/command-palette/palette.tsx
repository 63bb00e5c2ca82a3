import { TextInput } from '@mantine/core'
import { useRef, useState, type KeyboardEvent } from 'react'
import { Link, useNavigate } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { Dialog } from '@hedgerow/ui/dialog.tsx'
import { SearchIcon } from '@hedgerow/ui/icons.tsx'
import { findDestinations } from './destinations.ts'
import styles from './command-palette.module.css'

/**
 * The list: Enter in the field goes to the first place, the arrows walk the links below it, and Escape leaves. Plain
 * links, so that a middle click opens another tab and a reader hears what they are.
 */
export default function Palette({ onGone }: { onGone: () => void }) {
  const navigate = useNavigate()
  const gateways = useGateways()
  const [opened, setOpened] = useState(true)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const found = findDestinations(text, gateways.data ?? [])

  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const stops = [field.current, ...(list.current?.querySelectorAll('a') ?? [])]
    const at = stops.findIndex((stop) => stop === document.activeElement)
    stops[(at + step + stops.length) % stops.length]?.focus()
  }
  return (
    <Dialog title="Go to" opened={opened} onClose={() => setOpened(false)} onGone={onGone}>
      <div className={styles.palette}>
        <TextInput
          ref={field}
          aria-label="Screen or gateway"
          autoComplete="off"
          spellCheck={false}
          placeholder="Screen or gateway"
          leftSection={<SearchIcon />}
          data-autofocus
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            walk(event)
            const first = found[0]
            if (event.key !== 'Enter' || first === undefined) return
            // Else the same key press would go on to press whatever has the focus once this is closed.
            event.preventDefault()
            setOpened(false)
            void navigate(first.path)
          }}
        />
        <ul ref={list} className={styles.list}>
          {found.map(({ path, name, hint }) => (
            <li key={path}>
              <Link to={path} className={styles.place} onClick={() => setOpened(false)} onKeyDown={walk}>
                <span>{name}</span>
                <span>{hint}</span>
              </Link>
            </li>
          ))}
        </ul>
        <output className={found.length === 0 ? styles.none : 'visually-hidden'}>
          {found.length === 0 ? 'Nothing is called that.' : `${found.length} places`}
        </output>
      </div>
    </Dialog>
  )
}
