/**
 * The only script of the public pages: checks whether the visitor is signed in, plays the film in its place,
 * and plays the drawing of the registration. The pages are complete without it.
 */
import './styles.ts'
import { API_BASE, TOKEN_STORAGE_KEY } from '@hedgerow/contract'
import type { SessionUser } from '@hedgerow/contract'
import { askTwice } from '@hedgerow/ui/ask-twice.ts'
import { validateSession } from 'virtual:contract-calls'

const root = document.documentElement

void recognise()
for (const film of document.querySelectorAll<HTMLElement>('[data-film]')) playInPlace(film)
for (const player of document.querySelectorAll<HTMLElement>('[data-player]')) playWhenSeen(player)

/** Sends signed-in people from the landing page to the dashboard; other pages show them their own header. */
async function recognise(): Promise<void> {
  const token = localStorage.getItem(TOKEN_STORAGE_KEY)
  if (token === null) return
  try {
    const user = await whoHas(token)
    if (location.pathname === '/') return location.replace('/dashboard')
    for (const part of document.querySelectorAll<HTMLElement>('[data-for]'))
      part.hidden = part.dataset['for'] !== 'signed-in'
    for (const field of document.querySelectorAll('[data-field="name"]'))
      field.textContent = user.username || user.email
  } catch (error) {
    console.error('Session validation failed:', error)
    localStorage.removeItem(TOKEN_STORAGE_KEY)
  }
  delete root.dataset['session']
}

async function whoHas(token: string): Promise<SessionUser> {
  const request = async () => {
    const answer = await fetch(`${API_BASE}${validateSession.path}`, {
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
    })
    if (answer.status >= 500) throw new Error(`the hub answers ${answer.status}`)
    return answer
  }
  const answer = await askTwice(request, () => true)
  if (!answer.ok) throw new Error(`the hub answers ${answer.status}`)
  return (await answer.json()) as SessionUser
}

/** Fetches no byte of the video before somebody plays it; until then no controls cover its picture. */
function playInPlace(film: HTMLElement): void {
  const [video, link] = [film.querySelector('video'), film.querySelector<HTMLElement>('[data-play]')]
  link?.addEventListener('click', (event) => {
    if (video === null) return
    event.preventDefault()
    video.hidden = false
    link.hidden = true
    video.focus()
    video.play().catch((error: unknown) => console.error('The film does not play:', error))
  })
}

/** Plays a drawing once when it comes into view, with a button to pause or replay it. */
function playWhenSeen(player: HTMLElement): void {
  const button = player.querySelector<HTMLButtonElement>('[data-player-button]')
  if (button === null || matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const show = (state: 'playing' | 'paused' | 'over') => {
    player.toggleAttribute('data-playing', state !== 'over')
    player.toggleAttribute('data-paused', state === 'paused')
    button.textContent = { playing: 'Pause', paused: 'Play', over: 'Play again' }[state]
  }
  const watch = new IntersectionObserver(
    ([entry]) => {
      if (entry?.isIntersecting !== true) return
      watch.disconnect()
      button.hidden = false
      show('playing')
    },
    { threshold: 0.4 },
  )
  watch.observe(player)
  button.addEventListener('click', () => {
    const isRunning = player.hasAttribute('data-playing') && !player.hasAttribute('data-paused')
    show(isRunning ? 'paused' : 'playing')
  })
  // All its animations end together, so the first end is the end of all.
  player.addEventListener('animationend', () => show('over'))
}
