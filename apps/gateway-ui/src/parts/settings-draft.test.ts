import { expect, test } from 'vitest'
import { API, EYE, FRIGATE } from '../screens/source-settings.ts'
import { editsOf, textOf } from './settings-draft.ts'

const PATHS = {
  frigate: ['sources', 'frigate'],
  eye: ['sources', 'eye'],
  api: ['sources', 'api'],
}
const at = ({ fields }: { fields: readonly { label: string }[] }, label: string) => {
  const index = fields.findIndex((field) => field.label === label)
  expect(index).toBeGreaterThanOrEqual(0)
  return index
}
const frigate = { url: 'http://127.0.0.1:5000', user: 'eye', password: 'plain-secret' }
const edits = (form: typeof FRIGATE | typeof EYE | typeof API, sources: object, typed: Record<number, string | null>) =>
  editsOf(form.fields, form.groups, { sources }, typed)

test('a secret in the file is not shown, a named one is', () => {
  const field = FRIGATE.fields[at(FRIGATE, 'Password of this user')]!
  expect(textOf(field, 'plain-secret')).toBe('')
  expect(textOf(field, 'half-${NAME}')).toBe('')
  expect(textOf(field, '${FRIGATE_PASSWORD}')).toBe('${FRIGATE_PASSWORD}')
  expect(textOf(field, '!file /run/secret')).toBe('!file /run/secret')
})

test('a secret that is left empty or emptied stays; a typed one is written as typed; a removed one goes', () => {
  const password = at(FRIGATE, 'Password of this user')
  const user = at(FRIGATE, 'User of Frigate')
  expect(edits(FRIGATE, { frigate }, { [password]: '' })).toEqual([])
  expect(edits(FRIGATE, { frigate: { ...frigate, password: '${P}' } }, { [password]: '' })).toEqual([])
  expect(edits(FRIGATE, { frigate }, { [password]: ' true ' })).toEqual([
    { path: [...PATHS.frigate, 'password'], value: ' true ' },
  ])
  expect(edits(FRIGATE, { frigate }, { [user]: '', [password]: null })).toEqual([
    { path: [...PATHS.frigate, 'user'] },
    { path: [...PATHS.frigate, 'password'] },
  ])
})

test('a group goes when nothing of it is left, and never with a secret that was kept', () => {
  const token = at(API, 'Token of programs')
  const loopback = at(API, 'Programs on the device itself')
  const api = { token: 'a-token-of-16-and-more', loopbackNeedsToken: false }
  expect(edits(API, { api }, { [loopback]: '' })).toEqual([{ path: [...PATHS.api, 'loopbackNeedsToken'] }])
  expect(edits(API, { api }, { [loopback]: '', [token]: null })).toEqual([{ path: PATHS.api }])
  expect(edits(API, {}, { [loopback]: 'false' })).toEqual([
    { path: [...PATHS.api, 'loopbackNeedsToken'], value: false },
  ])
})

test('scores of labels are a group of numbers; what is none stays for the device to name', () => {
  const scores = at(EYE, 'Lowest score of single labels')
  const eye = { cameras: ['gate'], scores: { deer: 0.7, 'wild boar': 0.5 } }
  expect(textOf(EYE.fields[scores]!, eye.scores)).toBe('deer: 0.7, wild boar: 0.5')
  expect(edits(EYE, { eye }, { [scores]: 'wild boar: 0.6, fox' })).toEqual([
    { path: [...PATHS.eye, 'scores'], value: { 'wild boar': 0.6, fox: '' } },
  ])
  expect(edits(EYE, { eye }, { [scores]: ' ' })).toEqual([{ path: [...PATHS.eye, 'scores'] }])
})
