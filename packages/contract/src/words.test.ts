import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { calls } from './calls.ts'
import { wordsOfIssue } from './words.ts'

const inZodsWords = z.locales.en().localeError

/** Values that break types, lengths, ranges, forms and choices. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.5,
  1e300,
  Number.NaN,
  '',
  'x',
  'x'.repeat(5_000),
  [],
  ['x'],
  Array.from({ length: 1_000 }, () => ({})),
  {},
  { surplus: 1 },
]

type Shape = { shape: Record<string, z.ZodType> }
const fieldsOf = (schema: z.ZodType): string[] =>
  'shape' in schema ? Object.keys((schema as never as Shape).shape) : []

/** Wrong values for the whole, and a wrong value in each field and in each field of its entries. */
function* wrongFor(schema: z.ZodType): Generator {
  yield* WRONG
  for (const name of fieldsOf(schema))
    for (const value of WRONG) yield* [{ [name]: value }, { [name]: [value] }, { [name]: { [name]: value } }]
}

const requests = Object.entries(calls).flatMap(([name, call]) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = call[part]
    return schema === undefined ? [] : [[`the ${part} of ${name}`, schema] as const]
  }),
)

describe('the errors of a request', () => {
  it.each(requests)('are sentences for %s', (_, schema) => {
    const messages = new Set<string>()
    const faults: object[] = []
    for (const value of wrongFor(schema))
      for (const issue of schema.safeParse(value, { error: wordsOfIssue }).error?.issues ?? []) {
        const { message } = issue
        messages.add(message)
        const raw = { ...issue, input: undefined }
        for (const words of [inZodsWords(raw as never), inZodsWords(issue as never)])
          if (message === (typeof words === 'string' ? words : words?.message)) faults.push({ inZodsWords: issue })
        if (message === '' || /\b(received|undefined|null|NaN|string|array|boolean)\b|something else/.test(message))
          faults.push({ noSentence: issue })
      }
    expect(faults).toEqual([])
    expect(messages.size).toBeGreaterThan(0)
  })

  it.each([
    [z.string(), undefined, 'This field is missing'],
    [z.string(), 5, 'Must be a text'],
    [z.string().max(3), 'abcd', 'At most 3 characters'],
    [z.string().min(1), '', 'Must not be empty'],
    [z.array(z.string()).max(2), ['', '', ''], 'At most 2 entries'],
    [z.number().max(1_000), 1_001, 'Must be at most 1,000'],
    [z.number().min(3), 1, 'Must be at least 3'],
    [z.number(), Number.NaN, 'Must be a number'],
    [z.enum(['user', 'admin']), 'boss', 'Must be user or admin'],
    [z.union([z.literal(''), z.email()]), 'x', 'Enter an email address such as name@example.org'],
    [z.string({ error: 'Enter a name' }), undefined, 'Enter a name'],
  ])('gives the right sentence for case %#', (schema: z.ZodType, value, words) => {
    expect(schema.safeParse(value, { error: wordsOfIssue }).error?.issues[0]?.message).toBe(words)
  })
})
