import { expect, it } from 'vitest'
import { changedParts } from './changed-parts.ts'

const FILE = `# The farm
cameras:
  gate:
    url: rtsp://eye:hidden@10.0.0.9/1
rules:
  - name: Boar
    seconds: 5
`

it.each([
  ['nothing', FILE, []],
  ['a value', FILE.replace('seconds: 5', 'seconds: 8'), ['rules']],
  ['a password in an address', FILE.replace('hidden', 'other'), ['cameras (secret changed)']],
  ['a new part', `${FILE}mqtt:\n  password: x\n`, ['mqtt (secret changed)']],
  ['a removed part', FILE.slice(0, FILE.indexOf('rules:')), ['rules']],
  ['a comment', FILE.replace('# The', '# Our'), ['the comment at the top']],
  ['the ends of lines', FILE.replaceAll('\n', '\r\n'), []],
  ['a variable', FILE.replace('seconds: 5', 'seconds: ${S}'), ['rules (secret changed)']],
])('names the parts of a file with %s changed, and no value', (_what, after, parts) => {
  expect(changedParts(FILE, after)).toEqual(parts)
  expect(changedParts(after, FILE)).toEqual(parts)
})

it('calls nothing a comment that is none', () => {
  expect(changedParts('{"rules": []}', '{"rules": [{"seconds": 5}]}')).toEqual(['other lines'])
})
