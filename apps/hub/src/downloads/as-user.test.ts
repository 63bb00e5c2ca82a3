import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'

/** How `as-user.sh` reads settings. What else it does needs root: test/system/root.test.ts. */
const SCRIPT = join(import.meta.dirname, 'as-user.sh')
/** Systemd's own reader, in a program that prints what it read. */
const SYSTEMD = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'
const folder = mkdtempSync(join(tmpdir(), 'hub-as-user-'))
mkdirSync(join(folder, 'environment.d'))
const file = join(folder, 'environment.d/a.conf')
afterAll(() => rmSync(folder, { recursive: true }))

/** The variables whose names begin with `T_`, as a program gets them from the settings. */
function read(settings: string, { shell = 'sh', names = '*' } = {}): Record<string, string> {
  writeFileSync(file, settings)
  const { status, stdout, stderr } = spawnSync(shell, [SCRIPT, '--inside', names, '', '/usr/bin/env', '-0'], {
    stdio: ['ignore', 'pipe', 'pipe', openSync(file, 'r')],
    encoding: 'utf8',
    env: {},
  })
  expect(status, stderr).toBe(0)
  const pairs = stdout.split('\0').map((pair) => /^(\w+)=([^]*)$/.exec(pair)?.slice(1) ?? [])
  return Object.fromEntries(pairs.filter(([name]) => name?.startsWith('T_')) as [string, string][])
}

const SHELLS = ['sh', 'bash', 'dash'].filter((shell) => !spawnSync(shell, ['-c', ':']).error)

it.each([
  ['a plain line', 'T_A=one two  \n', { T_A: 'one two' }],
  ['blanks around it', '\t T_A \t=\t x\t\n', { T_A: 'x' }],
  ['comments', '# T_A=1\n  ; T_B=2\nT_C=3#4 ;5\n', { T_C: '3#4 ;5' }],
  ['lines of Windows', 'T_A="x"\r\nT_B=y\r\n', { T_A: 'x', T_B: 'y' }],
  ['commands', 'T_A=$(id)\nT_B=`id`\nT_C="$HOME ${HOME}"\n', { T_A: '$(id)', T_B: '`id`', T_C: '$HOME ${HOME}' }],
  ['double quotes', 'T_A="a \\"b\\" \\$c \\\\ \\n \\`"\n', { T_A: 'a "b" $c \\ \\n `' }],
  ['single quotes', 'T_A=\'a \\ "b" $c\'\n', { T_A: 'a \\ "b" $c' }],
  ['several quotes', `T_A="a" 'b'c d\n`, { T_A: 'abc d' }],
  ['quotes within a word', 'T_A=a"b"\n', { T_A: 'a"b"' }],
  ['lines that go on', 'T_A=a \\\n b\nT_B="c\\\nd"\nT_C="e\nf"\n', { T_A: 'a  b', T_B: 'cd', T_C: 'e\nf' }],
  ['a blank that counts', 'T_A=a\\ \n', { T_A: 'a ' }],
  ['no value', 'T_A=\nT_B=""\n', { T_A: '', T_B: '' }],
  ['the last of two', 'T_A=1\nT_A=2\n', { T_A: '2' }],
  ['no end of the last line', 'T_A=1', { T_A: '1' }],
  ['no end of the last quotes', 'T_A="1\n2', { T_A: '1\n2' }],
  ['what is no variable', 'id\nexport T_A=1\nT_B-C=2\n2=3\n=4\nT_D=5\n', { T_D: '5' }],
  ['names of the script itself', '_state=x\n_more=\nIFS=a\nPATH=/nowhere\nT_A=bab\n', { T_A: 'bab' }],
  ['letters beyond ASCII', 'T_A=Größe „x“\n', { T_A: 'Größe „x“' }],
])('settings may have %s', (_, settings, expected) => {
  for (const shell of SHELLS) expect(read(settings, { shell }), shell).toEqual(expected)
})

it('root itself gets the hub’s settings only', () => {
  expect(read('T_A=1\nT_HUB=2\nLD_PRELOAD=/tmp/x.so\n', { names: 'T_H*' })).toEqual({ T_HUB: '2' })
})

it.skipIf(!existsSync(SYSTEMD))('settings have the variables that systemd finds in them (skipped without it)', () => {
  const asSystemd = (settings: string): Record<string, string> => {
    writeFileSync(file, settings)
    const { stdout } = spawnSync(SYSTEMD, { encoding: 'utf8', env: { XDG_CONFIG_HOME: folder } })
    // It prints values as words of a shell.
    const script = `set -a\n${stdout}\nexec /usr/bin/env -0`
    const shown = spawnSync('bash', ['-c', script], { encoding: 'utf8', env: {} }).stdout
    const pairs = shown.split('\0').map((pair) => /^(\w+)=([^]*)$/.exec(pair)?.slice(1) ?? [])
    return Object.fromEntries(pairs.filter(([name]) => name?.startsWith('T_')) as [string, string][])
  }
  // It leaves out variables without a value, which a unit has.
  const withoutEmpty = (read: Record<string, string>) =>
    Object.fromEntries(Object.entries(read).filter(([, value]) => value !== ''))
  // No `$`, which this program of systemd expands and a unit does not. No `\` at the end of a comment: versions differ.
  const part = fc.constantFrom('\n', ' ', '\t', '"', "'", '\\', '#', ';', 'x', 'y z', '=', '\r\n')
  const text = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, text, (first, second, third) => {
      const settings = `${first}\nT_A=${second}\n T_B = ${third}\n`
      fc.pre(!/[#;].*\\/.test(settings))
      // It prints line ends and tabs as `\n`, `\r` and `\t`.
      const printed = (value: string) => value.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
      const own = Object.entries(read(settings)).map(([name, value]) => [name, printed(value)] as const)
      expect(withoutEmpty(Object.fromEntries(own)), JSON.stringify(settings)).toEqual(withoutEmpty(asSystemd(settings)))
    }),
    { numRuns: 150 },
  )
})
