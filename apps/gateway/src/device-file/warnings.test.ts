import { expect, test } from 'vitest'
import { parseDeviceFile } from './parse.ts'
import { vainParts } from './warnings.ts'

/** A file that was written when `none` meant the demonstration eye. */
const OLD = `cameras:
  orchard: { url: "http://127.0.0.1:9/a" }
  gate: {}
deterrents:
  valve: { driver: http, on: { url: "http://127.0.0.1:9/1" }, off: { url: "http://127.0.0.1:9/0" } }
sources:
  eye: { cameras: [orchard], model: none }
rules:
  - { name: Boar, labels: [boar, deer], fire: [valve] }
`

/** What `gateway check` warns about by the file alone, and what a heartbeat says. */
function judge(text: string) {
  const parsed = parseDeviceFile(text, { folder: '/', environment: {} })
  if (parsed.errors) throw new Error(parsed.errors[0]!.message)
  return {
    warnings: parsed.warnings.map(({ line, column, message }) => `F:${line}:${column}: warning: ${message}`),
    vain: vainParts(parsed.value),
  }
}

test('a rule that relied on the eye without a model is named with its line, and in the heartbeat', () => {
  const { warnings, vain } = judge(OLD)
  expect(warnings).toEqual([
    expect.stringMatching(/^F:9:27: warning: The rule Boar gets nothing from the eye, .*`motion`.*`demonstration`/),
  ])
  expect(vain).toEqual(['The rule Boar fires at nothing: without a model the eye reports only motion'])
  expect(judge(OLD.replace(', model: none', ''))).toEqual({ warnings, vain })
})

test('where another source may report the animal, only the check warns', () => {
  const { warnings, vain } = judge(OLD.replace('sources:', 'sources:\n  api: { loopbackNeedsToken: false }'))
  expect([warnings.length, vain]).toEqual([1, []])
})

test.each([
  ['a model', OLD.replace('none', 'yolox-nano')],
  ['a rule for a camera of another program', OLD.replace('fire:', 'cameras: [gate], fire:')],
  ['a rule that is not enabled', OLD.replace('fire:', 'enabled: false, fire:')],
  ['no eye', OLD.replace('  eye: { cameras: [orchard], model: none }', '  api: { loopbackNeedsToken: false }')],
])('%s gives no warning', (_what, text) => {
  expect(judge(text)).toEqual({ warnings: [], vain: [] })
})

test('a rule that names motion is said to fire at persons too', () => {
  const { warnings, vain } = judge(OLD.replace('deer', 'Motion'))
  expect(warnings).toEqual([expect.stringMatching(/^F:9:27: warning: The rule Boar fires at .* also at persons/)])
  expect(vain).toEqual([])
})

test('labels of the eye that leave nothing of what it reports, and the demonstration eye', () => {
  const { warnings, vain } = judge(OLD.replace('model: none', 'labels: [boar]').replace('[boar, deer]', '[motion]'))
  expect(warnings[0]).toMatch(/^F:7:38: warning: The eye reports nothing/)
  expect(vain).toEqual([expect.stringMatching(/^The eye reports nothing/)])
  const drawn = judge(OLD.replace('none', 'demonstration'))
  expect(drawn.warnings).toEqual([expect.stringMatching(/^F:7:37: warning: .*drawn scenes/)])
  expect(drawn.vain).toEqual([])
})

test('a rule for a learned name that nothing gives any more is in the heartbeat', () => {
  const names = (text: string, { undone = ['boar'], unlearned = [] as string[] } = {}) => {
    const { value } = parseDeviceFile(text, { folder: '/', environment: {} })
    return vainParts(value!, { undone: () => undone, unlearned: () => unlearned })
  }
  const text = OLD.replace('none', 'nanodet-g').replace('boar', 'Boar')
  expect(names(text)).toEqual(['The rule Boar names Boar, which this gateway learned and no longer gives'])
  expect(names(text.replace('fire:', 'enabled: false, fire:'))).toEqual([])
  expect(names(text.replace('[Boar, deer]', '[deer]'))).toEqual([])
  const unlearned = { undone: [], unlearned: ['boar'] }
  expect(names(text, unlearned)).toEqual(['The rule Boar names Boar, which this gateway has not learned'])
  expect(names(text.replace('sources:', 'sources:\n  api: { loopbackNeedsToken: false }'), unlearned)).toEqual([])
})
