/** Draws the pages of visitors when the portal is built, so that their forms are there before any script. */
import { renderToString } from 'react-dom/server'
import { App, VISITOR_PAGES, type VisitorPage } from './app.tsx'

const DESCRIPTIONS = {
  login: 'Sign in to this Hedgerow hub: its cameras, what they see, and its alerts.',
  register: 'Create your account on this Hedgerow hub.',
}

export type Drawn = { name: string; title: string; description: string; body: string }

export const drawVisitorPages = (): Drawn[] => (Object.keys(VISITOR_PAGES) as VisitorPage[]).map(draw)

function draw(name: VisitorPage): Drawn {
  const markup = renderToString(<App page={name} />)
  const [title = ''] = /<title>.*?<\/title>/.exec(markup) ?? []
  const description = DESCRIPTIONS[name === 'login' ? name : 'register']
  return { name, title, description, body: markup.replace(title, '') }
}
