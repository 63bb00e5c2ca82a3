/**
 * The public site: the landing page, the beta page and the page for unknown addresses. The build renders these
 * components once; only visit.ts runs in a browser, and nothing of the portal may be imported.
 */
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { BETA_TITLE, BetaPage } from './beta.tsx'
import { LANDING_TITLE, LandingPage } from './landing.tsx'
import { NOT_FOUND_TITLE, NotFoundPage } from './not-found.tsx'

/** Placeholder for this hub's own address; apps/hub/src/http/site.ts fills it in when it serves the page. */
const ORIGIN_MARK = 'https://hub.invalid'

type Page = { title: string; description: string; path: string | undefined; content: ReactNode }

/** `hasDemo`: whether the recorded demo is among the public files. */
export function renderPage(name: string, options: { hasDemo: boolean }): { head: string; body: string } {
  const { title, description, path, content } = pageOf(name, options)
  return {
    head: renderToStaticMarkup(
      <>
        <title>{title}</title>
        <meta name="description" content={description} />
        {path === undefined ? (
          <meta name="robots" content="noindex" />
        ) : (
          <>
            <link rel="canonical" href={`${ORIGIN_MARK}${path}`} />
            <meta property="og:type" content="website" />
            <meta property="og:site_name" content="Hedgerow" />
            <meta property="og:title" content={title} />
            <meta property="og:description" content={description} />
            <meta property="og:url" content={`${ORIGIN_MARK}${path}`} />
            <meta property="og:image" content={`${ORIGIN_MARK}/og.png`} />
            <meta property="og:image:width" content="1200" />
            <meta property="og:image:height" content="630" />
            <meta
              property="og:image:alt"
              content="A camera frame at night: a deer between rows of trees, in an amber bracket"
            />
            <meta name="twitter:card" content="summary_large_image" />
          </>
        )}
      </>,
    ),
    body: renderToStaticMarkup(content),
  }
}

function pageOf(name: string, { hasDemo }: { hasDemo: boolean }): Page {
  switch (name) {
    case 'landing':
      return {
        title: LANDING_TITLE,
        description:
          'Approve, watch and open the camera gateways at the edges of your land, from one hub that runs on your ' +
          'own machine.',
        path: '/',
        content: <LandingPage hasDemo={hasDemo} />,
      }
    case 'beta':
    case 'beta-register':
    case 'beta-sign-in':
      return {
        title: BETA_TITLE,
        description: 'What testers of Hedgerow get, what works today, what comes next, and the hardware to buy.',
        path: '/beta',
        content: <BetaPage action={name === 'beta' ? 'write' : name === 'beta-register' ? 'register' : 'sign-in'} />,
      }
    default:
      return {
        title: NOT_FOUND_TITLE,
        description: 'There is no page here.',
        path: undefined,
        content: <NotFoundPage />,
      }
  }
}
