import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { login } from '@hedgerow/contract'
import type { Page } from 'playwright-core'
import { admit } from '../harness/approval.ts'
import { startAgent, type Agent } from '../harness/agent.ts'
import { startBrowser } from '../harness/browser.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { applicationsOf } from '../harness/gateway-ui-client.ts'
import { startHub, type Hub } from '../harness/hub.ts'

/** A hub, an agent in its tunnel, both processes of their own, and a browser. */
export type FaithfulSite = {
  hub: Hub
  agent: Agent
  /** Opens an application as a person whom the hub has let in, in a fresh profile. */
  show(application: string, over?: 'http' | 'https'): Promise<Page>
}

/** `applications` is the part of gateway.yaml: names and addresses. */
export async function openFaithfulSite(
  applications: Record<string, string>,
  life: AsyncDisposableStack,
): Promise<FaithfulSite> {
  const httpsPort = await freeTcpPort()
  const hub = await startHub({ env: { HUB_LOG_LEVEL: 'warn', HUB_HTTPS_PORT: String(httpsPort) } })
  life.defer(async () => void (await hub.stop()))
  const dataDir = await temporaryFolder(life)
  const file = { applications: Object.fromEntries(Object.entries(applications).map(([name, url]) => [name, { url }])) }
  await writeFile(join(dataDir, 'gateway.yaml'), JSON.stringify(file))
  const agent = await startAgent(dataDir, { args: ['--hub', hub.url, '--name', 'Orchard'] })
  life.defer(agent.stop)
  const id = await admit(hub)
  await applicationsOf(hub.api, id)
  const browser = await startBrowser()
  life.defer(browser.close)
  const signedIn = await hub.visitor(login, { body: hub.admin })
  if (!('accessToken' in signedIn)) throw new Error('a second factor is requested')

  return {
    hub,
    agent,
    async show(application, over = 'http') {
      const viewport = { width: 1280, height: 800 }
      const person = await browser.person({ serviceWorkers: 'allow', ignoreHTTPSErrors: true, viewport })
      life.defer(() => person.close())
      const page = await person.newPage()
      // Like the portal's Connect: a page of the hub gets a ticket and posts it to the application's origin.
      const own = over === 'https' ? `https://localhost:${httpsPort}` : hub.url
      await page.route(`${own}/connect`, (route) => route.fulfill({ contentType: 'text/html', body: 'Connect' }))
      await page.goto(`${own}/connect`)
      const origin = await page.evaluate(connect, { id, application, token: signedIn.accessToken })
      await page.waitForURL(`${origin}/**`, { waitUntil: 'commit' })
      return page
    },
  }
}

/** Runs in a page of the hub. Returns the application's origin, which the browser is opening. */
async function connect({ id, application, token }: { id: string; application: string; token: string }) {
  const call = `/api/v1/gateway/${id}/ui-ticket?application=${application}`
  const answer = await fetch(call, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const { action, ticket } = (await answer.json()) as { action: string; ticket: string }
  const form = Object.assign(document.createElement('form'), { method: 'post', action })
  form.append(Object.assign(document.createElement('input'), { name: 'ticket', value: ticket }))
  document.body.append(form)
  form.submit()
  return new URL(action).origin
}

export async function temporaryFolder(life: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-faithful-'))
  life.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Installs npm packages once into a folder that later runs use again; FAITHFUL_DIR is another place for it. `finish`
 * does what the packages' own scripts would do, which then do not run.
 */
export async function installed(
  name: string,
  packages: readonly string[],
  finish?: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(process.env['FAITHFUL_DIR'] ?? join(homedir(), '.cache/hedgerow-faithful'), name)
  await mkdir(folder, { recursive: true })
  const done = join(folder, 'installed')
  const wanted = packages.join(' ')
  if ((await readFile(done, 'utf8').catch(() => '')) === wanted) return folder
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const options = ['--no-audit', '--no-fund', '--save-exact', ...(finish ? ['--ignore-scripts'] : [])]
  await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: folder })
  await finish?.(folder)
  await writeFile(done, wanted)
  return folder
}

/** Resident memory of a process in MB (proc_pid_status(5)). */
export async function megabytesOf(pid: number): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1_000)
}
