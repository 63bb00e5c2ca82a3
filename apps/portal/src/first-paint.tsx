/**
 * What visitors see at /login and /register while the script loads: the frame and the heading of the page, rendered
 * when the portal is built. main.tsx imports its stylesheets.
 */
import { renderToStaticMarkup } from 'react-dom/server'
import { EntranceFrame, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { LOGIN_HEAD } from './features/sign-in/messages.ts'
import { REGISTER_HEAD } from './features/register/messages.ts'

const HEADS = [
  ['login', LOGIN_HEAD],
  ['register', REGISTER_HEAD],
] as const

export function renderFirstPaint(): string {
  const markup = renderToStaticMarkup(
    <div id="first-paint" aria-hidden="true" inert>
      {HEADS.map(([page, { title, lead }]) => (
        <div key={page} data-at={page}>
          <EntranceFrame home="/">
            <EntranceHead title={title}>{lead}</EntranceHead>
            <div data-room={page} />
          </EntranceFrame>
        </div>
      ))}
    </div>,
  )
  // The real page brings the level-one heading and the main landmark.
  return markup
    .replaceAll('<h1', '<div data-heading')
    .replaceAll('</h1>', '</div>')
    .replaceAll(/<(\/?)(?:main|header)\b/g, '<$1div')
}
