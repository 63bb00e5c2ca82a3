import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addGateway, listGateways } from '@hedgerow/contract'
import { createApiAs } from '../harness/api-client.ts'
import { startChild } from '../harness/child-process.ts'
import { copyTree } from '../harness/copy-of-tree.ts'
import { freeTcpPort, freeUdpPort } from '../harness/free-ports.ts'
import { waitFor } from '../harness/wait-for.ts'

/**
 * Runs docs/operations/upgrade.md line by line: only addresses and paths are replaced. The remote is a Git folder with
 * this tree, and every version is installed by a real `npm ci`. The last upgrade is from an archive, and with the unit
 * and the command of docs/operations/systemd.md, run by two small scripts, because only systemd as the first process
 * can start a unit. It takes minutes of `npm ci` and a build, so `npm test` leaves it out; `.ci/run` does not.
 */
const isAsked = process.env['TEST_INSTALLS'] === 'on'
if (!isAsked) console.log('skipped: installations by npm ci: npm run test:installs runs them')
const ROOT = join(import.meta.dirname, '../..')
const linesOf = (page: string) =>
  [...readFileSync(join(ROOT, 'docs/operations', page), 'utf8').matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line!)
const lines = linesOf('upgrade.md')
const systemdLines = linesOf('systemd.md')
const admin = { username: 'admin', password: 'a hedge between two fields' }
const INSTALL_TIMEOUT_MS = 600_000

let folder: string
let remote: string
let installed: string
let port: number
/** `NAME=value`, as shell and systemd read it. */
let settingsOfThisTest: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-upgrade-'))
  remote = join(folder, 'hedgerow.git')
  installed = join(folder, 'opt')
  port = await freeTcpPort()
  copyTree(remote)
  git('init', '--quiet')
  commit('v1')
})

afterAll(() => {
  endHub()
  rmSync(folder, { recursive: true, force: true })
})

function endHub(): void {
  if (existsSync(join(folder, 'pid'))) spawnSync('kill', ['-KILL', String(pid())])
  rmSync(join(folder, 'pid'), { force: true })
}

/** The hub of the first version, new, with one gateway. */
async function startFirst(): Promise<void> {
  rmSync(join(folder, 'data'), { recursive: true, force: true })
  await run(['sh', '-c', `. ${installed}/release.conf; sh -c "$HEDGEROW_START"`])
  await waitFor(isReady, { for: 'the first hub', timeoutMs: 60_000 })
  await api()(addGateway, { body: { name: 'Barn' } })
}

function git(...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=Rosa', '-c', 'user.email=rosa@example.org', ...args], {
    cwd: remote,
    stdio: 'pipe',
  })
}

function commit(tag: string): void {
  git('add', '-A')
  git('commit', '--quiet', '-m', tag)
  git('tag', tag)
}

function change(file: string, edit: (text: string) => string): void {
  const path = join(remote, file)
  writeFileSync(path, edit(readFileSync(path, 'utf8')))
}

function lineWith(text: string): string {
  const line = lines.find((candidate) => candidate.includes(text))
  if (line === undefined) throw new Error(`upgrade.md has no line with ${text}`)
  return line
}

/** A line of the page with this test's paths. */
function onThisMachine(line: string): string {
  const ours: Record<string, string> = {
    'https://git.example.net/hedgerow.git': remote,
    '/tmp/hedgerow': join(folder, 'clone'),
    '/opt/hedgerow': installed,
    '/var/lib/hedgerow': join(folder, 'data'),
    '/var/log/hub.log': join(folder, 'log'),
    '/run/hub.pid': join(folder, 'pid'),
    '/etc/hedgerow/hub.env': join(folder, 'hub.env'),
  }
  return line.replaceAll(new RegExp(Object.keys(ours).join('|'), 'g'), (path) => ours[path]!)
}

async function run(command: string[]): Promise<{ code: number | null; output: string }> {
  const [program, ...args] = command
  const env = {
    HEDGEROW_ROOT: installed,
    NPM_CONFIG_PREFER_OFFLINE: 'true',
    NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  }
  const child = await startChild(program!, args, { env })
  const { code } = await child.ended
  return { code, output: child.output() }
}

/** The page's lines from `first` to `last`, with this test's paths. */
function systemdFile(first: string, last: string): string {
  const start = systemdLines.indexOf(first)
  const end = systemdLines.findIndex((line, index) => index > start && line.includes(last))
  if (start < 0 || end < 0) throw new Error(`systemd.md has no lines from ${first} to ${last}`)
  return `${systemdLines
    .slice(start, end + 1)
    .map(onThisMachine)
    .join('\n')}\n`
}

function writeScript(name: string, text: string): string {
  const path = join(folder, 'bin', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: 0o755 })
  return path
}

/** Installs the command of the page, with substitutes for `systemctl` and `systemd-run`. */
function installUnit(): string {
  const unit = join(folder, 'hedgerow.service')
  writeFileSync(unit, systemdFile('[Unit]', 'WantedBy='))
  writeScript(
    'systemctl',
    `#!/bin/sh
    value() { sed -n "s/^$1=-*//p" ${unit}; }
    pid=${join(folder, 'pid')}
    [ "$2" = hedgerow ] || exit 5
    case $1 in
    stop) kill $(cat $pid); while kill -0 $(cat $pid) 2>/dev/null; do sleep 0.2; done ;;
    start)
      cd "$(value WorkingDirectory)"
      set -a
      eval "$(value Environment)"
      . "$(value EnvironmentFile)"
      nohup $(value ExecStart) >>${join(folder, 'log')} 2>&1 &
      echo $! >$pid ;;
    *) exit 1 ;;
    esac
    `,
  )
  writeScript(
    'systemd-run',
    `#!/bin/sh
    set -a
    while :; do
      case $1 in
      -p) . "\${2#EnvironmentFile=-}"; shift 2 ;;
      -E) eval "$2"; shift 2 ;;
      --*) shift ;;
      *) exec "$@" ;;
      esac
    done
    `,
  )
  return writeScript('hedgerow', systemdFile('#!/bin/sh', 'main.ts "$@"'))
}

/** An `npm` that copies the first version's packages when a version has the same dependencies. */
function installCopies(): void {
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const first = join(installed, 'releases/v1')
  writeScript(
    'npm',
    `#!/bin/sh
    if cmp -s package-lock.json ${first}/package-lock.json; then
      case $1 in
      ci) exec cp -al ${first}/node_modules . ;;
      run) for app in portal public gateway-ui; do cp -a ${first}/apps/$app/dist apps/$app/ || exit 1; done; exit 0 ;;
      esac
    fi
    exec ${npm} "$@"
    `,
  )
}

/**
 * Leaves the remote two packages, of which npm can install the first; the other one is not what the lock file says. A
 * mistake in the whole lock file would be found only after most of its packages are installed.
 */
function breakPackages(): void {
  type Lock = { packages: Record<string, { version: string; integrity: string }> }
  const { packages } = JSON.parse(readFileSync(join(remote, 'package-lock.json'), 'utf8')) as Lock
  const [sound, other] = [packages['node_modules/kysely']!, packages['node_modules/zod']!]
  const root = { name: 'hedgerow', version: '0.1.0', dependencies: { kysely: sound.version, zod: other.version } }
  const broken = { ...other, integrity: `sha512-${'A'.repeat(86)}==` }
  const lock = {
    name: root.name,
    version: root.version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, 'node_modules/kysely': sound, 'node_modules/zod': broken },
  }
  change('package.json', () => JSON.stringify(root))
  change('package-lock.json', () => JSON.stringify(lock))
}

const follow = (line: string) => run(['sh', '-c', onThisMachine(line)])
const upgradeTo = (tag: string) => follow(lineWith('upgrade https').replace('#v2', `#${tag}`))
const upgradeToArchive = (file: string) =>
  run(['sh', '-c', onThisMachine(lineWith('upgrade https')).replace(`${remote}#v2`, file)])
const currentVersion = () => readlinkSync(join(installed, 'current'))
const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok
const pid = () => Number(readFileSync(join(folder, 'pid'), 'utf8'))
/** Everybody signs in again after a restore. */
const api = () => createApiAs(`http://localhost:${port}`, admin)
const names = async () => (await api()(listGateways)).map(({ name }) => name)

describe.skipIf(!isAsked)('the page', () => {
  test('a version is installed and started as on the page', { timeout: INSTALL_TIMEOUT_MS }, async () => {
    endHub()
    for (const name of ['clone', 'opt']) rmSync(join(folder, name), { recursive: true, force: true })
    expect(await follow(lineWith('git clone'))).toMatchObject({ code: 0 })
    expect(await follow(lineWith('release.sh install'))).toMatchObject({ code: 0 })
    expect(currentVersion()).toBe('releases/v1')
    installCopies()
    const settings = ['export HUB_DATA_DIR=', 'hub=', 'HEDGEROW_START=', 'HEDGEROW_STOP=']
      .map(lineWith)
      .map(onThisMachine)
    settingsOfThisTest = [
      `HUB_PORT=${port}`,
      'HUB_HOST=127.0.0.1',
      'HUB_HTTPS_PORT=off',
      `HUB_VPN_PORT=${await freeUdpPort()}`,
      `HUB_ADMIN_PASSWORD='${admin.password}'`,
    ]
    const ofThisTest = [
      ...settingsOfThisTest.map((setting) => `export ${setting}`),
      `HEDGEROW_READY=http://127.0.0.1:${port}/readyz`,
      `HEDGEROW_BACKUPS=${join(folder, 'copies')}`,
    ]
    writeFileSync(join(installed, 'release.conf'), [...settings, ...ofThisTest, ''].join('\n'))
    await startFirst()
  })

  test(
    'an upgrade that cannot be installed keeps the running hub, and leaves nothing incomplete',
    { timeout: INSTALL_TIMEOUT_MS },
    async () => {
      breakPackages()
      commit('broken')
      git('reset', '--quiet', '--hard', 'v1')
      const before = pid()
      const { code, output } = await upgradeTo('broken')
      expect([code, output]).toEqual([1, expect.stringContaining('Nothing was switched')])
      expect(currentVersion()).toBe('releases/v1')
      expect(readdirSync(join(installed, 'releases'))).toEqual(['v1'])
      expect([pid(), await isReady()]).toEqual([before, true])
    },
  )

  test(
    'an upgrade switches to the new version, which migrates, and `back` restores version and database',
    { timeout: INSTALL_TIMEOUT_MS },
    async () => {
      const migrations = join('apps', 'hub', 'src', 'database')
      writeFileSync(
        join(remote, migrations, 'migrations/999-sample.ts'),
        "import type { Kysely } from 'kysely'\n\nexport async function up(db: Kysely<unknown>): Promise<void> {\n" +
          "  await db.schema.createTable('sample').addColumn('name', 'text').execute()\n}\n",
      )
      change(join(migrations, 'migrations.ts'), (text) =>
        text
          .replace(/^import /m, "import * as sample from './migrations/999-sample.ts'\nimport ")
          .replace(
            /(const MIGRATIONS: readonly Migration\[\] = \[[^\]]*?),?\s*\]/,
            "$1, { name: '999-sample', up: sample.up }]",
          ),
      )
      commit('v2')
      const upgraded = await upgradeTo('v2')
      expect(upgraded).toMatchObject({
        code: 0,
        output: expect.stringMatching(/Version v2 is running\. The hub was down for \d+ s\./),
      })
      expect([currentVersion(), await isReady()]).toEqual(['releases/v2', true])
      await api()(addGateway, { body: { name: 'Shed' } })
      expect(await names()).toEqual(['Barn', 'Shed'])

      const back = await follow(lineWith('release.sh back'))
      expect(back).toMatchObject({ code: 0, output: expect.stringContaining('Version v1 is running') })
      expect([currentVersion(), await isReady()]).toEqual(['releases/v1', true])
      expect(await names(), 'as before the upgrade').toEqual(['Barn'])
      const [left] = readdirSync(join(folder, 'copies')).filter((name) => name.startsWith('left-v2-'))
      const copy = new DatabaseSync(join(folder, 'copies', left!), { readOnly: true })
      expect(
        copy
          .prepare('select name from gateways order by name')
          .all()
          .map(({ name }) => name),
      ).toEqual(['Barn', 'Shed'])
      copy.close()
      expect(await follow(lineWith('release.sh back')), 'there is no other').toMatchObject({ code: 1 })
    },
  )

  test(
    'under systemd, an archive whose version does not become ready is rolled back',
    { timeout: INSTALL_TIMEOUT_MS },
    async () => {
      git('reset', '--quiet', '--hard', 'v1')
      change('apps/hub/src/program.ts', (text) =>
        text.replace('await hub.start()', "await Promise.reject(new Error('v3'))"),
      )
      commit('v3')
      const archive = join(folder, 'v3.tar.gz')
      git('archive', '--prefix=hedgerow/', '--output', archive, 'v3')

      const command = installUnit()
      writeFileSync(join(folder, 'hub.env'), settingsOfThisTest.join('\n'))
      const conf = [
        `HEDGEROW_READY=http://127.0.0.1:${port}/readyz`,
        `HEDGEROW_BACKUPS=${join(folder, 'copies')}`,
        'HEDGEROW_READY_SECONDS=20',
        `HEDGEROW_HUB=${command}`,
      ]
      writeFileSync(join(installed, 'release.conf'), conf.join('\n'))
      for (const verb of ['stop', 'start'])
        expect(await run(['systemctl', verb, 'hedgerow'])).toMatchObject({ code: 0 })
      await waitFor(isReady, { for: 'the hub of the unit', timeoutMs: 60_000 })
      expect((await run([command, 'doctor'])).output).toMatch(/^ok +database/m)

      expect(await upgradeToArchive(join(folder, 'v1.tar.gz')), 'no such archive').toMatchObject({ code: 1 })
      const { code, output } = await upgradeToArchive(archive)
      expect([code, output]).toEqual([1, expect.stringContaining('Version v1 is running')])
      expect([currentVersion(), await isReady(), await names()]).toEqual(['releases/v1', true, ['Barn']])
    },
  )
})
