import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = join(ROOT, 'docs/how-to-add.md')
const page = readFileSync(PAGE, 'utf8')
const HUB = 'apps/hub/src'
const GATEWAY = 'apps/gateway/src'
const CONTRACT = 'packages/contract'
const CSV_FILE = 'apps/portal/src/features/gateways/list/csv.ts'
const AUDIT_SCREEN = 'apps/portal/src/features/audit'

it('names existing files', () => {
  const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link!)
  expect(links.length).toBeGreaterThan(12)
  for (const link of links) expect(existsSync(join(dirname(PAGE), link)), link).toBe(true)
})

describe('a change of the files that the page names', () => {
  let copy: string
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'how-to-add-'))
    const programs = [HUB, 'apps/hub/package.json', GATEWAY, 'apps/gateway/package.json']
    for (const folder of [...programs, AUDIT_SCREEN, CSV_FILE, CONTRACT, 'package.json'])
      cpSync(join(ROOT, folder), join(copy, folder), {
        recursive: true,
        filter: (path) => !/node_modules|\/dist\b/.test(path),
      })
    linkPackages('node_modules', '@hedgerow')
    linkPackages('node_modules/@hedgerow', 'contract')
    symlinkSync(join(copy, CONTRACT), join(copy, 'node_modules/@hedgerow/contract'))
    execFileSync('git', ['init', '--quiet'], { cwd: copy })
    execFileSync('git', ['add', '--all'], { cwd: copy })
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  function linkPackages(folder: string, except: string) {
    mkdirSync(join(copy, folder))
    for (const name of readdirSync(join(ROOT, folder)))
      if (name !== except) symlinkSync(join(ROOT, folder, name), join(copy, folder, name))
  }

  function change(file: string, content: (before: string) => string) {
    const path = join(copy, file)
    writeFileSync(path, content(existsSync(path) ? readFileSync(path, 'utf8') : ''))
  }

  /** Makes the change, queries the changed hub, and restores the copy; returns the answer and the touched files. */
  function changed(file: string, content: (before: string) => string, question: string, app = HUB) {
    change(file, content)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: copy, encoding: 'utf8' })
    const touched = git('ls-files', '--modified', '--others', '--exclude-standard', '--exclude=node_modules')
    const script = join(copy, app, 'question.ts')
    writeFileSync(script, question)
    const answer = execFileSync(process.execPath, [script], { cwd: copy, encoding: 'utf8' }).trim()
    rmSync(script)
    git('checkout', '--quiet', '.')
    git('clean', '--quiet', '-fd', '--exclude=node_modules')
    return { answer, touched: touched.trim().split('\n') }
  }

  it('adds an audit sentence', () => {
    const file = `${CONTRACT}/src/audit-answers.ts`
    const { answer, touched } = changed(
      file,
      (before) =>
        before
          .replace(
            /'gateway\.status-changed': \{[^}]+\}/,
            "'gateway.status-changed': { action: 'gateway.change-status' }",
          )
          .replace(
            'export const auditWords = {',
            `$&
              'gateway.change-status': { done: 'saw a new status of', target: 'gateway' },`,
          ),
      `import { audit } from './followers/audit.ts'
       import { sentenceOf } from '../../portal/src/features/audit/sentences.ts'
       const entry = { actor: 'hub', action: 'gateway.change-status', target: 'Barn',
         subject: null, result: 'ok', reason: null }
       const { actor, words, target } = sentenceOf(entry, { gateways: [], users: [] })
       console.log(audit.kinds.includes('gateway.status-changed'), actor.text, words, target.text)`,
    )
    expect(touched).toEqual([file])
    expect(answer).toBe('true The hub saw a new status of Barn')
  })

  it('adds a cache', () => {
    const file = `${HUB}/dashboard/site-count.ts`
    const { answer, touched } = changed(
      file,
      () => `import { cachedRead } from '../facts/cached-read.ts'
        let reads = 0
        export const createSiteCount = (db: Parameters<typeof cachedRead>[0]) =>
          cachedRead(db, { name: 'site-count', kinds: ['gateway.added'] }, async () => ++reads)`,
      `import { pino } from 'pino'
       import { createSiteCount } from './dashboard/site-count.ts'
       import { openDatabase } from './database/database.ts'
       import { openRecords } from './followers/followers.ts'
       import { HUB, record } from './facts/facts.ts'
       const { db, close } = await openDatabase({ url: 'sqlite:' + import.meta.dirname + '/question.sqlite' })
       openRecords(db, { log: pino({ level: 'silent' }) })
       const count = createSiteCount(db)
       const counts = [await count(), await count()]
       await record(db, { kind: 'gateway.added', at: 1, actor: HUB, data: { name: 'Barn' } })
       counts.push(await count())
       await record(db, { kind: 'gateway.edited', at: 2, actor: HUB, data: { name: 'Barn' } })
       console.log(counts.join(' '), await count())
       await close()`,
    )
    expect(touched).toEqual([file])
    expect(answer).toBe('1 1 2 2')
  })

  it('adds a notification channel', () => {
    const file = `${HUB}/notifications/channels/pager.ts`
    const { answer, touched } = changed(
      file,
      () =>
        readFileSync(join(ROOT, `${HUB}/notifications/channels/webhook.ts`), 'utf8')
          .replaceAll('HUB_WEBHOOK', 'HUB_PAGER')
          .replace("name: 'webhook'", "name: 'pager'"),
      `import { readConfig } from './read-config.ts'
       import { channelTypes } from './notifications/channels.ts'
       const { notifications } = readConfig({ HUB_PAGER_URL: 'https://example.net', HUB_PAGER_SECRET: 'x'.repeat(16) })
       console.log(channelTypes.map(({ name }) => name).join(' '), notifications['pager'].url)`,
    )
    expect(touched).toEqual([file])
    expect(answer).toBe('email mqtt ntfy pager person push pushover telegram webhook https://example.net')
  })

  it('adds a deterrent driver', () => {
    const file = `${GATEWAY}/deterrents/drivers/horn.ts`
    const [, example = ''] = /## A deterrent driver\n[^]*?```ts\n([^]*?)```/.exec(page) ?? []
    const { answer, touched } = changed(
      file,
      () => example,
      `import { createServer } from 'node:http'
       import { once } from 'node:events'
       import { deterrentsSettings } from './deterrents/schema.ts'
       import { loadDriver } from './deterrents/drivers.ts'
       const calls = []
       const server = createServer((request, response) => {
         calls.push(request.headers['x-key'] + request.url)
         response.end('blown')
       }).listen(0, '127.0.0.1')
       await once(server, 'listening')
       const address = 'http://127.0.0.1:' + server.address().port
       const { horn } = deterrentsSettings.parse({ horn: { driver: 'horn', address, key: 'k', seconds: 4 } })
       const driver = (await loadDriver('horn')).open(horn)
       const { signal } = new AbortController()
       console.log(await driver.on(horn.seconds, signal), await driver.off(signal), calls.join(' '))
       server.close()`,
      GATEWAY,
    )
    expect(touched).toEqual([file])
    expect(answer).toBe('blown blown k/on/4 k/off')
  })

  it('adds a field of a gateway', () => {
    const migrations = `${HUB}/database/migrations`
    change(`${migrations}/999-keepers.ts`, () =>
      readFileSync(join(ROOT, `${migrations}/034-invited-descriptions.ts`), 'utf8')
        .replace('gateway_invitations', 'gateways')
        .replace("'description'", "'keeper'"),
    )
    change(`${migrations}.ts`, (before) =>
      before
        .replace('import', "import * as keepers from './migrations/999-keepers.ts'\nimport")
        .replace(/\n\] as const|\n\]/, "\n  { name: '999-keepers', up: keepers.up },$&"),
    )
    change(`${HUB}/database/tables.ts`, (before) =>
      before.replace(/ {4}location: string\n {4}description: string\n/, '$&    keeper: Generated<string>\n'),
    )
    const fields = `${CONTRACT}/src/gateway-fields.ts`
    const { answer, touched } = changed(
      fields,
      (before) => before.replace(/\n\} satisfies/, "\n  keeper: { label: 'Keeper', lines: 1, maxLength: 80 },$&"),
      `import { gateway, newGateway } from '@hedgerow/contract'
       import { pino } from 'pino'
       import { gatewaysAsCsv } from '../../portal/src/features/gateways/list/csv.ts'
       import { openDatabase } from './database/database.ts'
       import { openRecords } from './followers/followers.ts'
       import { addGateway } from './fleet/add.ts'
       import { updateGateway } from './fleet/edit.ts'
       const { db, close } = await openDatabase({ url: 'sqlite:' + import.meta.dirname + '/question.sqlite' })
       openRecords(db, { log: pino({ level: 'silent' }) })
       const actor = { userId: 'r', username: 'rosa', role: 'admin', sessionId: '' }
       const act = { actor, sourceIp: '', now: 1 }
       const id = await addGateway(db, newGateway.parse({ name: 'Barn', keeper: 'Emil' }), act)
       const keeper = () => db.selectFrom('gateways').select('keeper').executeTakeFirstOrThrow()
       const answers = [(await keeper()).keeper]
       await updateGateway(db, id, { keeper: 'Ida' }, act)
       const row = await keeper()
       console.log(...answers, row.keeper, 'keeper' in gateway.shape, /"Ida"/.test(gatewaysAsCsv([row])))
       await close()`,
    )
    expect(touched.toSorted()).toEqual(
      [`${HUB}/database/migrations.ts`, `${migrations}/999-keepers.ts`, `${HUB}/database/tables.ts`, fields].toSorted(),
    )
    expect(answer).toBe('Emil Ida true true')
  })
})
