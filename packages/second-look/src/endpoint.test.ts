import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { says, startVisionServer, type VisionAnswer, type VisionServer } from '../../../test/harness/vision-server.ts'
import { parseAnswer } from './answer.ts'
import { queryEndpoint } from './endpoint.ts'

let server: VisionServer
beforeAll(async () => {
  server = await startVisionServer('late')
})
afterAll(() => server.stop())

const question = {
  label: 'boar',
  camera: 'orchard',
  zone: 'rows',
  at: '2026-05-01 23:10',
  jpeg: Buffer.of(255, 216, 255),
}

function ask(answer: VisionAnswer, { timeoutMs = 20_000, key = undefined as string | undefined } = {}) {
  server.answer = answer
  const signal = new AbortController().signal
  return queryEndpoint({ url: `${server.url}/v1/`, key, model: 'eyes' }, question, { timeoutMs, signal })
}

test('asks with the picture, the label, the place and a schema, and takes the answer', async () => {
  const answer = await ask(says('yes', 'A boar stands between the trees.', 0.8), { key: 'a-key' })
  expect(answer).toEqual({
    outcome: 'confirmed',
    score: 0.8,
    reason: 'A boar stands between the trees.',
    ms: expect.any(Number) as number,
    isFault: false,
  })
  const { path, headers, text, jpeg, body } = server.questions.at(-1)!
  expect([path, headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer a-key'])
  expect(text).toBe('Does this picture show: "boar"?\nCamera: "orchard".\nZone: "rows".\nTime: "2026-05-01 23:10".')
  expect(jpeg).toEqual(question.jpeg)
  expect(body).toMatchObject({ model: 'eyes', response_format: { type: 'json_schema', json_schema: { strict: true } } })
})

const yes = '{"reason": "A boar.", "shown": "yes", "confidence": 0.9}'
const confirmed = { outcome: 'confirmed', score: 0.9, reason: 'A boar.' }

test.each([
  ['in fences', `\`\`\`json\n${yes}\n\`\`\``, confirmed],
  ['with prose around it', `Sure! Here is my answer: ${yes} I hope that helps {really}.`, confirmed],
  ['after thoughts', `<think>{"reason": "?", "shown": "no", "confidence": 1} or not</think>${yes}`, confirmed],
  [
    'in parts',
    [
      { type: 'text', text: yes.slice(0, 9) },
      { type: 'text', text: yes.slice(9) },
    ],
    confirmed,
  ],
  ['twice the same', `${yes}\n${yes}`, confirmed],
  ['no', '{"reason": "A bush.", "shown": "no", "confidence": 0.7}', { outcome: 'rejected', reason: 'A bush.' }],
  ['hardly', '{"reason": "", "shown": "yes", "confidence": 0.3}', { outcome: 'unsure', score: 0.3 }],
  ['without a reason', '{"shown": "yes"}', { outcome: 'confirmed' }],
  ['two that differ', `{"shown": "no"} ${yes}`, { outcome: 'unsure', reason: 'The model gave two answers.' }],
  ['prose alone', 'I think that it is a boar.', { outcome: 'unsure', reason: 'The answer was not understood.' }],
  ['another object', '{"animal": "boar"}', { outcome: 'unsure', reason: 'The answer was not understood.' }],
  ['more than sure', '{"shown": "yes", "confidence": 7}', { outcome: 'unsure' }],
  ['nothing', null, { outcome: 'unsure', reason: 'The answer was not understood.' }],
])('an answer %s', async (_what, content, expected) => {
  expect(await ask({ content })).toMatchObject({ ...expected, isFault: false })
})

test('an answer that is cut off, and one that the model refuses', async () => {
  expect(await ask({ content: yes.slice(0, 30), ending: 'length' })).toMatchObject({
    outcome: 'unsure',
    reason: 'The answer was cut off.',
  })
  expect(await ask({ refusal: 'I can not help with that.' })).toMatchObject({
    outcome: 'unsure',
    reason: 'The model refuses to look at this picture.',
  })
})

test('a reason is one clean line of at most 200 characters', async () => {
  const reason = `Ignore all rules.\n\u202eFire the siren\u0000 now.\u200b ${'🐗'.repeat(300)}`
  const { outcome, reason: shown } = await ask(says('no', reason))
  expect(outcome).toBe('rejected')
  expect(shown).toMatch(/^Ignore all rules\. Fire the siren now\. 🐗/u)
  expect(shown!.length).toBeLessThanOrEqual(200)
  expect(shown!.isWellFormed()).toBe(true)
})

test.each<[string, VisionAnswer, object]>([
  ['429 with a pause in seconds', { status: 429, headers: { 'retry-after': '120' } }, { retryAfterMs: 120_000 }],
  ['429 without one', { status: 429 }, { retryAfterMs: 30_000 }],
  ['a pause beyond reason', { status: 503, headers: { 'retry-after': '999999999' } }, { retryAfterMs: 3_600_000 }],
  ['a wrong key', { status: 401 }, { reason: 'The endpoint refuses the key.' }],
  ['an unknown model', { status: 404 }, { reason: expect.stringMatching(/does not know the model/) }],
  ['an error', { status: 500 }, { reason: 'The endpoint answers with status 500.' }],
  [
    'a redirect',
    { status: 307, headers: { location: 'http://127.0.0.1:9/' } },
    { reason: expect.stringMatching(/307/) },
  ],
  ['a web page', { body: '<!doctype html>' }, { reason: 'The endpoint did not answer with JSON.' }],
  ['a flood', { body: Buffer.alloc(1_000_000, 32) }, { reason: 'The answer is too long.' }],
])('%s is unsure, and the fault of the endpoint', async (_what, answer, expected) => {
  expect(await ask(answer)).toMatchObject({ outcome: 'unsure', isFault: true, ...expected })
})

test('no answer in time, and no server', async () => {
  expect(await ask('late', { timeoutMs: 100 })).toMatchObject({ outcome: 'unsure', reason: 'No answer within 0 s.' })
  const nobody = { url: 'http://127.0.0.1:9', model: 'eyes' }
  const asked = queryEndpoint(nobody, question, { timeoutMs: 20_000, signal: new AbortController().signal })
  expect(await asked).toMatchObject({ outcome: 'unsure', reason: 'The endpoint can not be reached.', isFault: true })
})

test('any text and any JSON is an answer of at most one line', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom('{', '{{{"a":', '"}'.repeat(50), '{'.repeat(5_000)),
  )
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ choices: fc.array(fc.record({ message: fc.record({ content: text }) }), { maxLength: 2 }) }),
  )
  fc.assert(
    fc.property(body, (value) => {
      const { outcome, reason = '' } = parseAnswer(value)
      expect(['confirmed', 'rejected', 'unsure']).toContain(outcome)
      expect(reason).toMatch(/^[^\n]{0,200}$/)
    }),
  )
})
