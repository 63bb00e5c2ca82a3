import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { describe, expect, test } from 'vitest'
import { deviceFileJsonSchema } from '../../apps/gateway/src/device-file/schema.ts'
import { createCompletion, type Schema } from '../../apps/gateway-ui/src/parts/completion.ts'

const complete = createCompletion(deviceFileJsonSchema() as Schema, () => ({
  cameras: ['of-frigate'],
  deterrents: ['siren'],
}))

/** What is offered at `|`, as with Ctrl+Space. */
function offered(text: string, explicit = true) {
  const at = text.indexOf('|')
  const state = EditorState.create({ doc: text.replace('|', '') })
  const result = complete(new CompletionContext(state, at, explicit))
  return { from: result?.from, labels: result?.options.map(({ label }) => label) ?? [], options: result?.options ?? [] }
}

const FILE = `cameras:
  orchard: { url: "rtsp://a/1", zones: { rows: [[0, 0], [1, 0], [1, 1]] } }
  yard:
    url: "rtsp://a/2"
    zones:
      "the gate": [[0, 0], [1, 0], [1, 1]]
deterrents:
  Sprinkler row 12: { driver: gpio, pin: 17 }
`

describe('keys', () => {
  test('of the whole file, with their descriptions', () => {
    const { labels, options } = offered('|')
    expect(labels).toEqual(expect.arrayContaining(['cameras', 'deterrents', 'rules', 'site', 'sources', 'updates']))
    expect(options.find(({ label }) => label === 'rules')).toMatchObject({
      apply: 'rules: ',
      info: 'Which detections fire which deterrents, and when.',
    })
  })

  test.each([
    ['a block', 'rules:\n  - name: Boar\n    |'],
    ['a block with more below', 'rules:\n  - name: Boar\n    |\n    seconds: 3\n  - name: B\n'],
    ['a group in braces', 'rules:\n  - { name: Boar, | }'],
    ['braces that are not closed yet', 'rules:\n  - { name: Boar, |'],
    ['a part of a word', 'rules:\n  - name: Boar\n    fi|'],
    ['a new item of a list', 'rules:\n  - name: A\n  - |'],
  ])('of a rule in %s', (_what, text) => {
    const { labels } = offered(text)
    expect(labels).toEqual(expect.arrayContaining(['fire', 'labels', 'cameras', 'hours']))
    expect(labels).not.toContain('url')
  })

  test('are not offered twice, and required ones say so', () => {
    const { labels, options } = offered('rules: [{ name: Boar, seconds: 4, | }]')
    expect(labels).not.toContain('name')
    expect(labels).not.toContain('seconds')
    expect(options.find(({ label }) => label === 'fire')?.detail).toBe('required')
    expect(options.find(({ label }) => label === 'enabled')?.detail).toBe('default true')
  })

  test('of a deterrent are those of its driver', () => {
    expect(offered('deterrents:\n  pump:\n    driver: opensprinkler\n    |').labels).toContain('password')
    const ofCommand = offered('deterrents: { pump: { driver: command, | } }').labels
    expect(ofCommand).toEqual(expect.arrayContaining(['on', 'off', 'seconds']))
    expect(ofCommand).not.toContain('password')
  })

  test('replace what is typed, also before a colon', () => {
    expect(offered('rules:\n  - na|xx: A\n').labels).toContain('fire')
    expect(offered('site:\n  lat|').from).toBe('site:\n  '.length)
    expect(offered('site:\n  lat|: 3').options.find(({ label }) => label === 'latitude')?.apply).toBe('latitude')
  })
})

describe('values', () => {
  test.each([
    ['of a closed list', 'rules: [{ name: A, verdict: | }]', ['any', 'confirmed']],
    ['of two words', 'rules:\n  - name: A\n    enabled: t|', ['true', 'false']],
    ['of a list of days', 'rules:\n  - days: [monday, |]', expect.arrayContaining(['tuesday'])],
    [
      'of a driver',
      'deterrents:\n  pump:\n    driver: |',
      expect.arrayContaining(['command', 'http', 'opensprinkler']),
    ],
  ])('%s', (_what, text, labels) => expect(offered(text).labels).toEqual(labels))

  test.each([
    ['cameras', 'rules: [{ name: A, cameras: [|] }]', ['of-frigate', 'orchard', 'yard']],
    ['cameras', 'sources:\n  eye:\n    cameras:\n      - orchard\n      - |', ['of-frigate', 'orchard', 'yard']],
    ['zones', 'rules:\n  - name: A\n    zones: [r|]', ['rows', 'the gate']],
    ['deterrents', 'rules:\n  - name: A\n    fire: [|', ['siren', 'Sprinkler row 12']],
    ['deterrents', 'rules:\n  - name: A\n    fire: [siren, Sprinkler r|]', ['siren', 'Sprinkler row 12']],
  ])('name %s of the file and of the device', (_what, text, labels) => {
    expect(offered(`${FILE}${text}`).labels).toEqual(labels)
  })
})

test.each([
  ['in a comment', 'rules: # fire, |'],
  ['in quotation marks', 'site: { timeZone: "Europe, |" }'],
  ['in a text of many lines', 'a: |-\n  rules, |'.replace('|-', '>-')],
  ['where only a person knows the name', 'cameras: { | }'],
  ['below a key that nothing knows', 'nothing:\n  |'],
])('nothing is offered %s', (_what, text) => expect(offered(text).labels).toEqual([]))

test('nothing opens by itself before a letter is typed', () => {
  expect(offered('rules: [{ name: A, | }]', false).labels).toEqual([])
  expect(offered('rules: [{ name: A, f| }]', false).labels).toContain('fire')
})
