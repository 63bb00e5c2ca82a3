import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/operations/systemd.md'), 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The unit below the line that names its file. */
function unitOf(name: string): string {
  const [, unit = ''] = page.split(`/etc/systemd/system/${name}`)
  return [...unit.split(/^\S.*$/m)[1]!.matchAll(/^ {4}(.*)$|^$/gm)].map(([, line = '']) => line).join('\n')
}

test.skipIf(!hasSystemd).each(['hedgerow.service', 'hedgerow-gateway.service'])(
  'the unit %s of the page is one that systemd understands (skipped where systemd-analyze is missing)',
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'systemd-units-'))
    const file = join(folder, name)
    // The programs that it starts are those of this tree.
    writeFileSync(file, unitOf(name).replaceAll('/opt/hedgerow/current', ROOT))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(name))
    expect([status, about]).toEqual([0, []])
  },
)

test('commands of the page stand on lines of their own', () => {
  const commands = [...page.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line!.replace(/ {2,}#.*$/, ''))
  expect(commands).toContain('systemctl daemon-reload')
  expect(commands).toContain('systemctl enable --now hedgerow')
})

test.each([
  ['the page', () => unitOf('hedgerow-gateway.service')],
  ['the Debian package', () => read('deploy/debian/hedgerow-gateway/hedgerow-gateway.service')],
  ["the hub's installer", () => read('apps/hub/src/downloads/install.sh')],
])('the gateway’s unit of %s lets the supervisor switch off after the agent has ended', (_of, unit) => {
  // KillMode=mixed and process kill or orphan the supervisor as soon as the main process is gone.
  expect(unit()).not.toMatch(/^KillMode=/m)
  expect(unit()).toMatch(/^TimeoutStopSec=30$/m)
})
