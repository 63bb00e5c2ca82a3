import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import fastifyStatic from '@fastify/static'
import { API_BASE, type HubSettings } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { answerUnknownRoute } from './errors.ts'
import { pagePolicy } from './security-headers.ts'
import { ownOrigin, readSite } from './site.ts'

const PORTAL = 'index.html'
const LOGIN = 'login.html'
const REGISTER = { invited: 'register.html', open: 'register-open.html', closed: 'register-closed.html' }
/** Made by the build: the paths of the portal's screens, with parameters such as `:id`. */
const PORTAL_PATHS = 'portal-paths.json'

/** A public page loads only its own files and calls only its own hub, never gateways. */
const PUBLIC_POLICY = pagePolicy({ handoverSources: [], directHealthCheck: false })

/** The folders of the built portal and of the built public pages. */
export type WebFolders = { webDir: string; siteDir: string }

/** Whether both are built. */
export function isWebBuilt({ webDir, siteDir }: WebFolders): boolean {
  return existsSync(join(webDir, PORTAL_PATHS)) && existsSync(join(siteDir, 'landing.html'))
}

/** The hub's settings on which its pages depend: their policy, and the form of the registration. */
export type PageSettings = Pick<HubSettings, 'directHealthCheck' | 'openRegistration' | 'inviteCodeRequired'>

/** Pages are served even when the database is unavailable. */
const UNKNOWN: PageSettings = { directHealthCheck: false, openRegistration: true, inviteCodeRequired: true }

/**
 * Serves the built portal and the public pages: files as they are, the public pages at their addresses, the portal's
 * sign-in and registration with their forms in them, and its one page for every other screen. Files under assets/ have
 * a hash in their names, so browsers cache them; other files are revalidated each time.
 */
export async function serveWeb(
  app: FastifyInstance,
  options: WebFolders & {
    publicUrl: string | undefined
    /** The address that visitors may write to. */
    contact: () => Promise<string | undefined>
    handoverSources: (host: string | undefined, isTls: boolean) => string[]
    /** Read for each page. */
    settings: () => Promise<PageSettings>
  },
): Promise<void> {
  const site = readSite(options.siteDir)
  const isScreen = screenTest(JSON.parse(readFileSync(join(options.webDir, PORTAL_PATHS), 'utf8')) as string[])
  const folders = [options.webDir, options.siteDir]
  await app.register(fastifyStatic, {
    root: folders,
    serve: false,
    cacheControl: false,
    dotfiles: 'ignore',
    preCompressed: true,
    setHeaders: (reply, path) => {
      const hashed = folders.some((folder) => relative(folder, path).startsWith('assets'))
      reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  app.route<{ Params: { '*': string } }>({
    method: ['GET', 'HEAD'],
    url: '/*',
    handler: async (request, reply) => {
      const path = withoutLastSlashes(request.params['*'])
      if (`/${path}/`.startsWith(`${API_BASE}/`)) return answerUnknownRoute(request, reply)
      if (isScreen(path)) {
        const settings = await options.settings().catch(() => UNKNOWN)
        const { directHealthCheck } = settings
        const handoverSources = options.handoverSources(request.headers.host, 'encrypted' in request.raw.socket)
        reply.header('content-security-policy', pagePolicy({ handoverSources, directHealthCheck }))
        return reply.sendFile(fileOf(path, settings))
      }
      const origin = ownOrigin(options.publicUrl, request)
      reply.header('content-security-policy', PUBLIC_POLICY).header('cache-control', 'no-cache')
      if (path === 'robots.txt') return reply.type('text/plain; charset=utf-8').send(site.robots(origin))
      if (path === 'sitemap.xml') return reply.type('application/xml; charset=utf-8').send(site.sitemap(origin))
      if (path.includes('.', path.lastIndexOf('/') + 1) && !path.endsWith('.html')) return reply.sendFile(path)
      reply.type('text/html; charset=utf-8')
      if (path === '') return reply.send(site.page('landing', origin))
      if (path !== 'beta') return reply.code(404).send(site.page('not-found', origin))
      const contact = await options.contact().catch(() => undefined)
      if (contact !== undefined) return reply.send(site.page('beta', origin, contact))
      const { openRegistration } = await options.settings().catch(() => UNKNOWN)
      return reply.send(site.page(openRegistration ? 'beta-register' : 'beta-sign-in', origin))
    },
  })
}

/** The file for a screen's path; the registration's form has a field for the invite code only when it is required. */
function fileOf(path: string, { openRegistration, inviteCodeRequired }: PageSettings): string {
  if (path === 'login') return LOGIN
  if (path !== 'register') return PORTAL
  if (!openRegistration) return REGISTER.closed
  return inviteCodeRequired ? REGISTER.invited : REGISTER.open
}

/** Returns a test whether a path without its first slash is a screen's; `paths` are patterns of the portal's router. */
export function screenTest(paths: readonly string[]): (path: string) => boolean {
  const patterns = paths.map((path) => new RegExp(`^${path.slice(1).replaceAll(/:\w+/g, '[^/]+')}$`))
  return (path) => patterns.some((pattern) => pattern.test(path))
}

/** Not a regular expression, which would take quadratic time over many slashes in the middle. */
function withoutLastSlashes(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  return path.slice(0, end)
}
