import { TextInput, useMantineColorScheme } from '@mantine/core'
import { useRef, useState, type KeyboardEvent } from 'react'
import { Link, useNavigate } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useSession, useUser } from '#api/session.tsx'
import { useUsers } from '#api/users.ts'
import { Dialog } from '@hedgerow/ui/dialog.tsx'
import { SearchIcon } from '@hedgerow/ui/icons.tsx'
import { findDestinations, type Destination } from './destinations.ts'
import styles from './command-palette.module.css'

/**
 * The list: Enter in the field opens the first match, the arrows move through the matches below it, and Escape closes
 * it. Plain links, so that a middle click opens another tab and a screen reader names them.
 */
export default function Palette({ onGone }: { onGone: () => void }) {
  const navigate = useNavigate()
  const { role } = useUser()
  const { signOut } = useSession()
  const { setColorScheme } = useMantineColorScheme()
  const gateways = useGateways()
  const users = useUsers(mayManageFleet(role))
  const [opened, setOpened] = useState(true)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const found = findDestinations(text, { role, gateways: gateways.data ?? [], users: users.data ?? [] })

  const open = (destination: Destination) => {
    setOpened(false)
    if ('path' in destination) void navigate(destination.path)
    else if (destination.command === 'logout') void signOut()
    else setColorScheme(destination.command)
  }

  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const stops = [field.current, ...(list.current?.querySelectorAll<HTMLElement>('a, button') ?? [])]
    const at = stops.findIndex((stop) => stop === document.activeElement)
    stops[(at + step + stops.length) % stops.length]?.focus()
  }
  return (
    <Dialog title="Go to" opened={opened} onClose={() => setOpened(false)} onGone={onGone}>
      <div className={styles.palette}>
        <TextInput
          ref={field}
          aria-label="Search the hub"
          autoComplete="off"
          spellCheck={false}
          placeholder="Screen, action, setting, gateway or user"
          leftSection={<SearchIcon />}
          data-autofocus
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            walk(event)
            const first = found[0]
            if (event.key !== 'Enter' || first === undefined) return
            // Otherwise the same key press would activate the element that gets the focus when this closes.
            event.preventDefault()
            open(first)
          }}
        />
        <ul ref={list} className={styles.list}>
          {found.map((destination) => {
            const words = (
              <>
                <span>{destination.name}</span>
                <span>{destination.hint}</span>
              </>
            )
            return (
              <li key={`${destination.name} ${'path' in destination ? destination.path : destination.command}`}>
                {'path' in destination ? (
                  <Link
                    to={destination.path}
                    className={styles.place}
                    onClick={() => setOpened(false)}
                    onKeyDown={walk}
                  >
                    {words}
                  </Link>
                ) : (
                  <button type="button" className={styles.place} onClick={() => open(destination)} onKeyDown={walk}>
                    {words}
                  </button>
                )}
              </li>
            )
          })}
        </ul>
        <output className={found.length === 0 ? styles.none : 'visually-hidden'}>
          {found.length === 0 ? 'Nothing matches.' : found.length === 1 ? '1 match' : `${found.length} matches`}
        </output>
      </div>
    </Dialog>
  )
}
