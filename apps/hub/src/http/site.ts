/**
 * The built public pages: landing, beta programme, and the not-found page. Each was rendered at build time; values that
 * only this hub knows are placeholders in them, which each answer replaces, escaped. Called by web.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_BASE } from '@hedgerow/contract'
import type { FastifyRequest } from 'fastify'

/** The placeholders in the pages of apps/public/src for this hub's own values. */
const ORIGIN_MARK = 'https://hub.invalid'
const CONTACT_MARK = 'contact@hub.invalid'

const PAGES = ['landing', 'beta', 'beta-register', 'beta-sign-in', 'not-found'] as const
type SitePage = (typeof PAGES)[number]

export type Site = {
  /** The HTML of a page for a visitor of `origin`. The page `beta` needs a `contact`. */
  page(name: SitePage, origin: string, contact?: string): string
  robots(origin: string): string
  sitemap(origin: string): string
}

export function readSite(dir: string): Site {
  const pages = new Map(PAGES.map((name) => [name, readFileSync(join(dir, `${name}.html`), 'utf8')]))
  return {
    page: (name, origin, contact = '') =>
      pages
        .get(name)!
        .replaceAll(ORIGIN_MARK, () => escape(origin))
        .replaceAll(`mailto:${CONTACT_MARK}`, () => `mailto:${encodeURIComponent(contact).replace('%40', '@')}`)
        .replaceAll(CONTACT_MARK, () => escape(contact)),
    robots: (origin) => `User-agent: *\nDisallow: ${API_BASE}/\nDisallow: /proxy/\n\nSitemap: ${origin}/sitemap.xml\n`,
    sitemap: (origin) => {
      const urls = ['/', '/beta'].map((path) => `<url><loc>${escape(origin + path)}</loc></url>`)
      return (
        `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ` +
        `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`
      )
    },
  }
}

/** A name or address and perhaps a port, without characters of HTML, XML or robots.txt. */
const AUTHORITY = /^([a-z0-9_]([a-z0-9._-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i

/** This hub's origin for search engines: the configured one, else the request's. */
export function ownOrigin(publicUrl: string | undefined, { host, raw }: FastifyRequest): string {
  if (publicUrl !== undefined) return publicUrl
  const scheme = 'encrypted' in raw.socket ? 'https' : 'http'
  return AUTHORITY.test(host) ? `${scheme}://${host}` : `${scheme}://localhost`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
